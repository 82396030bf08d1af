"""What is left of a run when only what acts is kept."""

from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import pytest
from small_runs import small_run

from pairvdn.runs import load
from pairvdn.runs.analysis.evaluate import Settings, evaluate
from pairvdn.runs.errors import FolderError
from pairvdn.runs.export import export
from pairvdn.runs.folder import is_pretrained, pretrained_names, run_path
from pairvdn.runs.train import resume


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("vdn", tmp_path_factory) / "seed-0"


def test_it_acts_as_the_run_does(run: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    size = export(run, small)
    arrays = [eqx.filter(load(one).value, eqx.is_array) for one in (run, small)]
    jax.tree.map(np.testing.assert_array_equal, *arrays)
    assert load(small).epoch == load(run).epoch
    settings = Settings(episodes=4)
    numbers = [evaluate(one, settings).greedy for one in (run, small)]
    assert numbers[0] == numbers[1]
    assert size == sum(
        file.stat().st_size
        for file in small.rglob("*")
        if file.is_file() and file.parent.name != "evaluations"
    )


def test_only_what_acts_is_kept(run: Path, tmp_path: Path) -> None:
    export(run, tmp_path / "small", "best")
    (checkpoint,) = (tmp_path / "small" / "checkpoints").iterdir()
    assert sorted(file.name for file in checkpoint.iterdir()) == ["learner.npz", "manifest.json"]
    with np.load(checkpoint / "learner.npz") as arrays:
        assert all(name.startswith(".learned.value.") for name in arrays)


def test_a_folder_that_is_taken_is_left_alone(run: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FolderError, match="exists"):
        export(run, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_it_cannot_be_trained_on(run: Path, tmp_path: Path) -> None:
    export(run, tmp_path / "small")
    assert not resume(tmp_path / "small")  # the run was finished


@pytest.mark.parametrize("name", pretrained_names())
def test_every_shipped_team_acts_and_is_small(name: str) -> None:
    folder = run_path(f"pretrained:{name}")
    assert is_pretrained(folder)
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 1_000_000
    loaded = load(f"pretrained:{name}")
    assert loaded.config.env.name == name
    evaluate(f"pretrained:{name}", Settings(episodes=1, max_steps=8))
    assert not (folder / "evaluations").exists()


def test_a_team_that_is_not_there() -> None:
    with pytest.raises(FolderError, match="There is no pretrained:box-jmp; "):
        run_path("pretrained:box-jmp")
