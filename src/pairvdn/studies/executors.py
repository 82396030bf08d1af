"""Executors run the cells of a study: one after the other here, in processes, or on Ray."""

import abc
import dataclasses
import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.errors import Interrupted, RunError
from pairvdn.studies.cells import Cell, Event, OnEvent, Status
from pairvdn.studies.run_cell import is_finished, run_cell
from pairvdn.studies.storage import Storage

_LOOKUPS_AT_ONCE = 16  # a remote storage answers slowly


class Executor(abc.ABC):
    """Runs cells, in any order and any number at a time; results never depend on it."""

    @abc.abstractmethod
    def run(self, cells: Sequence[Cell], storage: Storage, on_event: OnEvent) -> None:
        """Run all cells and report the final status of each.

        A cell that fails does not stop the others. After a signal, running cells are saved and
        reported as stopped, no other cell is started, and `Interrupted` is raised.
        """


@dataclasses.dataclass(frozen=True)
class Here(Executor):
    """One cell after the other, in this process."""

    def run(self, cells: Sequence[Cell], storage: Storage, on_event: OnEvent) -> None:
        """Run all cells; the run that trains notices a signal."""
        for cell in cells:
            try:
                status = run_cell(cell, storage, functools.partial(on_event, cell.name))
            except Interrupted:
                on_event(cell.name, Status("stopped"))
                raise
            on_event(cell.name, status)


def run_cells(
    cells: Sequence[Cell], storage: Storage, executor: Executor, on_event: OnEvent
) -> dict[str, Status]:
    """Run the cells that are not finished, and return the final status of all.

    The same call resumes cells that were stopped and retries cells that failed.
    """
    statuses: dict[str, Status] = {}

    def note(name: str, event: Event) -> None:
        if isinstance(event, Status):
            statuses[name] = event
        on_event(name, event)

    with ThreadPoolExecutor(_LOOKUPS_AT_ONCE) as threads:
        found = threads.map(functools.partial(_stored_status, storage), cells)
        for cell, status in zip(cells, found, strict=True):
            if status is not None:
                note(cell.name, status)
    left = [cell for cell in cells if cell.name not in statuses]
    if left:
        executor.run(left, storage, note)
    return {cell.name: statuses[cell.name] for cell in cells}


def _stored_status(storage: Storage, cell: Cell) -> Status | None:
    """The status of a cell that needs no training, or None."""
    try:
        return Status("finished before") if is_finished(cell, storage) else None
    except (ConfigError, RunError) as error:
        return Status("failed", one_line(error))
