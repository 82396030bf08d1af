"""Cells in processes of their own on this machine."""

import collections
import dataclasses
import multiprocessing
import os
import tempfile
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from pairvdn.runs.errors import Interrupted
from pairvdn.runs.signals import StopRequest, stop_requested
from pairvdn.studies.cells import Cell, OnEvent, Status
from pairvdn.studies.executors import Executor
from pairvdn.studies.run_cell import run_cell
from pairvdn.studies.storage import Storage

_POLL = 0.2  # seconds between looks at the stop request
_OUTPUT_LINES = 20  # of a dead process, shown with its failure


@dataclasses.dataclass(frozen=True)
class Processes(Executor):
    """`workers` processes at a time, a new one for each cell so that its memory is freed."""

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
    """The running processes, by the pipe through which each of them reports."""

    def __init__(self, storage: Storage, on_event: OnEvent, outputs: Path) -> None:
        self.working: dict[Connection, _Worker] = {}
        self._storage, self._on_event, self._outputs = storage, on_event, outputs
        self._started = 0
        self._stopping = False

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the processes that are left; there are some only after a second signal."""
        for worker in self.working.values():
            worker.process.kill()
            worker.process.join()

    def start(self, cell: Cell) -> None:
        """Run a cell in a new process. JAX has threads, so the process must not be forked."""
        spawn = multiprocessing.get_context("spawn")
        here, there = spawn.Pipe(duplex=False)
        self._started += 1
        output = self._outputs / f"{self._started}.txt"
        arguments = (there, cell, self._storage, output)
        process = spawn.Process(target=_work, args=arguments, name=cell.name)
        process.start()
        there.close()  # so that the end of the process is the end of the pipe
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
    # Ctrl-C at the terminal reaches the parent alone, which asks once: twice would mean at once.
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
        """The parent is dead. The next call resumes from the last checkpoint."""
