"""Cells as tasks of a Ray cluster, which starts those again whose worker died."""

import collections
import contextlib
import dataclasses
import logging
import os
from collections.abc import Iterator, Sequence
from typing import Any

from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.errors import Interrupted, RunError
from pairvdn.runs.signals import StopRequest, stop_requested
from pairvdn.studies.cells import Cell, News, Resources, Standing, Tell
from pairvdn.studies.executor import Executor
from pairvdn.studies.storage import Storage
from pairvdn.studies.work import carry_out

_POLL = 0.5  # seconds, after which news are fetched and a signal is noticed
# Seconds for which a cell waits for the process that held it on a node which was lost.
PATIENCE = 60.0


@dataclasses.dataclass(frozen=True)
class RayCluster(Executor):
    """A cluster: `auto` for the one that runs here, `local` for a new one, or an address."""

    address: str
    resources: Resources = dataclasses.field(default_factory=Resources)
    workers: int | None = None  # CPUs of a new local cluster

    def __post_init__(self) -> None:
        require_ray()
        if self.workers is not None and self.address != "local":
            raise ConfigError("--workers goes with --ray local; other clusters have their size.")

    def run(self, cells: Sequence[Cell], storage: Storage, tell: Tell) -> None:
        """Carry out all cells."""
        storage.require_shared()
        with connected(self.address, self.workers), stop_requested() as wish:
            _Tasks(cells, storage, tell, self.resources).watch(wish)
        if wish.signum is not None:
            raise Interrupted(wish.signum, "stopped")


def require_ray() -> None:
    """Raise `ConfigError` unless Ray is installed."""
    try:
        import ray  # noqa: F401
    except ImportError as error:
        raise ConfigError("--ray needs the package ray: pip install 'pairvdn[ray]'.") from error


@contextlib.contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[None]:
    """A connection to a cluster; one that is there already is used and left open."""
    import ray

    if ray.is_initialized():
        yield
        return
    # Nobody asked to tell anybody.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    new: dict[str, Any] = (
        {"num_cpus": workers, "include_dashboard": False} if address == "local" else {}
    )
    try:
        # What workers print would tear the table apart; it is in Ray's own logs.
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **new)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise RunError(
            f"There is no Ray cluster at {address!r}, or it asks for a token (RAY_AUTH_MODE=token "
            f"must be set here as there): {one_line(error)}"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


class _Board:
    """Where tasks pin their news for the driver to take; an actor, on the node of the driver."""

    def __init__(self) -> None:
        self._news: collections.deque[tuple[str, News]] = collections.deque()

    def pin(self, name: str, news: News) -> None:
        """Add news of a cell."""
        self._news.append((name, news))

    def take(self) -> list[tuple[str, News]]:
        """All that is new."""
        taken = list(self._news)
        self._news.clear()
        return taken


class _Tasks:
    """The tasks of all cells that have not ended."""

    def __init__(
        self, cells: Sequence[Cell], storage: Storage, tell: Tell, resources: Resources
    ) -> None:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = ray.get_runtime_context().get_node_id()
        beside_me = NodeAffinitySchedulingStrategy(here, soft=False)
        # News that a board had when it died are lost, and nothing else.
        board: Any = (
            ray.remote(_Board)
            .options(
                num_cpus=0, scheduling_strategy=beside_me, max_restarts=-1, max_task_retries=-1
            )
            .remote()
        )
        # A process for each cell, whose memory is given back. An exception is a result.
        task: Any = ray.remote(
            num_cpus=resources.cpus,
            num_gpus=resources.gpus,
            max_retries=resources.retries,
            max_calls=1,
        )(_carry_out_and_tell)
        self._ray, self._tell, self._board = ray, tell, board
        self._working = {task.remote(cell, storage, board): cell for cell in cells}
        self._asked = False

    def watch(self, wish: StopRequest) -> None:
        """Pass on what is told until every task has ended."""
        while self._working:
            done, _ = self._ray.wait(list(self._working), timeout=_POLL)
            unfinished = {cell.name for cell in self._working.values()}
            for name, news in self._ray.get(self._board.take.remote()):
                if name in unfinished:  # else it was late, and overtaken by the end
                    self._tell(name, news)
            for task in done:
                self._tell(self._working.pop(task).name, self._end(task))
            if wish.signum is not None and not self._asked:
                self._asked = True
                # In a running task this is Ctrl-C: it saves first. Others are not started.
                for task in self._working:
                    self._ray.cancel(task)

    def _end(self, task: Any) -> Standing:
        try:
            standing: Standing = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            # A task that was only starting when it was asked may end with any error.
            return Standing("stopped") if self._asked else Standing("failed", one_line(error))
        return standing


def _carry_out_and_tell(cell: Cell, storage: Storage, board: Any) -> Standing:
    """What a task does; it may be done again after it was cut off at any point."""

    def tell(news: News) -> None:
        board.pin.remote(cell.name, news)

    try:
        return carry_out(cell, storage, tell, patience=PATIENCE)
    except Interrupted:
        return Standing("stopped")
