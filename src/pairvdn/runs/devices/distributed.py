"""Connecting the processes of one run: `jax.distributed`, then a comparison of their settings.

JAX starts with any settings and hangs in the first exchange that does not fit. So all processes
exchange their settings as soon as they are connected, and every one refuses if any differs.
"""

import contextlib
import dataclasses
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax

from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.devices.process_group import all_processes, require_equal_devices
from pairvdn.runs.errors import RunError
from pairvdn.runs.versions import software

# JAX gets this many seconds more than `wait`, so that our one line comes before its stack trace.
_MARGIN = 30
_NO_CLUSTER = (
    "--distributed finds no cluster here: start this inside a SLURM step, under Open MPI or on "
    "Kubernetes, or give --coordinator, --process-id and --num-processes"
)


@dataclasses.dataclass(frozen=True)
class Coordinator:
    """The address at which `num_processes` processes meet, and the index of this one."""

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

    Without a coordinator JAX detects the cluster: SLURM, Open MPI, Kubernetes, Cloud TPU.
    `ConfigError` names the settings that differ, in every process; the versions of the software
    are among them. A process that waits longer than `wait` seconds ends with one line, since JAX
    would abort it with a stack trace, as it does at once when two processes have the same id.
    """
    by_hand: dict[str, Any] = {}
    if coordinator is not None:
        by_hand = {
            "coordinator_address": coordinator.address,
            "num_processes": coordinator.num_processes,
            "process_id": coordinator.process_id,
            "cluster_detection_method": "deactivate",
        }
    with _ended_after(wait, coordinator):
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


def require_same_settings(settings: Mapping[str, Any]) -> None:
    """Raise `ConfigError` in every process if a setting differs between them."""
    texts = all_processes().texts(json.dumps(settings))
    found = differences([json.loads(text) for text in texts])
    if found:
        raise ConfigError(f"The processes have different settings: {'; '.join(found)}.")


def differences(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for every setting in which some process differs from the first one."""
    found = []
    for name in dict.fromkeys(name for one in settings for name in one):
        values = [json.dumps(one.get(name, "not set")) for one in settings]
        other = next((index for index, value in enumerate(values) if value != values[0]), None)
        if other is not None:
            found.append(
                f"{name} is {values[0]} in process 0 and {values[other]} in process {other}"
            )
    return found


@contextlib.contextmanager
def _ended_after(seconds: int, coordinator: Coordinator | None) -> Iterator[None]:
    """End this process with one line if the block takes longer."""
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
