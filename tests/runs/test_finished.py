"""A finished run keeps its learner and not its replay; it can be extended."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from gate import first
from processes import arrays, assert_same_end, metrics_without_clock
from small_runs import BOXES, GAME, shared_folder

import pairvdn
from pairvdn.cli import main
from pairvdn.config import Config, load_preset
from pairvdn.runs import read_config, resume, run_folders, train
from pairvdn.runs.errors import Interrupted
from pairvdn.runs.folder import RunFolder
from pairvdn.runs.memory import state_shape
from pairvdn.runs.origin import spans_the_run
from pairvdn.runs.refill import acting_only, refill, rows_after
from pairvdn.runs.saving import newest_sound
from pairvdn.runs.training import make_training

SHORT, LONG = 3, 6
CONFIG = load_preset("climbing/vdn").replace(
    {
        **GAME,
        "evaluation.every": 3,
        "checkpoints.seconds": 0,
        "exploration.name": "spread",
        "optimiser.decay_to": 1.0,
        "epochs": SHORT,
    }
)
KEPT = CONFIG.replace({"checkpoints.keep_replay": True})


def replays(run: Path) -> list[str]:
    return sorted(path.parent.name for path in run.rglob("replay.npz"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tests must not change it."""
    return shared_folder("finished", lambda folder: train(CONFIG, folder), tmp_path_factory)


def test_a_finished_run_is_small_and_complete(finished: Path, tmp_path: Path) -> None:
    assert replays(finished) == []
    with np.load(finished / "checkpoints" / f"epoch-{SHORT:06d}" / "learner.npz") as stored:
        names = set(stored)
    assert any(name.startswith(".learned.optimiser") for name in names)
    assert any(name.startswith(".collecting") for name in names)
    with np.load(finished / "checkpoints" / "best" / "learner.npz") as stored:
        assert all(name.startswith(".learned.value") for name in stored)
    copy = Path(shutil.copytree(finished, tmp_path / "copy"))
    assert not resume(copy)
    assert pairvdn.load(copy).epoch == SHORT
    assert main(["evaluate", str(copy), "--episodes=2"]) == 0


def test_a_run_in_training_has_two_replays_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pairvdn.runs import checkpoint

    seen, write = [], checkpoint.write

    def counting(folder: Path, *arguments, **others) -> None:
        seen.append(len(replays(folder.parent)))
        write(folder, *arguments, **others)
        seen.append(len(replays(folder.parent)))

    monkeypatch.setattr("pairvdn.runs.saving.LEAST_REST", 0)
    monkeypatch.setattr(checkpoint, "write", counting)
    train(CONFIG.replace({"epochs": LONG}), tmp_path / "run")
    assert max(seen) == 2
    assert replays(tmp_path / "run") == []


@pytest.mark.parametrize("seeds", first(1, [None, 2]))
def test_extended_with_its_replay_it_is_the_longer_run(seeds: int | None, tmp_path: Path) -> None:
    long, short = tmp_path / "long", tmp_path / "short"
    train(KEPT.replace({"epochs": LONG}), long, num_seeds=seeds)
    train(KEPT, short, num_seeds=seeds)
    said: list[str] = []
    assert resume(short, epochs=LONG, say=said.append)
    assert not any(line.startswith("warning") for line in said)
    for run, other in zip(run_folders(short), run_folders(long), strict=True):
        assert read_config(run) == read_config(other)
        assert_same_end(run, other, LONG)
    assert read_config(short).epochs == LONG


@pytest.mark.parametrize("seeds", first(1, [2, None]))
def test_extended_without_its_replay_it_acts_to_refill_it(
    seeds: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    train(CONFIG, run, num_seeds=seeds)
    before = [metrics_without_clock(one) for one in run_folders(run)]
    assert main(["resume", str(run), "--epochs", str(LONG), "--quiet"]) == 0
    (warning,) = capsys.readouterr().err.splitlines()
    assert "refilling it" in warning
    assert "not bit for bit" in warning
    for one, earlier in zip(run_folders(run), before, strict=True):
        lines = metrics_without_clock(one)
        assert lines[:SHORT] == earlier
        assert [line["epoch"] for line in lines] == list(range(1, LONG + 1))
        assert lines[-1]["updates"] == lines[SHORT - 1]["updates"] * LONG // SHORT
        # The steps that refilled the replay count.
        usual = lines[-1]["env_steps"] - lines[-2]["env_steps"]
        assert lines[SHORT]["env_steps"] - lines[SHORT - 1]["env_steps"] > usual
        assert pairvdn.load(one).epoch == LONG
        assert replays(one) == []
    assert main(["resume", str(run), "--epochs", str(LONG)]) == 0
    assert "already" in capsys.readouterr().out
    assert main(["resume", str(run), "--epochs", str(SHORT)]) == 2
    assert f"--epochs must be at least {LONG}" in capsys.readouterr().err


def test_an_extension_that_is_stopped_resumes_like_any_run(finished: Path, tmp_path: Path) -> None:
    import signal

    run = Path(shutil.copytree(finished, tmp_path / "run"))
    with pytest.raises(Interrupted, match=f"stopped after epoch {SHORT + 1} of {LONG}"):
        resume(run, epochs=LONG, on_epoch=lambda _: signal.raise_signal(signal.SIGTERM))
    assert replays(run) == [f"epoch-{SHORT + 1:06d}"]
    said: list[str] = []
    assert resume(run, say=said.append)
    assert not any("refilling" in line for line in said)
    assert len(metrics_without_clock(run)) == LONG


def test_an_extension_that_died_before_its_first_checkpoint_begins_again(
    finished: Path, tmp_path: Path
) -> None:
    run = RunFolder(Path(shutil.copytree(finished, tmp_path / "run")))
    run.write_config(CONFIG.replace({"epochs": LONG}))
    assert resume(run.path)
    assert len(metrics_without_clock(run.path)) == LONG


def test_schedules_over_the_whole_run_are_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    config = KEPT.replace({"exploration.name": "linear", "optimiser.decay_to": 0.5})
    train(config, run)
    said: list[str] = []
    resume(run, epochs=LONG, say=said.append)
    (warning,) = [line for line in said if line.startswith("warning")]
    assert f"exploration and the learning rate spanned {SHORT} epochs and spans {LONG}" in warning


@pytest.mark.parametrize(("epochs", "spans"), [("none", True), (0.5, True), (2, False)])
def test_a_share_of_the_run_depends_on_its_length_too(epochs: object, spans: bool) -> None:
    config = CONFIG.replace({"exploration.name": "linear", "exploration.epochs": epochs})
    assert spans_the_run(config) == (["exploration"] if spans else [])


def test_refilling_acts_and_learns_nothing(finished: Path) -> None:
    config = read_config(finished)
    built = config.build()
    learner = built.learner
    training = make_training(
        config, type(built)(built.env, built.make_value, acting_only(learner)), config.seed
    )
    (saved,) = newest_sound([RunFolder(finished)], state_shape(learner), print).states
    rows = rows_after(learner, SHORT)
    assert rows == 4 * (2 + SHORT * learner.agent_steps_per_round)
    assert int(saved.replay.size) == 0
    state = refill(training, training.join([saved]), rows)
    assert int(state.replay.size) >= rows
    assert int(state.epoch) == SHORT
    before, after = arrays_of(saved.learned), arrays_of(state.learned)
    assert before == after


def arrays_of(tree: object) -> list[bytes]:
    import jax

    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


def test_a_run_that_diverged_has_ended(tmp_path: Path) -> None:
    config = CONFIG.replace({"optimiser.name": "sgd", "optimiser.learning_rate": 1e6})
    for command in (lambda: train(config, tmp_path / "run"), lambda: resume(tmp_path / "run")):
        with pytest.raises(pairvdn.learning.Diverged):
            command()
        assert replays(tmp_path / "run") == []


def test_leftovers_of_a_death_at_the_end_go(finished: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    (run / "checkpoints" / f"epoch-{SHORT:06d}" / "replay.npz").write_bytes(b"large")
    assert not resume(run)
    assert replays(run) == []


def test_the_demo_ends_below_20_megabytes() -> None:
    """The state of the demo without its replay, as it is saved up to four times."""
    from pairvdn.cli.demo import PRESET

    config = load_preset(PRESET)
    state = state_shape(config.build().learner)
    sizes = {
        name: sum(int(np.prod(leaf.shape)) * leaf.dtype.itemsize for leaf in leaves_of(part))
        for name, part in (("whole", state), ("replay", state.replay))
    }
    copies = config.checkpoints.keep + 1
    assert copies * (sizes["whole"] - sizes["replay"]) < 15_000_000 < sizes["replay"]


def leaves_of(tree: object) -> list:
    import jax

    return jax.tree.leaves(tree)


@pytest.mark.slow
def test_boxes_extend_too(tmp_path: Path) -> None:
    """Physics, several agent steps pending, another schedule of resets."""
    config: Config = load_preset("box-jump/pairvdn-sorted").replace(BOXES)
    train(config, tmp_path / "run")
    assert resume(tmp_path / "run", epochs=3)
    assert arrays(tmp_path / "run", "epoch-000003")
