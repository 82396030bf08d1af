"""What a sensor sees: the cells around it, and where it stands."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.grid import inside, same_cell
from pairvdn.envs.sensor.rules import COLUMNS, ROWS, WINDOW, sensors
from pairvdn.envs.sensor.types import SensorState

OUTSIDE = -1.0
WAYS = ("up left", "up", "up right", "left", "right", "down left", "down", "down right")
OBSERVATION_NAMES = (*WAYS[:4], "here", *WAYS[4:], "row", "column")


def observe(state: SensorState) -> Float[Array, "n 11"]:
    """3 x 3 cells (1 a target, 0 none, -1 outside the map), then row and column."""
    own = jnp.asarray(sensors())
    cells = own[:, None] + jnp.asarray(WINDOW)[None]
    taken = jnp.any(same_cell(cells[:, :, None], state.targets[None, None]), axis=-1)
    seen = jnp.where(inside(cells, ROWS, COLUMNS), taken.astype(jnp.float32), OUTSIDE)
    return jnp.concatenate([seen, own.astype(jnp.float32)], axis=1)


def global_state(state: SensorState) -> Float[Array, " s"]:
    """Row and column of every target; the sensors do not move."""
    return state.targets.astype(jnp.float32).reshape(-1)
