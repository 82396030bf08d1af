"""Shipped studies can be run as they stand, and the docs' tables are those of the raw data."""

import json
from pathlib import Path

import pytest
from docs_pages import ROOT

from pairvdn.cli import main
from pairvdn.studies import fill, read_study, read_summary, shipped_names
from pairvdn.studies.study import Study

RESULTS = ROOT / "results"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
STUDIES = [name for name in shipped_names() if read_summary(name) is None]


def rows_of(study: Study) -> list[str]:
    """Rows to build; of many methods and tasks every fourth, which has all of both."""
    return list(study.rows)[:: 4 if study.column else 1]


@pytest.mark.parametrize("name", STUDIES)
def test_every_row_can_be_built(name: str) -> None:
    study = read_study(name)
    assert study.about
    for row in rows_of(study):
        study.rows[row].config().build()


@pytest.mark.parametrize("name", STUDIES)
def test_the_runs_of_a_shipped_study_are_listed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "run", name, "--dry-run"]) == 0
    study = read_study(name)
    cells = sum(len(row.cells()) for row in study.rows.values())
    trials = len(study.rows) * len(study.tune.trials()) if study.tune else 0
    runs = cells + trials
    assert f"{runs} run{'s' * (runs > 1)}, into " in capsys.readouterr().out


def test_the_full_table_is_the_papers() -> None:
    study = read_study("paper-table")
    config = study.rows["rotation/pairvdn"].config()
    assert (config.epochs, config.learner.name) == (100, "paper")
    assert config.optimiser.arguments["learning_rate"] == 1e-4
    assert config.learner.arguments["batch_size"] == 32
    for row in study.rows.values():
        arguments = row.config().env.arguments
        assert arguments["variant"] == "table1"
        assert arguments.get("fixed_rotation", False) == (row.group == "no-rotation")


@pytest.mark.parametrize("file", sorted(RESULTS.glob("*.json")), ids=lambda file: file.stem)
def test_raw_results_are_those_of_rows_of_their_study(file: Path) -> None:
    if file.stem not in STUDIES:  # measured by a benchmark
        return
    study, results = read_study(file.stem), json.loads(file.read_text())
    assert set(results["rows"]) <= set(study.rows)
    for name, row in results["rows"].items():
        assert len(study.rows[name].seeds) == row["seeds"]
        # The values of a single seed are those of its episodes.
        values = row["seeds"] if row["seeds"] > 1 else results["evaluation"]["episodes"]
        assert len(row["return"]["values"]) == values


def results_of(name: str) -> dict[str, object]:
    rows: dict[str, object] = json.loads((RESULTS / f"{name}.json").read_text())["rows"]
    return rows


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_tables_of_the_docs_are_those_of_the_data(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert fill(text, results_of) == text, "the tables are old: make tables"


def test_every_figure_of_the_docs_is_asked_for() -> None:
    known = {f"{name}-{figure}" for name in STUDIES for figure in read_study(name).figures}
    assert {path.stem for path in (ROOT / "docs/results/figures").glob("*")} <= known
