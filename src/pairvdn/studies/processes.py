"""Cells in processes of their own, some at a time, on this machine."""

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
from pairvdn.studies.cells import Cell, Standing, Tell
from pairvdn.studies.executor import Executor
from pairvdn.studies.storage import Storage
from pairvdn.studies.work import carry_out

_POLL = 0.2  # seconds, after which a signal is noticed at the latest
_LAST_WORDS = 20  # lines of what a process printed before it died


@dataclasses.dataclass(frozen=True)
class Processes(Executor):
    """So many processes at a time, a new one for each cell: what it held is given back."""

    workers: int

    def run(self, cells: Sequence[Cell], storage: Storage, tell: Tell) -> None:
        """Carry out all cells."""
        storage.require_shared()
        with (
            tempfile.TemporaryDirectory(prefix="pairvdn-grid-") as outputs,
            stop_requested() as wish,
            _Crew(storage, tell, Path(outputs)) as crew,
        ):
            waiting = collections.deque(cells)
            while (waiting and wish.signum is None) or crew.working:
                while waiting and wish.signum is None and len(crew.working) < self.workers:
                    crew.start(waiting.popleft())
                crew.listen(wish)
        if wish.signum is not None:
            raise Interrupted(wish.signum, "stopped")


@dataclasses.dataclass(frozen=True)
class _Worker:
    cell: Cell
    process: BaseProcess
    output: Path


class _Crew:
    """The processes that are at work, by the pipe through which each of them tells."""

    def __init__(self, storage: Storage, tell: Tell, outputs: Path) -> None:
        self.working: dict[Connection, _Worker] = {}
        self._storage, self._tell, self._outputs = storage, tell, outputs
        self._started = 0
        self._asked = False

    def __enter__(self) -> "_Crew":
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nobody behind; only after a second signal is anybody left."""
        for worker in self.working.values():
            worker.process.kill()
            worker.process.join()

    def start(self, cell: Cell) -> None:
        """Let a new process carry out a cell. JAX has threads, so that it must not be forked."""
        spawn = multiprocessing.get_context("spawn")
        here, there = spawn.Pipe(duplex=False)
        self._started += 1
        output = self._outputs / f"{self._started}.txt"
        arguments = (there, cell, self._storage, output)
        process = spawn.Process(target=_carry_out_and_tell, args=arguments, name=cell.name)
        process.start()
        there.close()  # so that the end of the process is the end of the pipe
        self.working[here] = _Worker(cell, process, output)

    def listen(self, wish: StopRequest) -> None:
        """Pass on what is told, and a wish to stop, for a moment."""
        if wish.signum is not None and not self._asked:
            self._asked = True
            for worker in self.working.values():
                worker.process.terminate()
        for pipe in wait(list(self.working), timeout=_POLL):
            assert isinstance(pipe, Connection)
            worker = self.working[pipe]
            try:
                news = pipe.recv()
            except EOFError:
                self._tell(worker.cell.name, self._died(worker))
                del self.working[pipe]
                continue
            self._tell(worker.cell.name, news)
            if isinstance(news, Standing) and news.state != "running":
                worker.process.join()
                del self.working[pipe]

    def _died(self, worker: _Worker) -> Standing:
        """The standing of a cell whose process ended without telling one."""
        worker.process.join()
        if self._asked:
            return Standing("stopped")
        said = worker.output.read_text(errors="replace") if worker.output.exists() else ""
        code = worker.process.exitcode or 0
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        last_words = "\n".join(said.splitlines()[-_LAST_WORDS:])
        return Standing("failed", f"its process {how}", last_words)


def _carry_out_and_tell(pipe: Connection, cell: Cell, storage: Storage, output: Path) -> None:
    """What a process of its own does."""
    # Ctrl-C at the terminal goes to the parent alone, which asks once: twice means at once.
    os.setsid()
    with output.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        try:
            pipe.send(carry_out(cell, storage, pipe.send))
        except Interrupted:
            pipe.send(Standing("stopped"))
    except BrokenPipeError:
        """The parent is dead. The last checkpoint is where the next call goes on."""
