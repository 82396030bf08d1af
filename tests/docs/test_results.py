"""The experiments can be run as they stand, and the docs' tables are those of the raw data."""

import importlib.util
import json
import shlex
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

RESULTS = Path(__file__).parents[2] / "results"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"results_{name}", RESULTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


# Its scripts find `experiment` beside them, as when they are started.
experiment = sys.modules["experiment"] = script("experiment")
make, tables, figures = script("make"), script("tables"), script("figures")
EXPERIMENTS = experiment.names()


def rows(name: str) -> list[str]:
    """The rows of an experiment; of many methods and tasks every fourth, which has all of both."""
    found = list(experiment.read(name)["rows"])
    return found[:: 4 if "tasks" in experiment.read(name) else 1]


ROWS = [(name, row) for name in EXPERIMENTS for row in rows(name)]


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_every_row_is_a_config(name: str, row: str) -> None:
    config, seeds = make.asked(experiment.read(name), row)
    config.build()
    assert make.command(experiment.read(name), row)[0].startswith(config.env.name)
    assert len(seeds) >= 2


def test_the_tables_of_the_docs_are_those_of_the_data() -> None:
    for page in tables.pages():
        text = page.read_text(encoding="utf-8")
        assert tables.filled(text) == text, f"python results/tables.py; {page} is old"


def test_an_old_table_is_noticed() -> None:
    known = [path.stem for path in RESULTS.glob("*.json") if path.stem in EXPERIMENTS]
    for name in known:
        page = f"before\n<!-- table:{name} -->\nold\n<!-- /table -->\nafter\n"
        assert tables.filled(page) != page
        assert tables.filled(tables.filled(page)) == tables.filled(page)


def test_a_row_is_trained_evaluated_and_written(tmp_path: Path, monkeypatch) -> None:
    small = (
        "climbing/vdn --epochs 1 --seeds 2 --learner.num-envs 4 --learner.rounds-per-epoch 1 "
        "--learner.replay-capacity 256 --learner.batch-size 8 --method.hidden-sizes 4"
    )
    what = {"evaluation": {"episodes": 2}, "rows": {"small": small, "not-yet": small}}
    make.train(what, "small", tmp_path / "runs" / "small")
    make.train(what, "small", tmp_path / "runs" / "small")  # finished: nothing happens
    make.require_as_asked(what, "small", tmp_path / "runs" / "small")
    for flags, key in (("--seeds 3", "seeds"), ("--epochs 2", "epochs"), ("--seed 1", "seed")):
        other = {**what, "rows": {"small": f"{small} {flags}"}}
        with pytest.raises(SystemExit, match=rf"\(.*{key}.*\).*move it away"):
            make.require_as_asked(other, "small", tmp_path / "runs" / "small")
    stopped = tmp_path / "runs" / "not-yet"
    shutil.copytree(tmp_path / "runs" / "small", stopped)
    for config in stopped.rglob("config.toml"):
        config.write_text(config.read_text().replace("epochs = 1\n", "epochs = 2\n"))
    monkeypatch.setattr(experiment, "HERE", tmp_path)
    make.write("made", what, "small", tmp_path / "runs" / "small")
    make.write("made", what, "not-yet", stopped)
    written = (tmp_path / "made.json").read_text()
    make.write("made", what, "small", tmp_path / "no-run-here")
    assert (tmp_path / "made.json").read_text() == written  # nothing is lost
    monkeypatch.setattr(experiment, "FOLDER", tmp_path / "experiments")
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "made.toml").write_text('[columns]\nreturn = "return"\n')
    lines = tables.table("made").splitlines()
    assert [line.split("|")[1].strip() for line in lines] == ["", "---", "random", "`small`"]
    assert shlex.split(small)[0] in (tmp_path / "made.json").read_text()
    costs = tables.table("costs").splitlines()
    assert costs[-1].split("|")[1].strip() == "made: `small`"


def test_tasks_and_methods_make_rows_and_a_table(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "many.toml").write_text(
        'methods = ["a", "b"]\ncolumn = "return"\n'
        '[tasks]\none = "one/METHOD --x 1"\ntwo = "two/METHOD"\n'
        '[rows]\n"two/b" = "two/b --special"\n'
        "[references]\nrule = { two = 7 }\n"
    )
    number = {"mean": 5.0, "low": 4.0, "high": 6.0}
    row = {"return": number, "random": {"return": {**number, "mean": -3.0}}}
    (tmp_path / "many.json").write_text(json.dumps({"rows": {"one/a": row, "two/b": row}}))
    monkeypatch.setattr(experiment, "FOLDER", tmp_path)
    monkeypatch.setattr(experiment, "HERE", tmp_path)
    assert experiment.read("many")["rows"] == {
        "one/a": "one/a --x 1",
        "one/b": "one/b --x 1",
        "two/a": "two/a",
        "two/b": "two/b --special",
    }
    assert tables.table("many").splitlines() == [
        "|  | `one` | `two` |",
        "| --- | --- | --- |",
        "| random | -3.00 [4.00, 6.00] | -3.00 [4.00, 6.00] |",
        "| rule | – | 7 |",
        "| `a` | 5.00 [4.00, 6.00] | – |",
        "| `b` | – | 5.00 [4.00, 6.00] |",
    ]


def test_a_figure_has_a_panel_for_each_group(tmp_path: Path, monkeypatch) -> None:
    number = {"mean": 5.0, "low": 4.0, "high": 6.0, "values": [4.0, 6.0]}
    curve = {"steps": [1, 2], "mean": [4, 5], "low": [3, 4], "high": [5, 6]}
    row = {"return": number, "random": {"return": {**number, "mean": -3.0}}, "curve": curve}
    (tmp_path / "many.toml").write_text(
        '[figure]\npath = "return"\nlabel = "boxes"\ngroups = ["left", "right"]\n'
        '[curves]\nrandom = "return"\nmethods = ["a", "c"]\n'
    )
    rows = {"left/a": row, "right/b": row, "not-asked/c": row}
    (tmp_path / "many.json").write_text(json.dumps({"rows": rows}))
    monkeypatch.setattr(experiment, "FOLDER", tmp_path)
    monkeypatch.setattr(experiment, "HERE", tmp_path)
    monkeypatch.setattr(figures, "FIGURES", tmp_path / "figures")
    bars, curves = (path.read_text(encoding="utf-8") for path in figures.draw("many"))
    assert all(f">{word}<" in bars for word in ("left", "right", "a", "b", "boxes"))
    assert ">not-asked<" not in bars
    assert all(f">{word}<" in curves for word in ("left", "not-asked", "environment steps"))
    assert ">right<" not in curves


def test_every_figure_of_the_docs_is_asked_for() -> None:
    asked = {figure for name in EXPERIMENTS for figure in figures.asked(name)}
    assert {path.stem for path in figures.FIGURES.glob("*")} <= asked
