"""A run resumes with its own settings and software, or says what differs."""

import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gate import first
from processes import metrics_without_clock
from small_runs import GAME, shared_folder

import pairvdn
from pairvdn.cli import main
from pairvdn.config import Config, load_preset
from pairvdn.learning.replay import Replay
from pairvdn.runs import resume, train
from pairvdn.runs.errors import FolderError, Interrupted
from pairvdn.runs.folder import RunFolder
from pairvdn.runs.memory import state_shape
from pairvdn.runs.origin import changed_settings
from pairvdn.runs.saving import newest_sound

EPOCHS, STOPPED = 40, 1
CONFIG = load_preset("climbing/vdn").replace({**GAME, "epochs": EPOCHS})


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was stopped after an epoch. Tests must not change it."""

    def make(folder: Path) -> None:
        with pytest.raises(Interrupted):
            train(CONFIG, folder, on_epoch=lambda _: signal.raise_signal(signal.SIGTERM))

    return shared_folder("stopped", make, tmp_path_factory)


@pytest.fixture
def run(stopped: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stopped, tmp_path / "run"))


def edit(run: Path, pattern: str, new: str) -> None:
    config = run / "config.toml"
    text = config.read_text()
    config.write_text(re.sub(pattern, new, text, count=1, flags=re.MULTILINE))
    assert config.read_text() != text


@pytest.mark.parametrize(
    ("pattern", "new", "says"),
    [
        (r"^learning_rate = .*", "learning_rate = 0.125", "optimiser.learning_rate was"),
        (r"^seed = .*", "seed = 7", "seed was 0 and is 7"),
        (r"^epochs = .*", "epochs = 9", f"epochs was {EPOCHS} and is 9"),
        (r"^replay_capacity = .*", "replay_capacity = 512", "learner.replay_capacity was 256"),
        (r"^replay_capacity = .*", "replay_capacity = 128", "learner.replay_capacity was 256"),
        (r"^hidden_sizes = .*", "hidden_sizes = [5]", "method.hidden_sizes was [4] and is [5]"),
    ],
)
def test_changed_settings_are_named_in_one_line(
    pattern: str, new: str, says: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(run, pattern, new)
    before = sorted(path for path in run.rglob("*") if path.name != "lock")
    assert main(["resume", str(run), "--quiet"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert "--changed" in line
    assert sorted(path for path in run.rglob("*") if path.name != "lock") == before


def test_with_consent_it_goes_on(run: Path) -> None:
    edit(run, r"^learning_rate = .*", "learning_rate = 0.125")
    edit(run, r"^epochs = .*", "epochs = 3")
    said: list[str] = []
    assert resume(run, changed=True, say=said.append)
    (warning,) = [line for line in said if line.startswith("warning")]
    assert "optimiser.learning_rate was" in warning
    assert len(metrics_without_clock(run)) == 3
    said.clear()
    assert resume(run, epochs=4, say=said.append)  # its own settings now
    assert not any("learning_rate" in line for line in said)


def test_settings_that_change_no_result_may_change(run: Path) -> None:
    edit(run, r"^keep = .*", "keep = 1")
    edit(run, r"^epochs = .*", f"epochs = {EPOCHS + 1}")
    with pytest.raises(Interrupted):
        resume(run, on_epoch=lambda _: signal.raise_signal(signal.SIGTERM))


@pytest.mark.parametrize(
    ("package", "refused"), [("pairvdn", True), ("jaxlib", True), ("commit", False)]
)
def test_other_software_is_named(
    package: str, refused: bool, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pairvdn.runs import origin

    other = {**origin.software(), package: "0.0.1"}
    monkeypatch.setattr(origin, "software", lambda: other)
    said: list[str] = []

    def go_on(changed: bool) -> None:
        resume(
            run,
            changed=changed,
            say=said.append,
            on_epoch=lambda _: signal.raise_signal(signal.SIGTERM),
        )

    if refused:
        with pytest.raises(FolderError, match=rf"{package} was .* and is 0\.0\.1"):
            go_on(changed=False)
    with pytest.raises(Interrupted):
        go_on(changed=refused)
    assert any(line.startswith("warning") and f"{package} was" in line for line in said)


def test_a_loaded_run_says_that_its_environment_was_changed(run: Path) -> None:
    edit(run, r"^activation = .*", "activation = 'leaky_relu'")
    with pytest.warns(
        UserWarning, match=r"config\.toml was changed .* method\.activation was relu"
    ):
        pairvdn.load(run)


@pytest.mark.parametrize("filled", first(1, [10, 64]))
def test_a_replay_of_a_larger_capacity_goes_on_behind_its_newest_row(
    filled: int, tmp_path: Path
) -> None:
    """Full or not, every row that counts was written, and the oldest is overwritten first."""
    changes = {"learner.replay_capacity": 64, "learner.random_agent_steps": 1}
    kept = {"checkpoints.keep_replay": True}
    length = {"learner.agent_steps_per_round": 13 if filled == 64 else 2, "epochs": 2}
    small = CONFIG.replace({**changes, **kept, **length})
    train(small, tmp_path / "run")
    large = small.replace({"learner.replay_capacity": 100})
    folder = RunFolder(tmp_path / "run")
    same, more = (
        newest_sound([folder], state_shape(one.build().learner), print).states[0].replay
        for one in (small, large)
    )
    used = int(same.size)
    assert (used == 64) == (filled == 64)
    assert (int(more.size), int(more.position)) == (used, used)
    first = int(same.position) if used == 64 else 0
    for old, new in zip(
        (same.items.reward_t, same.items.actions_tm1),
        (more.items.reward_t, more.items.actions_tm1),
        strict=True,
    ):
        assert len(new) == 100
        assert np.array_equal(new[:used], np.roll(old, -first, axis=0)[:used])


@pytest.mark.parametrize("filled", first(1, [64, 10]))
def test_a_replay_of_a_smaller_capacity_keeps_its_newest_rows(filled: int, tmp_path: Path) -> None:
    changes = {"learner.replay_capacity": 64, "learner.random_agent_steps": 1}
    kept = {"checkpoints.keep_replay": True, "learner.batch_size": 4}
    length = {"learner.agent_steps_per_round": 13 if filled == 64 else 2, "epochs": 2}
    large = CONFIG.replace({**changes, **kept, **length})
    train(large, tmp_path / "run")
    replay = stored_replay(tmp_path / "run", large)
    used, position = int(replay.size), int(replay.position)
    in_order = np.roll(replay.items.actions_tm1[:used], -(position % used), axis=0)
    fewest = large.build().learner.collector.num_items(int(length["learner.agent_steps_per_round"]))
    for capacity in (max(8, fewest), used):
        small = large.replace({"learner.replay_capacity": capacity})
        fewer = stored_replay(tmp_path / "run", small)
        assert (int(fewer.size), int(fewer.position)) == (
            capacity,
            0 if capacity < used else (position % capacity),
        )
        first = int(fewer.position)
        shown = np.roll(fewer.items.actions_tm1, -first, axis=0)
        assert np.array_equal(shown, in_order[used - capacity :])
    edit(tmp_path / "run", r"^replay_capacity = .*", f"replay_capacity = {max(8, fewest)}")
    said: list[str] = []
    assert resume(tmp_path / "run", epochs=3, changed=True, say=said.append)
    assert any("warning" in line and "learner.replay_capacity was 64" in line for line in said)


def stored_replay(run: Path, config: Config) -> Replay[Any]:
    restored = newest_sound([RunFolder(run)], state_shape(config.build().learner), print)
    return restored.states[0].replay


@pytest.mark.parametrize(
    "text", ["[" * 3000, "a" + ".a" * 3000 + " = 1", "epochs = " + "9" * 5000, 5, None, {"a": 1}]
)
def test_a_config_in_a_manifest_that_cannot_be_read_is_ignored(text: object) -> None:
    assert changed_settings({"config": text}, CONFIG, 0) == []


def test_a_config_in_a_manifest_is_only_data() -> None:
    phrases = changed_settings({"config": "[env]\nname = 'antigravity:x'"}, CONFIG, 0)
    assert "env.name was antigravity:x and is climbing" in phrases
    assert "antigravity" not in sys.modules
