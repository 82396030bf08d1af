"""What a predator sees: who is in the 5 x 5 cells around it."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.grid import same_cell
from pairvdn.envs.predator_prey.types import PredatorPreyState

REACH = 2
_SIGHT = range(-REACH, REACH + 1)
WINDOW = np.array([(row, column) for row in _SIGHT for column in _SIGHT], np.int32)
OBSERVATION_SIZE = 2 * len(WINDOW)
OBSERVATION_NAMES = tuple(
    f"{who} {row:+d} down, {column:+d} right"
    for who in ("predator", "prey")
    for row, column in WINDOW.tolist()
)
NUMBERS_EACH = 3  # that the state has of everyone


def observe(state: PredatorPreyState) -> Float[Array, "n o"]:
    """A plane of predators, itself included, and one of prey; zeros for one that left."""
    cells = state.predators[:, None] + jnp.asarray(WINDOW)[None]

    def plane(places: Int32[Array, "m 2"], present: Bool[Array, " m"]) -> Bool[Array, "n w"]:
        there = same_cell(cells[:, :, None], places[None, None]) & present[None, None]
        return jnp.any(there, axis=-1)

    planes = [plane(state.predators, state.hunting), plane(state.prey, state.alive)]
    seen = jnp.concatenate(planes, axis=1) & state.hunting[:, None]
    return seen.astype(jnp.float32)


def global_state(state: PredatorPreyState, size: int) -> Float[Array, " s"]:
    """Row and column from 0 to 1, and a 1, of every predator and prey; zeros of those who left."""
    cells = jnp.concatenate([state.predators, state.prey]).astype(jnp.float32)
    present = jnp.concatenate([state.hunting, state.alive])[:, None]
    numbers = jnp.concatenate([cells / (size - 1), jnp.ones_like(cells[:, :1])], axis=1)
    return jnp.where(present, numbers, 0.0).reshape(-1)


def predator_cells(
    global_state: Float[Array, " s"], num_predators: int, size: int
) -> Float[Array, "n 2"]:
    """Row and column of every predator; those who left are far away from all others."""
    numbers = global_state.reshape(-1, NUMBERS_EACH)[:num_predators]
    return jnp.where(numbers[:, 2:] > 0, numbers[:, :2] * (size - 1), -2.0 * size)
