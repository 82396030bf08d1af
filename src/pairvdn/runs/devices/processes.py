"""The processes that train one run together: how they connect, and how they agree.

JAX accepts different settings in different processes and hangs in the first exchange that does not
match. So the processes compare their settings once they are connected, and all refuse if any
differs.
"""

import collections
import contextlib
import dataclasses
import json
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import jax
import numpy as np
from jax.experimental import multihost_utils

from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.errors import RunError
from pairvdn.runs.versions import software

Result = TypeVar("Result")

# Seconds that JAX waits longer than we do, so that our message comes before its stack trace.
_MARGIN = 30
_NO_CLUSTER = (
    "--distributed finds no cluster here: start this inside a SLURM step, under Open MPI or on "
    "Kubernetes, or give --coordinator, --process-id and --num-processes"
)


@dataclasses.dataclass(frozen=True)
class ProcessGroup:
    """All processes run the same loop, each on its own devices; the first one writes.

    Every exchange waits for all processes, so all must take the same branches. Decisions that
    depend on clocks, signals or disks, which may disagree, go through the group.
    """

    index: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes."""
        return self.index == 0

    def largest(self, number: int) -> int:
        """The largest number of any process."""
        if self.size == 1:
            return number
        return int(multihost_utils.process_allgather(np.int32(number)).max())

    def first(self, array: np.ndarray) -> np.ndarray:
        """The array of the first process; all arrays must have its shape."""
        if self.size == 1:
            return array
        return np.asarray(multihost_utils.broadcast_one_to_all(array))

    def texts(self, text: str) -> list[str]:
        """The texts of all processes, in order."""
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
            raise RunError("another process of this run failed; see its output.")
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


@dataclasses.dataclass(frozen=True)
class Coordinator:
    """The address of process 0, the number of processes, and the index of this one."""

    address: str  # HOST:PORT of process 0
    process_id: int
    num_processes: int

    def __post_init__(self) -> None:
        host, _, port = self.address.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 2**16:
            raise ConfigError(f"--coordinator must be HOST:PORT, not {self.address!r}.")
        if self.num_processes < 2:
            raise ConfigError(f"--num-processes must be at least 2, not {self.num_processes}.")
        if not 0 <= self.process_id < self.num_processes:
            raise ConfigError(
                f"--process-id must be from 0 to {self.num_processes - 1}, not {self.process_id}."
            )


def connect(
    coordinator: Coordinator | None, settings: Mapping[str, Any], *, wait: int = 300
) -> None:
    """Start `jax.distributed` and compare settings, before anything else is computed.

    Without a coordinator JAX detects the cluster: SLURM, Open MPI, Kubernetes, Cloud TPU. Every
    process raises `ConfigError` with the settings, or versions of software, that differ. A process
    that waits longer than `wait` seconds ends with one line; JAX would abort it with a stack trace,
    as it does at once if two processes have the same id.
    """
    by_hand: dict[str, Any] = {}
    if coordinator is not None:
        by_hand = {
            "coordinator_address": coordinator.address,
            "num_processes": coordinator.num_processes,
            "process_id": coordinator.process_id,
            "cluster_detection_method": "deactivate",
        }
        _require_free_port(coordinator)
    with _time_limit(wait, coordinator):
        try:
            jax.distributed.initialize(
                **by_hand,
                initialization_timeout=wait + _MARGIN,
                shutdown_timeout_seconds=10,  # a process that fails alone ends the others soon
            )
        except ValueError as error:  # JAX lacks an address, a count or an index
            raise ConfigError(f"{_NO_CLUSTER} ({one_line(error)}).") from error
        except RuntimeError as error:
            at = f" at {coordinator.address}" if coordinator else ""
            raise RunError(
                f"JAX cannot connect the processes{at} ({one_line(error)}): is the port in use?"
            ) from error
    require_equal_devices()
    require_same_settings({**software(), **settings})


def _require_free_port(coordinator: Coordinator) -> None:
    """Raise `RunError` if process 0 cannot open its port, on which JAX may crash."""
    if coordinator.process_id != 0:
        return
    try:
        socket.create_server(("", int(coordinator.address.rpartition(":")[2]))).close()
    except OSError as error:
        raise RunError(
            f"Process 0 cannot open the port of {coordinator.address} ({error.strerror}): choose "
            "another one."
        ) from error


def require_same_settings(settings: Mapping[str, Any]) -> None:
    """Raise `ConfigError` in every process if a setting differs between them."""
    texts = all_processes().texts(json.dumps(settings))
    different = differences([json.loads(text) for text in texts])
    if different:
        raise ConfigError(f"The processes have different settings: {'; '.join(different)}.")


def differences(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """One phrase for each setting in which a process differs from the first one."""
    phrases = []
    for name in dict.fromkeys(name for own in settings for name in own):
        values = [json.dumps(own.get(name, "not set")) for own in settings]
        other = next((index for index, value in enumerate(values) if value != values[0]), None)
        if other is not None:
            phrases.append(
                f"{name} is {values[0]} in process 0 and {values[other]} in process {other}"
            )
    return phrases


@contextlib.contextmanager
def _time_limit(seconds: int, coordinator: Coordinator | None) -> Iterator[None]:
    """End this process with one line if the block takes longer than this."""
    at = f" at {coordinator.address}" if coordinator else ""
    message = (
        f"pairvdn: not all processes have connected{at} within {seconds} s: are all started, with "
        "different process ids, and is the port open? --wait allows more time.\n"
    )

    def end() -> None:
        sys.stdout.flush()
        os.write(2, message.encode())
        os._exit(1)  # the main thread is inside JAX and cannot be interrupted

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
