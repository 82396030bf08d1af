"""The user's choice of devices, and whether a run can be sharded over them."""

import dataclasses

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh

from pairvdn.checks import require_at_least, require_one_of
from pairvdn.config.config import Built
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.envs import Environment
from pairvdn.learning.devices import AXIS
from pairvdn.runs.devices.layout import Layout, on_one_device, sharded_envs, sharded_seeds
from pairvdn.runs.devices.processes import require_equal_devices

# The axes that can be sharded over devices.
LAYOUTS = {"envs": sharded_envs, "seeds": sharded_seeds}


@dataclasses.dataclass(frozen=True)
class Shards:
    """The first `devices` that JAX sees (None: all), and the axis that is sharded over them.

    With `jax.distributed` these are the devices of all processes together.
    """

    devices: int | None = None
    over: str = "envs"

    def __post_init__(self) -> None:
        try:
            require_at_least(1, devices=1 if self.devices is None else self.devices)
            require_one_of(sorted(LAYOUTS), shard=self.over)
        except ValueError as error:
            raise ConfigError(one_line(error)) from error

    def layout(self, built: Built, num_seeds: int | None) -> Layout:
        """The layout of a run; `ConfigError` if the run cannot be sharded this way."""
        if not isinstance(built.env, Environment):
            raise ConfigError(
                f"{built.env.name} is stepped on the host and cannot be sharded over devices: "
                "leave --devices out."
            )
        devices = self._chosen()
        if self.over == "seeds":
            _require_seeds(num_seeds, len(devices))
        if len(devices) == 1:
            return on_one_device(built.learner)
        try:
            return LAYOUTS[self.over](built.learner, Mesh(np.array(devices), (AXIS,)))
        except ValueError as error:
            raise ConfigError(f"--devices {len(devices)}: {one_line(error)}") from error

    def _chosen(self) -> list[jax.Device]:
        there = jax.devices()
        count = len(there) if self.devices is None else self.devices
        if count > len(there):
            raise ConfigError(
                f"--devices {count}: there are no more than {len(there)} devices; a CPU acts as "
                f"several with XLA_FLAGS=--xla_force_host_platform_device_count={count}."
            )
        if jax.process_count() > 1:
            if count != len(there):
                raise ConfigError(
                    f"Processes that train together use all {len(there)} devices, not {count}: "
                    "--devices all."
                )
            require_equal_devices()
            # The first exchange must happen within 30 s. So it happens here, where all processes
            # arrive together, and not after compilation, whose time varies.
            multihost_utils.sync_global_devices("pairvdn has chosen its devices")
        return there[:count]


def _require_seeds(num_seeds: int | None, count: int) -> None:
    if num_seeds is None:
        raise ConfigError(
            f"--shard seeds needs several seeds, for example --seeds {max(2, count)}."
        )
    if num_seeds % count:
        raise ConfigError(
            f"--shard seeds gives every device the same number of seeds: --seeds must be a "
            f"multiple of the {count} devices, not {num_seeds}."
        )
