"""Folders of studies from strangers: nothing is imported, and every error is one line."""

import json
import sys
from pathlib import Path

import pytest
from small_studies import cells_of, small_study

from pairvdn.runs.errors import FolderError
from pairvdn.runs.folder import RunFolder, seeds_text
from pairvdn.studies import ResultsFile, read_tuned
from pairvdn.studies.cells import is_finished
from pairvdn.studies.storage import Folder
from pairvdn.studies.tuning import _protocol


def test_the_configs_of_seeds_side_by_side_are_compared(tmp_path: Path) -> None:
    """Evaluating imports what they name, since the user trusts the study."""
    (cell,) = cells_of(seeds=2, side_by_side=True)
    folder = RunFolder(tmp_path / cell.name)
    for run, seed in zip(cell.runs(), (0, 1), strict=True):
        RunFolder(tmp_path / run).create(cell.config.replace({"seed": seed}))
    folder.write_config(cell.config)
    (folder.path / "seeds.json").write_text(seeds_text([0, 1]))
    assert not is_finished(cell, Folder(tmp_path))
    config = tmp_path / cell.runs()[1] / "config.toml"
    config.write_text(config.read_text().replace('"climbing"', '"antigravity:x"'))
    with pytest.raises(FolderError, match=r"seed-1 was trained with other settings \(env\)"):
        is_finished(cell, Folder(tmp_path))
    assert "antigravity" not in sys.modules


SEARCHED = small_study(tune={"space": {"learner.n_step": [1, 3]}})
TRIAL = {"name": "x", "fields": {"learner.n_step": 3}, "values": [1.0], "epochs": 1}


@pytest.mark.parametrize(
    "changes",
    [
        {"trials": [TRIAL | {"fields": {"method.name": "antigravity:x"}}]},
        {"trials": [TRIAL, TRIAL | {"fields": {"learner.n_step": 2}}]},
        {"trials": [TRIAL | {"fields": 5}]},
        {"trials": [TRIAL | {"other": 5}]},
        {"trials": []},
        {"trials": None},
        {"protocol": [1]},
        {"cost": None, "trials": 5},
    ],
)
def test_a_ranking_has_the_trials_of_the_study(changes: dict, tmp_path: Path) -> None:
    row, search = SEARCHED.rows["climbing/vdn"], SEARCHED.tune
    assert search is not None
    file = tmp_path / "tune" / row.name / "tune.json"
    file.parent.mkdir(parents=True)
    record = {"protocol": _protocol(row, search), "trials": [TRIAL], "cost": {}}
    file.write_text(json.dumps(record))
    assert read_tuned(row, search, Folder(tmp_path)) is not None
    file.write_text(json.dumps(record | changes))
    with pytest.raises(FolderError, match=r"tune\.json cannot be used"):
        read_tuned(row, search, Folder(tmp_path))
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("text", ["5", "[]", '{"rows": 5}', '{"rows": {"a": 5}}', "[" * 9999])
def test_results_of_anything_are_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(FolderError, match=r"results\.json cannot be used"):
        ResultsFile(Folder(tmp_path), "results.json").read()


@pytest.mark.parametrize("evaluation", [None, 5, {"episode": 3}, {"episodes": "x"}])
def test_results_of_another_evaluation_are_refused(evaluation: object, tmp_path: Path) -> None:
    stored = {"rows": {"climbing/vdn": {}}, "evaluation": evaluation}
    (tmp_path / "results.json").write_text(json.dumps(stored))
    with pytest.raises(FolderError, match=r"other settings \(evaluation\)"):
        ResultsFile(Folder(tmp_path), "results.json").require_same_settings(small_study())
