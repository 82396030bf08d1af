"""A grid here and in processes: the same bits, however it is cut into pieces."""

import os
import signal
import uuid
from pathlib import Path

import pytest
from small_grids import carried_out, cells_of, metrics, states

from pairvdn.config.errors import ConfigError
from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import Interrupted
from pairvdn.studies import Cell, Executor, Here, News, Processes, Standing
from pairvdn.studies.storage import Folder, Storage, storage

EPOCHS = 300  # some tenths of a second: a signal comes in time
CELLS = cells_of(seeds=2, fields={"epochs": EPOCHS, "evaluation": {"every": 150}})
FIRST, SECOND = (cell.name for cell in CELLS)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grid")
    standings, _ = carried_out(CELLS, Folder(folder), Here())
    assert states(standings) == {FIRST: "finished", SECOND: "finished"}
    return folder


def test_finished_cells_are_skipped(undisturbed: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in undisturbed.rglob("*")}
    standings, told = carried_out(CELLS, Folder(undisturbed), Here())
    assert set(states(standings).values()) == {"finished before"}
    assert len(told) == len(CELLS)
    assert {path: path.stat().st_mtime_ns for path in undisturbed.rglob("*")} == before


def test_processes_give_the_same_bits(undisturbed: Path, tmp_path: Path) -> None:
    standings, told = carried_out(CELLS, Folder(tmp_path), Processes(2))
    assert set(states(standings).values()) == {"finished"}
    assert metrics(tmp_path, CELLS) == metrics(undisturbed, CELLS)
    assert {name for name, news in told if isinstance(news, Report)} == {FIRST, SECOND}


def test_a_failed_cell_does_not_stop_the_others_and_is_tried_again(
    undisturbed: Path, tmp_path: Path
) -> None:
    """A config may be fine in each field and still not fit: that shows when it is built."""
    misfit = Cell("misfit", CELLS[0].config.replace({"learner.batch_size": 10_000}))
    cells = [misfit, CELLS[0]]
    for again in ("finished", "finished before"):
        standings, _ = carried_out(cells, Folder(tmp_path), Here())
        assert states(standings) == {"misfit": "failed", FIRST: again}
        assert "replay_capacity must be at least" in standings["misfit"].reason
    assert metrics(tmp_path, CELLS[:1])[FIRST] == metrics(undisturbed, CELLS)[FIRST]


def test_what_was_trained_otherwise_is_refused(undisturbed: Path) -> None:
    other = Cell(FIRST, CELLS[0].config.replace({"epochs": EPOCHS + 1}))
    standings, _ = carried_out([other, CELLS[1]], Folder(undisturbed), Here())
    assert states(standings) == {FIRST: "failed", SECOND: "finished before"}
    assert "trained with other settings" in standings[FIRST].reason


@pytest.mark.parametrize("kind", [pytest.param("folder", marks=pytest.mark.slow), "memory"])
def test_control_c_leaves_what_the_same_call_goes_on_with(
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
    def stop_early(_: str, news: News) -> None:
        if isinstance(news, Report) and news.epoch < EPOCHS:
            os.kill(os.getpid(), signal.SIGTERM)

    told: list[tuple[str, News]] = []
    with pytest.raises(Interrupted) as stopped:
        carried_out(cells, place, executor, _Once(stop_early, told))
    assert stopped.value.signum == signal.SIGTERM
    assert told[-1] == (FIRST, Standing("stopped"))  # and the second one was not started
    standings, told = carried_out(cells, place, executor)
    assert set(states(standings).values()) == {"finished"}
    went_on = [(name, news) for name, news in told if str(news).startswith("resuming after epoch")]
    assert [name for name, _ in went_on] == [FIRST]
    assert metrics(place, cells) == metrics(undisturbed, cells)


class _Once:
    """Calls until there was a report, and notes everything."""

    def __init__(self, call, told: list[tuple[str, News]]) -> None:
        self._call, self._told, self._called = call, told, False

    def __call__(self, name: str, news: News) -> None:
        self._told.append((name, news))
        if isinstance(news, Report) and not self._called:
            self._called = True
            self._call(name, news)


@pytest.mark.slow
def test_a_process_that_dies_is_a_failed_cell(undisturbed: Path, tmp_path: Path) -> None:
    """Killed by its own hand, as the kernel does when memory runs out; the next call goes on."""

    def kill(name: str, news: News) -> None:
        holder = (tmp_path / name / "lock").read_text()
        os.kill(int(holder.split()[1]), signal.SIGKILL)

    standings, _ = carried_out(CELLS[:1], Folder(tmp_path), Processes(1), _Once(kill, []))
    assert standings[FIRST].state == "failed"
    assert "killed by signal 9" in standings[FIRST].reason
    standings, _ = carried_out(CELLS[:1], Folder(tmp_path), Here())
    assert states(standings) == {FIRST: "finished"}
    assert metrics(tmp_path, CELLS[:1])[FIRST] == metrics(undisturbed, CELLS)[FIRST]


def test_seeds_side_by_side(tmp_path: Path) -> None:
    cells = cells_of(seeds=2, side_by_side=True)
    assert states(carried_out(cells, Folder(tmp_path), Here())[0]) == {"climbing/vdn": "finished"}
    assert len(metrics(tmp_path, cells)) == 2
    more = cells_of(seeds=3, side_by_side=True)
    (standing,) = carried_out(more, Folder(tmp_path), Here())[0].values()
    assert standing.state == "failed"


def test_the_memory_of_a_process_is_not_for_others() -> None:
    with pytest.raises(ConfigError, match="memory:// is lost"):
        carried_out(CELLS, storage("memory://x"), Processes(2))
