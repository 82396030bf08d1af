"""What a user says about devices, and whether a run can be divided so."""

import collections
import dataclasses

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh

from pairvdn.envs import Environment
from pairvdn.config.config import Built
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.devices.layout import ShardedEnvs, Layout, OnOneDevice, ShardedSeeds
from pairvdn.checks import hint
from pairvdn.learning.devices import AXIS

# What can be divided among devices.
LAYOUTS: dict[str, type[ShardedEnvs | ShardedSeeds]] = {"envs": ShardedEnvs, "seeds": ShardedSeeds}


@dataclasses.dataclass(frozen=True)
class Shards:
    """`devices` of all that JAX sees (None: all of them), and what is divided among them.

    With `jax.distributed` these are the devices of all processes together.
    """

    devices: int | None = None
    over: str = "envs"

    def __post_init__(self) -> None:
        if self.devices is not None and self.devices < 1:
            raise ConfigError(f"devices must be at least 1, not {self.devices}.")
        if self.over not in LAYOUTS:
            raise ConfigError(f"{self.over!r} cannot be divided; {hint(self.over, LAYOUTS)}")

    def layout(self, built: Built, num_seeds: int | None) -> Layout:
        """Where to train; `ConfigError` says what to change if that cannot be divided."""
        if not isinstance(built.env, Environment):
            raise ConfigError(
                f"{built.env.name} is stepped on the host, and its environments cannot be divided "
                "among devices: leave --devices out."
            )
        devices = self._chosen()
        if self.over == "seeds":
            _require_seeds(num_seeds, len(devices))
        if len(devices) == 1:
            return OnOneDevice(built.learner)
        try:
            return LAYOUTS[self.over](built.learner, Mesh(np.array(devices), (AXIS,)))
        except ValueError as error:
            raise ConfigError(f"--devices {len(devices)}: {one_line(error)}") from error

    def _chosen(self) -> list[jax.Device]:
        there = jax.devices()
        count = len(there) if self.devices is None else self.devices
        if count > len(there):
            raise ConfigError(
                f"There is no more than {len(there)} of the {count} devices; a CPU acts as several "
                f"with XLA_FLAGS=--xla_force_host_platform_device_count={count}."
            )
        if jax.process_count() > 1:
            _require_all(there, count)
            # The first contact must be made within 30 s. So it is made here, where all come at the
            # same time, and not after compilation, which takes some longer than others.
            multihost_utils.sync_global_devices("pairvdn has chosen its devices")
        return there[:count]


def _require_all(there: list[jax.Device], count: int) -> None:
    if count != len(there):
        raise ConfigError(
            f"Processes that train together use all of their {len(there)} devices, not {count}: "
            "--devices all."
        )
    each = collections.Counter(device.process_index for device in there)
    if len(set(each.values())) > 1:
        counts = ", ".join(f"process {index}: {number}" for index, number in sorted(each.items()))
        raise ConfigError(f"Every process must have as many devices as the others ({counts}).")


def _require_seeds(num_seeds: int | None, count: int) -> None:
    if num_seeds is None:
        raise ConfigError(f"--shard seeds needs several: --seeds {max(2, count)}, say.")
    if num_seeds % count:
        raise ConfigError(
            f"--shard seeds gives every device as many seeds: --seeds must be a multiple of the "
            f"{count} devices, not {num_seeds}."
        )
