"""A study is trained, evaluated and written down row by row; nothing is mixed or lost."""

import json
import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from small_studies import small_study, states

from pairvdn.runs import run_folders
from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import FolderError, Interrupted
from pairvdn.studies import Event, Here, Processes, ResultsFile, Status, Study, run_study, storage
from pairvdn.studies.storage import Folder

CHANGES: dict[str, Any] = {
    "methods": ["vdn", "iql"],
    "seeds": 2,
    "side_by_side": True,
    "evaluation": {"episodes": 3},
}
STUDY = small_study(**CHANGES)


def run(
    study: Study,
    out: Path | str,
    executor: Any = None,
    also: Any = None,
    only: tuple[str, ...] = (),
) -> tuple[dict[str, Status], dict[str, Any]]:
    """The final status of every cell, and the results file."""
    place = storage(str(out))
    results = ResultsFile(place, "results.json")

    def on_event(name: str, event: Event) -> None:
        if also is not None:
            also(name, event)

    statuses = run_study(study, study.only(only), place, results, executor or Here(), on_event)
    return statuses, results.read()


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    run(STUDY, folder)
    return folder


def without_clock(results: dict[str, Any]) -> dict[str, Any]:
    rows = json.loads(json.dumps(results["rows"]))
    for row in rows.values():
        del row["cost"]["seconds"]
    return rows


def test_a_row_has_command_versions_values_curve_and_cost(out: Path) -> None:
    results = ResultsFile(Folder(out), "results.json").read()
    assert list(results["rows"]) == ["climbing/vdn", "climbing/iql"]
    assert results["evaluation"]["episodes"] == 3
    assert "changed" not in results
    row = results["rows"]["climbing/vdn"]
    assert row["command"].startswith("pairvdn train climbing/vdn --epochs 4")
    assert row["command"].endswith("--seeds 2")
    assert row["versions"]["jax"]
    assert (row["seeds"], row["diverged"], row["epochs"]) == (2, 0, [4, 4])
    assert len(row["return"]["values"]) == 2
    assert "values" not in row["random"]["return"]
    assert len(row["curve"]["steps"]) == len(row["curve"]["mean"]) == 2
    assert row["cost"]["updates"] == 2 * 4 * 2


def test_a_second_call_changes_nothing(out: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    statuses, _ = run(STUDY, out)
    assert set(states(statuses).values()) == {"finished before"}
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()} == before


def test_results_that_were_lost_are_written_again(out: Path) -> None:
    file = out / "results.json"
    before = file.read_text()
    file.unlink()
    run(STUDY, out)
    assert file.read_text() == before


def test_runs_of_other_settings_are_refused(out: Path) -> None:
    before = (out / "results.json").read_text()
    longer = small_study(**CHANGES, fields={"epochs": 5})
    statuses, _ = run(longer, out)
    assert set(states(statuses).values()) == {"failed"}
    assert "other settings (epochs)" in statuses["climbing/vdn"].reason
    statuses, _ = run(small_study(**(CHANGES | {"seeds": 3})), out)
    assert "other settings (seeds)" in statuses["climbing/vdn"].reason
    assert (out / "results.json").read_text() == before


def test_results_of_other_settings_are_refused(out: Path) -> None:
    with pytest.raises(FolderError, match="results of other settings"):
        run(small_study(**(CHANGES | {"evaluation": {"episodes": 4}})), out)
    with pytest.raises(FolderError, match="results of other settings"):
        run(STUDY.with_changes({"learner.batch_size": 16}), out)


def test_only_some_rows_and_then_the_others(out: Path, tmp_path: Path) -> None:
    _, first = run(STUDY, tmp_path, only=("climbing/iql",))
    assert list(first["rows"]) == ["climbing/iql"]
    _, both = run(STUDY, tmp_path)
    assert list(both["rows"]) == ["climbing/vdn", "climbing/iql"]
    whole = ResultsFile(Folder(out), "results.json").read()
    assert without_clock(both) == without_clock(whole)


def test_a_row_is_written_as_soon_as_it_is_done_and_a_stopped_one_resumes(
    out: Path, tmp_path: Path
) -> None:
    written: list[list[str]] = []

    def stop_in_the_second_row(name: str, event: Event) -> None:
        if name == "climbing/iql" and isinstance(event, Report) and event.epoch < 4:
            written.append(list(ResultsFile(Folder(tmp_path), "results.json").rows()))
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted):
        run(STUDY, tmp_path, also=stop_in_the_second_row)
    assert written[0] == ["climbing/vdn"]
    statuses, results = run(STUDY, tmp_path)
    assert states(statuses) == {"climbing/vdn": "finished before", "climbing/iql": "finished"}
    whole = ResultsFile(Folder(out), "results.json").read()
    assert without_clock(results) == without_clock(whole)


def test_separate_seeds_in_processes_and_elsewhere(tmp_path: Path) -> None:
    """Runs of one seed make a row as well, here, in processes and in a mirror."""
    study = small_study(seeds=[3, 5], evaluation={"episodes": 3})
    _, here = run(study, tmp_path / "here")
    _, processes = run(study, tmp_path / "processes", Processes(2))
    _, mirror = run(study, f"file://{tmp_path}/mirror")
    assert without_clock(here) == without_clock(processes) == without_clock(mirror)
    row = here["rows"]["climbing/vdn"]
    assert row["command"].endswith("--seed 5")
    assert row["command"].count("pairvdn train climbing/vdn") == 2
    folder = tmp_path / "here" / "climbing" / "vdn"
    assert [run.name for run in run_folders(folder)] == ["seed-3", "seed-5"]


def test_a_failed_row_has_no_results_and_stops_no_other(tmp_path: Path) -> None:
    study = small_study(vary={"learner.batch_size": [10_000, 8]}, evaluation={"episodes": 2})
    statuses, results = run(study, tmp_path)
    assert sorted(states(statuses).values()) == ["failed", "finished"]
    assert list(results["rows"]) == ["climbing/vdn/learner.batch_size=8"]


def add_rows(folder: str, names: list[str]) -> None:
    study = small_study(tasks=["climbing", "wall"], methods=["vdn", "iql", "pairvdn"])
    for name in names:
        ResultsFile(Folder(Path(folder)), "results.json").add(study, name, {"seeds": 1})


def test_processes_that_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    study = small_study(tasks=["climbing", "wall"], methods=["vdn", "iql", "pairvdn"])
    names = list(study.rows)
    spawn = multiprocessing.get_context("spawn")
    processes = [
        spawn.Process(target=add_rows, args=(str(tmp_path), names[first::2])) for first in (0, 1)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert list(ResultsFile(Folder(tmp_path), "results.json").rows()) == names


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(FolderError, match=r"results\.json cannot be used"):
        ResultsFile(Folder(tmp_path), "results.json").rows()
