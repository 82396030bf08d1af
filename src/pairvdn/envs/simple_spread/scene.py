"""What Simple Spread looks like, as data."""

import jax.numpy as jnp

from pairvdn.envs.scene import Circles, Scene
from pairvdn.envs.simple_spread.physics import RADIUS
from pairvdn.envs.simple_spread.types import SimpleSpreadState

LANDMARK_RADIUS = 0.05
AGENT_COLOUR = (0.35, 0.35, 0.85)
LANDMARK_COLOUR = (0.25, 0.25, 0.25)


def scene(state: SimpleSpreadState) -> Scene:
    """Agents, and on top of them, so that a covered one can be seen, the landmarks."""
    n = state.position.shape[0]
    # Nothing keeps agents inside, so the window grows with them.
    half = jnp.maximum(1.0, jnp.max(jnp.abs(state.position))) + 2 * RADIUS
    agents = jnp.arange(n, dtype=jnp.int32)
    return Scene(
        bounds=jnp.stack([-half, -half, half, half]),
        circles=Circles(
            centre=jnp.concatenate([state.position, state.landmarks]),
            radius=jnp.repeat(jnp.array([RADIUS, LANDMARK_RADIUS]), n),
            colour=jnp.repeat(jnp.array([AGENT_COLOUR, LANDMARK_COLOUR]), n, axis=0),
            agent=jnp.concatenate([agents, jnp.full_like(agents, -1)]),
        ),
    )
