"""The processes that train one run together."""

import collections
import dataclasses
from collections.abc import Callable
from typing import TypeVar

import jax
import numpy as np
from jax.experimental import multihost_utils

from pairvdn.config.errors import ConfigError
from pairvdn.runs.errors import RunError

Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True)
class ProcessGroup:
    """All processes run the same loop, each with its own devices; the first one writes.

    Every exchange waits for all of them. So all must take the same branch everywhere, although
    their clocks, signals and disks may disagree: ask the group first.
    """

    index: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes."""
        return self.index == 0

    def largest(self, number: int) -> int:
        """The largest of all processes' numbers."""
        if self.size == 1:
            return number
        return int(multihost_utils.process_allgather(np.int32(number)).max())

    def first(self, array: np.ndarray) -> np.ndarray:
        """The array of the first process; all arrays must have its shape."""
        if self.size == 1:
            return array
        return np.asarray(multihost_utils.broadcast_one_to_all(array))

    def texts(self, text: str) -> list[str]:
        """The texts of all processes, by process."""
        if self.size == 1:
            return [text]
        encoded = text.encode()
        lengths = multihost_utils.process_allgather(np.int32(len(encoded)))
        padded = np.frombuffer(encoded.ljust(int(lengths.max())), np.uint8)
        rows = multihost_utils.process_allgather(padded)
        return [bytes(row[:length]).decode() for row, length in zip(rows, lengths, strict=True)]

    def all_or_none(self, act: Callable[[], Result]) -> Result:
        """Call `act` in every process; if it fails in one, it fails in all."""
        try:
            result = act()
        except Exception:
            self.largest(1)
            raise
        if self.largest(0):
            raise RunError("another process of this run has failed; see its output.")
        return result


SINGLE = ProcessGroup()


def all_processes() -> ProcessGroup:
    """All processes that `jax.distributed` connects, or this one alone."""
    return ProcessGroup(jax.process_index(), jax.process_count())


def require_equal_devices() -> None:
    """Raise `ConfigError` unless every process has the same number of devices."""
    each = collections.Counter(device.process_index for device in jax.devices())
    if len(set(each.values())) > 1:
        counts = ", ".join(f"process {index}: {number}" for index, number in sorted(each.items()))
        raise ConfigError(f"Every process must have the same number of devices ({counts}).")
