"""Comparing and plotting the runs of a study: every run is in a row that says what it is."""

from pathlib import Path

import pytest
from small_runs import shared_folder
from small_studies import small_study

from pairvdn.cli import main
from pairvdn.runs.analysis.compare import compare, grouped, runs_below
from pairvdn.runs.analysis.evaluate import Settings
from pairvdn.runs.errors import FolderError
from pairvdn.studies import Here
from pairvdn.studies.results import ResultsFile, run_study
from pairvdn.studies.storage import Folder

ROWS = {
    ("climbing", f"{method} (optimiser.learning_rate={rate})")
    for method in ("vdn", "iql")
    for rate in (0.001, 0.002)
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two learning rates, two methods, two seeds. Tests must not change it."""

    def make(folder: Path) -> None:
        study = small_study(
            methods=["vdn", "iql"],
            seeds=2,
            vary={"optimiser.learning_rate": [0.001, 0.002]},
            fields={"epochs": 2},
        )
        storage = Folder(folder)
        results = ResultsFile(storage, "results.json")
        statuses = run_study(study, study.rows.values(), storage, results, Here(), lambda *_: None)
        assert {one.state for one in statuses.values()} == {"finished"}

    return shared_folder("varied", make, tmp_path_factory)


def test_every_run_is_in_a_row_named_by_what_differs(study: Path) -> None:
    runs = sorted(path.parent for path in study.glob("climbing/*/*/seed-*/config.toml"))
    assert len(runs) == 8
    groups = grouped(runs)
    assert set(groups) == ROWS
    assert sorted(run for group in groups.values() for run in group) == runs


def test_the_folder_of_a_study_stands_for_its_runs(study: Path) -> None:
    assert len(runs_below(study)) == 4  # folders of two seeds
    comparison = compare([study], Settings(episodes=2))
    assert {(row.task, row.method) for row in comparison.rows} == ROWS
    assert [row.seeds for row in comparison.rows] == [2, 2, 2, 2]
    assert not list(study.rglob("replay.npz"))  # finished rows are small


def test_the_commands_take_it(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(study), "--episodes=2"]) == 0
    shown = capsys.readouterr().out
    assert all(method in shown for _, method in ROWS)
    assert main(["plot", str(study), "--out", str(tmp_path / "curves")]) == 0
    text = (tmp_path / "curves.svg").read_text()
    assert text.count("optimiser.learning_rate=0.001") >= 2


def test_no_run_below_a_folder_vanishes(tmp_path: Path) -> None:
    for name in ("a/seed-0", "b", "tune/a/trial-0", "tune/own"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.toml").touch()
    (tmp_path / "notes").mkdir()
    (tmp_path / "lost" / "checkpoints").mkdir(parents=True)
    found = [run.relative_to(tmp_path).as_posix() for run in runs_below(tmp_path)]
    assert found == ["a/seed-0", "b", "lost", "tune/own"]  # trials are not results
    with pytest.raises(FolderError, match=r"lost is not a run folder: it has no config\.toml"):
        grouped([tmp_path / "lost"])
    (tmp_path / "link").symlink_to(tmp_path / "b")
    with pytest.raises(FolderError, match="link is a symbolic link: name what it points to"):
        runs_below(tmp_path)


def test_a_folder_without_runs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    for command in ("compare", "plot"):
        assert main([command, str(tmp_path / "empty")]) == 2
        assert "is not a run folder" in capsys.readouterr().err
