"""The paper's table, with settings so small that all of it runs here."""

import csv
import dataclasses
import functools
import json
import os
import signal
from pathlib import Path

import pytest
from reproduce_tiny import TINY
from small_runs import shared_folder

from pairvdn.runs.errors import Interrupted, RunError
from pairvdn.runs.folder import read_metrics
from pairvdn.studies.reproduce import (
    EXTENSIONS,
    FULL,
    PAPER_METHODS,
    QUICK,
    TASKS,
    available,
    config_for,
    ensure_trained,
    papers_numbers,
    table1,
)


def quiet(_: object) -> None:
    """Say nothing."""


def press_control_c(_: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(folder: Path) -> None:
        folder.mkdir()
        table1(folder, TINY, on_epoch=quiet, say=quiet)

    return shared_folder("reproduction", make, tmp_path_factory)


def test_every_cell_is_there_beside_the_papers(out: Path) -> None:
    cells = json.loads((out / "table1.json").read_text())["cells"]
    methods = ("random", *TINY.methods)
    assert [(cell["method"], cell["rotation"], cell["steps"]) for cell in cells] == [
        (method, rotation, steps)
        for rotation in ("rotation", "no-rotation")
        for method in methods
        for steps in (8, 16)
    ]
    trained = [cell for cell in cells if cell["method"] != "random"]
    assert {len(cell["ours"]["values"]) for cell in trained} == {TINY.seeds}
    assert {cell["interval_over"] for cell in trained} == {"seeds"}


def test_the_texts_hold_the_numbers_and_say_that_it_is_not_the_real_thing(out: Path) -> None:
    markdown = (out / "table1.md").read_text()
    assert TINY.note in markdown
    rows = list(csv.DictReader((out / "table1.csv").read_text().splitlines()))
    for row in rows:
        assert f"{float(row['mean']):.3f}" in markdown
    assert len(rows) == 8


def test_what_is_finished_is_not_trained_again(out: Path) -> None:
    said: list[str] = []
    before = (out / "table1.json").read_text()
    files = {path: path.stat().st_mtime_ns for path in out.rglob("metrics.jsonl")}
    table1(out, TINY, on_epoch=quiet, say=said.append)
    assert (out / "table1.json").read_text() == before
    assert {path: path.stat().st_mtime_ns for path in out.rglob("metrics.jsonl")} == files
    assert len(said) == 2
    assert all(message.startswith("finished before") for message in said)


def test_other_settings_are_not_mixed_into_the_same_folder(out: Path) -> None:
    more = dataclasses.replace(TINY, seeds=TINY.seeds + 1)
    with pytest.raises(RunError, match="other settings or another number of seeds"):
        ensure_trained(out, "box-jump-16-rotation", "vdn", more, on_epoch=quiet, say=quiet)


@pytest.mark.slow
def test_what_was_stopped_goes_on(out: Path, tmp_path: Path) -> None:
    task, said = "box-jump-16-no-rotation", []
    train = functools.partial(ensure_trained, tmp_path, task, "vdn", TINY, say=said.append)
    with pytest.raises(Interrupted, match="after epoch 1 of 2"):
        train(on_epoch=press_control_c)
    said.clear()
    folder = train(on_epoch=quiet)
    assert said[0].startswith("going on")
    for seed in ("seed-0", "seed-1"):
        whole = out / "runs" / task / "vdn" / seed
        lines = [read_metrics(path) for path in (folder / seed, whole)]
        assert lines[0][-1]["evaluation"] == lines[1][-1]["evaluation"]


def test_the_papers_numbers() -> None:
    table = papers_numbers()["table1"]
    assert set(table) == {"random", *PAPER_METHODS}
    assert table["pairvdn"]["no-rotation"]["1000"] == [1.294, 0.032]
    for method in table.values():
        for by_steps in method.values():
            assert set(by_steps) == {"400", "1000"}


@pytest.mark.parametrize("method", [*PAPER_METHODS, *EXTENSIONS])
@pytest.mark.parametrize("scale", [FULL, QUICK], ids=["full", "quick"])
def test_every_run_of_the_table_can_be_built(method: str, scale: object) -> None:
    for task in ("box-jump-16-rotation", "box-jump-16-no-rotation"):
        config = config_for(task, method, scale)
        assert config.env.arguments["preset"] == "table1"
        assert config.env.arguments.get("fixed_rotation", False) == ("no-rotation" in task)
        assert config.learner.name == "paper"


def test_the_full_scale_is_the_papers() -> None:
    config = config_for("box-jump-16-rotation", "pairvdn", FULL)
    assert config.epochs == 100
    assert config.optimiser.arguments["learning_rate"] == 1e-4
    assert config.learner.arguments["batch_size"] == 32
    assert (FULL.note, FULL.episodes, FULL.long_steps) == ("", 20, 1000)
    assert "QUICK" in QUICK.note


def test_tasks_without_an_environment_are_left_out() -> None:
    assert available("box-jump-8-rotation", "vdn")
    assert not available("box-jump-8-rotation", "nothing")
    assert set(papers_numbers()["curves"]) <= set(TASKS)
