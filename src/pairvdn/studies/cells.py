"""A cell is one run folder of a study; a status says how it ended."""

import dataclasses
from collections.abc import Callable
from typing import Literal

from pairvdn.checks import require_at_least
from pairvdn.config.config import Config
from pairvdn.runs.analysis.evaluate import Settings
from pairvdn.runs.epochs import Report

State = Literal["running", "finished", "finished before", "busy", "diverged", "failed", "stopped"]


@dataclasses.dataclass(frozen=True)
class Cell:
    """One run: folder name and config. With `num_seeds`, several seeds side by side.

    With `evaluation` the worker that trained the cell evaluates it, too.
    """

    name: str
    config: Config
    num_seeds: int | None = None
    evaluation: Settings | None = None

    def seeds(self) -> list[int] | None:
        """The seeds trained side by side; None for a single run."""
        first = self.config.seed
        return None if self.num_seeds is None else list(range(first, first + self.num_seeds))

    def runs(self) -> list[str]:
        """Names of the run folders: the cell's own, or one per seed."""
        seeds = self.seeds()
        return [self.name] if seeds is None else [f"{self.name}/seed-{seed}" for seed in seeds]


@dataclasses.dataclass(frozen=True)
class Status:
    """The state of a cell. `details` is a traceback or the last output of a dead process."""

    state: State
    reason: str = ""
    details: str = ""


# A finished epoch, a message, or a new status.
Event = Report | str | Status
OnEvent = Callable[[str, Event], None]  # called with the cell's name


@dataclasses.dataclass(frozen=True)
class Resources:
    """CPUs and GPUs of one cell on a cluster, and how many worker deaths it may survive."""

    cpus: float = 1.0
    gpus: float = 0.0
    retries: int = 3

    def __post_init__(self) -> None:
        require_at_least(0, **dataclasses.asdict(self))
