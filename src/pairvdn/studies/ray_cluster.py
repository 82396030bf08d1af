"""The executor for a Ray cluster, which restarts the cell of a dead worker."""

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
from pairvdn.studies.cells import Cell, Event, OnEvent, Resources, Status, run_cell
from pairvdn.studies.executors import Executor
from pairvdn.studies.storage import Storage

_POLL = 0.5  # seconds between looks at new events and the stop request
PATIENCE = 60.0  # seconds that a cell waits for the process that held it on a lost node


@dataclasses.dataclass(frozen=True)
class RayCluster(Executor):
    """A cluster: `auto` for the one that runs here, `local` for a new one, or an address."""

    address: str
    resources: Resources = dataclasses.field(default_factory=Resources)
    workers: int | None = None  # CPUs of a new local cluster

    def __post_init__(self) -> None:
        require_ray()
        if self.workers is not None and self.address != "local":
            raise ConfigError("--workers needs --ray local: a running cluster has its own size.")

    def run(self, cells: Sequence[Cell], storage: Storage, on_event: OnEvent) -> None:
        """Run all cells."""
        storage.require_shared()
        with connected(self.address, self.workers), stop_requested() as stop:
            _Tasks(cells, storage, on_event, self.resources).watch(stop)
        if stop.signum is not None:
            raise Interrupted(stop.signum, "stopped")


def require_ray() -> None:
    """Raise `ConfigError` unless Ray is installed."""
    try:
        import ray  # noqa: F401
    except ImportError as error:
        raise ConfigError("--ray needs the package ray: pip install 'pairvdn[ray]'.") from error


@contextlib.contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[None]:
    """A connection to a cluster; an existing one is used and left open."""
    import ray

    if ray.is_initialized():
        yield
        return
    # No usage statistics without the user's consent.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    new: dict[str, Any] = (
        {"num_cpus": workers, "include_dashboard": False} if address == "local" else {}
    )
    try:
        # The output of workers would break the live table; Ray logs it.
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **new)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise RunError(
            f"There is no Ray cluster at {address!r}, or it requires a token (set "
            f"RAY_AUTH_MODE=token as on the cluster): {one_line(error)}"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


class _Events:
    """An actor on the driver's node that collects the events of all tasks."""

    def __init__(self) -> None:
        self._events: collections.deque[tuple[str, Event]] = collections.deque()

    def add(self, name: str, event: Event) -> None:
        """Add an event of a cell."""
        self._events.append((name, event))

    def take(self) -> list[tuple[str, Event]]:
        """Remove and return all events."""
        taken = list(self._events)
        self._events.clear()
        return taken


class _Tasks:
    """The tasks of all cells that have not ended."""

    def __init__(
        self, cells: Sequence[Cell], storage: Storage, on_event: OnEvent, resources: Resources
    ) -> None:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = ray.get_runtime_context().get_node_id()
        beside_me = NodeAffinitySchedulingStrategy(here, soft=False)
        # If this actor dies, only its pending events are lost.
        events: Any = (
            ray.remote(_Events)
            .options(
                num_cpus=0, scheduling_strategy=beside_me, max_restarts=-1, max_task_retries=-1
            )
            .remote()
        )
        # A process for each cell, so that its memory is freed. Exceptions are results.
        task: Any = ray.remote(
            num_cpus=resources.cpus,
            num_gpus=resources.gpus,
            max_retries=resources.retries,
            max_calls=1,
        )(_work)
        self._ray, self._on_event, self._events = ray, on_event, events
        self._working = {task.remote(cell, storage, events): cell for cell in cells}
        self._stopping = False

    def watch(self, stop: StopRequest) -> None:
        """Pass on events until every task has ended."""
        while self._working:
            done, _ = self._ray.wait(list(self._working), timeout=_POLL)
            unfinished = {cell.name for cell in self._working.values()}
            for name, event in self._ray.get(self._events.take.remote()):
                if name in unfinished:  # an event may arrive after the end of its task
                    self._on_event(name, event)
            for task in done:
                self._on_event(self._working.pop(task).name, self._final_status(task))
            if stop.signum is not None and not self._stopping:
                self._stopping = True
                # A running task receives Ctrl-C and saves first; the others never start.
                for task in self._working:
                    self._ray.cancel(task)

    def _final_status(self, task: Any) -> Status:
        try:
            status: Status = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            # A task that was cancelled while it started may end with any error.
            return Status("stopped") if self._stopping else Status("failed", one_line(error))
        return status


def _work(cell: Cell, storage: Storage, events: Any) -> Status:
    """A task, which Ray may run again after it was cut off."""

    def on_event(event: Event) -> None:
        events.add.remote(cell.name, event)

    try:
        return run_cell(cell, storage, on_event, patience=PATIENCE)
    except Interrupted:
        return Status("stopped")
