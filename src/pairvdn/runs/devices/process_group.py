"""The processes that train one run together: what they must agree on, and who of them writes."""

import dataclasses
from collections.abc import Callable
from typing import TypeVar

import jax
import numpy as np
from jax.experimental import multihost_utils

from pairvdn.runs.errors import RunError

Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True)
class ProcessGroup:
    """All processes run the same loop, each with its own devices; the first one writes.

    They wait for each other in whatever they exchange. So every decision on what comes next must be
    the same in all of them, and what clocks, signals and disks say may differ: ask here first.
    """

    index: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes."""
        return self.index == 0

    def largest(self, number: int) -> int:
        """The largest number that any process names."""
        if self.size == 1:
            return number
        return int(multihost_utils.process_allgather(np.int32(number)).max())

    def first(self, array: np.ndarray) -> np.ndarray:
        """The array of the first process; those of the others have its shape."""
        if self.size == 1:
            return array
        return np.asarray(multihost_utils.broadcast_one_to_all(array))

    def all_or_none(self, act: Callable[[], Result]) -> Result:
        """Do something in every process; if it fails in one, it fails in all."""
        try:
            result = act()
        except Exception:
            self.largest(1)
            raise
        if self.largest(0):
            raise RunError("another process of this run has failed; it says why.")
        return result


SINGLE = ProcessGroup()


def all_processes() -> ProcessGroup:
    """All processes that `jax.distributed` has brought together, or this one alone."""
    return ProcessGroup(jax.process_index(), jax.process_count())
