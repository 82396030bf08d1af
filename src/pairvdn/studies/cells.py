"""What a grid is made of: cells, each one an ordinary run, and what is told about them."""

import dataclasses
from collections.abc import Callable
from typing import Literal

from pairvdn.config.config import Config
from pairvdn.runs.epochs import Report

State = Literal["running", "finished", "finished before", "diverged", "failed", "stopped"]


@dataclasses.dataclass(frozen=True)
class Cell:
    """One run: the name of its folder and its config; with `num_seeds`, seeds side by side."""

    name: str
    config: Config
    num_seeds: int | None = None

    def seeds(self) -> list[int] | None:
        """The seeds that are trained side by side; None for a single run."""
        first = self.config.seed
        return None if self.num_seeds is None else list(range(first, first + self.num_seeds))

    def runs(self) -> list[str]:
        """The names of the run folders: the cell's own, or one for each seed."""
        seeds = self.seeds()
        return [self.name] if seeds is None else [f"{self.name}/seed-{seed}" for seed in seeds]


@dataclasses.dataclass(frozen=True)
class Standing:
    """How it stands with a cell; `details` are for whoever looks for the reason of a failure."""

    state: State
    reason: str = ""
    details: str = ""


# What is told about a cell: an epoch, a message, or a new standing.
News = Report | str | Standing
Tell = Callable[[str, News], None]  # takes the name of the cell, and the news


@dataclasses.dataclass(frozen=True)
class Resources:
    """What one cell needs of a cluster, and how many deaths of its worker it may survive."""

    cpus: float = 1.0
    gpus: float = 0.0
    retries: int = 3

    def __post_init__(self) -> None:
        for name, number in dataclasses.asdict(self).items():
            if number < 0:
                raise ValueError(f"{name} must be at least 0, not {number}.")
