"""Executors run the cells of a study: one after the other in this process, or in several.

`ray_cluster` has the executor for a Ray cluster.
"""

import abc
import collections
import dataclasses
import functools
import multiprocessing
import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.errors import Interrupted, RunError
from pairvdn.runs.signals import StopRequest, stop_requested
from pairvdn.studies.cells import Cell, Event, OnEvent, Status, is_finished, run_cell
from pairvdn.studies.storage import Storage

_LOOKUPS_AT_ONCE = 16  # a remote storage answers slowly
_POLL = 0.2  # seconds between looks at the stop request
_OUTPUT_LINES = 20  # of a dead process, shown with its failure


class Executor(abc.ABC):
    """Runs cells, in any order and any number at a time; results do not depend on it."""

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
        """Run all cells; the training run notices a signal."""
        for cell in cells:
            try:
                status = run_cell(cell, storage, functools.partial(on_event, cell.name))
            except Interrupted:
                on_event(cell.name, Status("stopped"))
                raise
            on_event(cell.name, status)


@dataclasses.dataclass(frozen=True)
class Processes(Executor):
    """`workers` processes at a time; each cell gets a new one, so that its memory is freed."""

    workers: int

    def run(self, cells: Sequence[Cell], storage: Storage, on_event: OnEvent) -> None:
        """Run all cells."""
        storage.require_shared()
        with (
            tempfile.TemporaryDirectory(prefix="pairvdn-study-") as outputs,
            stop_requested() as stop,
            _Pool(storage, on_event, Path(outputs)) as pool,
        ):
            waiting = collections.deque(cells)
            while (waiting and stop.signum is None) or pool.working:
                while waiting and stop.signum is None and len(pool.working) < self.workers:
                    pool.start(waiting.popleft())
                pool.listen(stop)
        if stop.signum is not None:
            raise Interrupted(stop.signum, "stopped")


@dataclasses.dataclass(frozen=True)
class _Worker:
    cell: Cell
    process: BaseProcess
    output: Path


class _Pool:
    """The running processes, by the pipe on which each reports."""

    def __init__(self, storage: Storage, on_event: OnEvent, outputs: Path) -> None:
        self.working: dict[Connection, _Worker] = {}
        self._storage, self._on_event, self._outputs = storage, on_event, outputs
        self._started = 0
        self._stopping = False

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the remaining processes: after a second signal there are some."""
        for worker in self.working.values():
            worker.process.kill()
            worker.process.join()

    def start(self, cell: Cell) -> None:
        """Run a cell in a new process, spawned because a fork would break the threads of JAX."""
        spawn = multiprocessing.get_context("spawn")
        here, there = spawn.Pipe(duplex=False)
        self._started += 1
        output = self._outputs / f"{self._started}.txt"
        arguments = (there, cell, self._storage, output)
        process = spawn.Process(target=_work, args=arguments, name=cell.name)
        process.start()
        there.close()  # so that the pipe ends with the process
        self.working[here] = _Worker(cell, process, output)

    def listen(self, stop: StopRequest) -> None:
        """Pass on events, and a stop request, for a moment."""
        if stop.signum is not None and not self._stopping:
            self._stopping = True
            for worker in self.working.values():
                worker.process.terminate()
        for pipe in wait(list(self.working), timeout=_POLL):
            assert isinstance(pipe, Connection)
            worker = self.working[pipe]
            try:
                event = pipe.recv()
            except EOFError:
                event = self._status_after_death(worker)
            if isinstance(event, Status) and event.state != "running":
                worker.process.join()
                del self.working[pipe]
            self._on_event(worker.cell.name, event)

    def _status_after_death(self, worker: _Worker) -> Status:
        """The status of a cell whose process ended without reporting one."""
        worker.process.join()
        if self._stopping:
            return Status("stopped")
        output = worker.output.read_text(errors="replace") if worker.output.exists() else ""
        code = worker.process.exitcode or 0
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        last_lines = "\n".join(output.splitlines()[-_OUTPUT_LINES:])
        return Status("failed", f"its process {how}", last_lines)


def _work(pipe: Connection, cell: Cell, storage: Storage, output: Path) -> None:
    """The main function of a worker process."""
    # Ctrl-C at the terminal reaches only the parent, which passes it on once; twice means at once.
    os.setsid()
    with output.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        try:
            pipe.send(run_cell(cell, storage, pipe.send))
        except Interrupted:
            pipe.send(Status("stopped"))
    except BrokenPipeError:
        pass  # the parent is dead; the next call resumes from the last checkpoint


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
        stored = threads.map(functools.partial(_stored_status, storage), cells)
        for cell, status in zip(cells, stored, strict=True):
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
