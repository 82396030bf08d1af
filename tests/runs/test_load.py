"""Loading a run: no learner, no import without consent."""

import shutil
from pathlib import Path

import pytest
from small_runs import small_run

import pairvdn
from pairvdn.cli import main
from pairvdn.config import Config
from pairvdn.runs.folder import RunFolder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("vdn", tmp_path_factory) / "seed-0"


def test_a_value_is_loaded_without_a_learner(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_: Config) -> None:
        raise AssertionError("load must not build a learner")

    monkeypatch.setattr(Config, "build", build)
    for checkpoint in ("last", "best"):
        loaded = pairvdn.load(run, checkpoint)
        assert (loaded.checkpoint, loaded.folder) == (checkpoint, run)


def test_a_best_checkpoint_counts_if_it_is_intact_and_early_enough(
    run: Path, tmp_path: Path
) -> None:
    folder = RunFolder(Path(shutil.copytree(run, tmp_path / "run")))
    epoch = pairvdn.load(run, "best").epoch
    assert folder.has_best()
    assert folder.has_best(epoch)
    assert not folder.has_best(epoch - 1)
    # Killed while a better one was taking its place.
    best = folder.checkpoints / "best"
    best.rename(best.with_name(".old-best"))
    assert folder.has_best()
    assert pairvdn.load(folder.path, "best").epoch == epoch
    (folder.best() / "manifest.json").write_text("{}")
    assert not folder.has_best()
    shutil.rmtree(folder.checkpoints)
    assert not folder.has_best()


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "RUN", "--episodes=1"],
        ["compare", "RUN", "--episodes=1"],
        ["export", "RUN", "small"],
        ["plot", "RUN"],
        ["resume", "RUN"],
        ["watch", "RUN", "--episodes=1", "--out=page.html"],
        ["play", "climbing", "--run=RUN", "--agent=9"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_consent_reaches_the_config(
    arguments: list[str],
    trust: bool,
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`--trust`, and nothing else, lets the config of a folder name classes to import."""
    shutil.copytree(run, tmp_path / "RUN")
    monkeypatch.chdir(tmp_path)
    given = []
    whole = Config.from_toml

    def from_toml(text: str, *, trust: bool = False) -> Config:
        given.append(trust)
        return whole(text, trust=trust)

    monkeypatch.setattr(Config, "from_toml", staticmethod(from_toml))
    code = main([*arguments, *(["--trust"] if trust else [])])
    assert code == (2 if arguments[0] == "play" else 0)  # there is no agent 9
    assert set(given) == {trust}
