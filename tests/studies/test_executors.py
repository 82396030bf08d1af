"""Cells here and in processes: the same bits, however they are cut into pieces."""

import os
import signal
import uuid
from pathlib import Path

import pytest
from small_studies import cells_of, metrics, ran, states

from pairvdn.config.errors import ConfigError
from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import Interrupted
from pairvdn.runs.folder import locked
from pairvdn.studies import Cell, Event, Executor, Here, Processes, Status
from pairvdn.studies.storage import Folder, Storage, storage

EPOCHS = 300  # some tenths of a second: a signal comes in time
CELLS = cells_of(seeds=2, fields={"epochs": EPOCHS, "evaluation": {"every": 150}})
FIRST, SECOND = (cell.name for cell in CELLS)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cells")
    statuses, _ = ran(CELLS, Folder(folder), Here())
    assert states(statuses) == {FIRST: "finished", SECOND: "finished"}
    return folder


def test_finished_cells_are_skipped(undisturbed: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in undisturbed.rglob("*")}
    statuses, events = ran(CELLS, Folder(undisturbed), Here())
    assert set(states(statuses).values()) == {"finished before"}
    assert len(events) == len(CELLS)
    assert {path: path.stat().st_mtime_ns for path in undisturbed.rglob("*")} == before


def test_processes_give_the_same_bits(undisturbed: Path, tmp_path: Path) -> None:
    statuses, events = ran(CELLS, Folder(tmp_path), Processes(2))
    assert set(states(statuses).values()) == {"finished"}
    assert metrics(tmp_path, CELLS) == metrics(undisturbed, CELLS)
    assert {name for name, event in events if isinstance(event, Report)} == {FIRST, SECOND}


def test_a_failed_cell_does_not_stop_the_others_and_is_tried_again(
    undisturbed: Path, tmp_path: Path
) -> None:
    """A config may be fine in each field and still not fit: that shows when it is built."""
    misfit = Cell("misfit", CELLS[0].config.replace({"learner.batch_size": 10_000}))
    cells = [misfit, CELLS[0]]
    for again in ("finished", "finished before"):
        statuses, _ = ran(cells, Folder(tmp_path), Here())
        assert states(statuses) == {"misfit": "failed", FIRST: again}
        assert "replay_capacity must be at least" in statuses["misfit"].reason
    assert metrics(tmp_path, CELLS[:1])[FIRST] == metrics(undisturbed, CELLS)[FIRST]


def test_what_was_trained_otherwise_is_refused(undisturbed: Path) -> None:
    other = Cell(FIRST, CELLS[0].config.replace({"epochs": EPOCHS + 1}))
    statuses, _ = ran([other, CELLS[1]], Folder(undisturbed), Here())
    assert states(statuses) == {FIRST: "failed", SECOND: "finished before"}
    assert "trained with other settings (epochs)" in statuses[FIRST].reason


def test_checkpoints_are_no_other_settings(undisturbed: Path) -> None:
    other = Cell(FIRST, CELLS[0].config.replace({"checkpoints.keep": 7}))
    assert states(ran([other], Folder(undisturbed), Here())[0]) == {FIRST: "finished before"}


def test_a_cell_that_another_process_trains_is_busy(tmp_path: Path) -> None:
    (tmp_path / FIRST).mkdir(parents=True)
    with locked(tmp_path / FIRST):
        statuses, _ = ran(CELLS[:1], Folder(tmp_path), Here())
    assert states(statuses) == {FIRST: "busy"}
    assert "being trained by process" in statuses[FIRST].reason


@pytest.mark.parametrize("kind", [pytest.param("folder", marks=pytest.mark.slow), "memory"])
def test_the_same_call_resumes_after_control_c(
    kind: str, undisturbed: Path, tmp_path: Path
) -> None:
    place = storage({"folder": str(tmp_path), "memory": f"memory://{uuid.uuid4()}"}[kind])
    _stopped_then_finished(CELLS, place, Here(), undisturbed)


def test_processes_are_asked_to_save(undisturbed: Path, tmp_path: Path) -> None:
    """The storage is a mirror, which the processes keep by themselves."""
    place = storage(f"file://{tmp_path}")
    _stopped_then_finished(CELLS[:1], place, Processes(1), undisturbed)


def _stopped_then_finished(
    cells: list[Cell], place: Storage, executor: Executor, undisturbed: Path
) -> None:
    def stop_early(_: str, event: Event) -> None:
        if isinstance(event, Report) and event.epoch < EPOCHS:
            os.kill(os.getpid(), signal.SIGTERM)

    events: list[tuple[str, Event]] = []
    with pytest.raises(Interrupted) as stopped:
        ran(cells, place, executor, _Once(stop_early, events))
    assert stopped.value.signum == signal.SIGTERM
    assert events[-1] == (FIRST, Status("stopped"))  # and the second one was not started
    statuses, events = ran(cells, place, executor)
    assert set(states(statuses).values()) == {"finished"}
    went_on = [
        (name, event) for name, event in events if str(event).startswith("resuming after epoch")
    ]
    assert [name for name, _ in went_on] == [FIRST]
    assert metrics(place, cells) == metrics(undisturbed, cells)


class _Once:
    """Calls until there was a report, and keeps all events."""

    def __init__(self, call, events: list[tuple[str, Event]]) -> None:
        self._call, self._events, self._called = call, events, False

    def __call__(self, name: str, event: Event) -> None:
        self._events.append((name, event))
        if isinstance(event, Report) and not self._called:
            self._called = True
            self._call(name, event)


@pytest.mark.slow
def test_a_process_that_dies_is_a_failed_cell(undisturbed: Path, tmp_path: Path) -> None:
    """Killed, as the kernel does when memory runs out; the next call resumes."""

    def kill(name: str, event: Event) -> None:
        holder = (tmp_path / name / "lock").read_text()
        os.kill(int(holder.split()[1]), signal.SIGKILL)

    statuses, _ = ran(CELLS[:1], Folder(tmp_path), Processes(1), _Once(kill, []))
    assert statuses[FIRST].state == "failed"
    assert "killed by signal 9" in statuses[FIRST].reason
    statuses, _ = ran(CELLS[:1], Folder(tmp_path), Here())
    assert states(statuses) == {FIRST: "finished"}
    assert metrics(tmp_path, CELLS[:1])[FIRST] == metrics(undisturbed, CELLS)[FIRST]


def test_seeds_side_by_side(tmp_path: Path) -> None:
    cells = cells_of(seeds=2, side_by_side=True)
    assert states(ran(cells, Folder(tmp_path), Here())[0]) == {"climbing/vdn": "finished"}
    assert len(metrics(tmp_path, cells)) == 2
    more = cells_of(seeds=3, side_by_side=True)
    (status,) = ran(more, Folder(tmp_path), Here())[0].values()
    assert status.state == "failed"


def test_the_memory_of_a_process_is_not_for_others() -> None:
    with pytest.raises(ConfigError, match="memory:// is lost"):
        ran(CELLS, storage("memory://x"), Processes(2))
