"""What predator-prey looks like, as data."""

import jax.numpy as jnp

from pairvdn.envs.grid import centres, grid_lines
from pairvdn.envs.predator_prey.types import PredatorPreyState
from pairvdn.envs.scene import Circles, Scene

PREDATOR_COLOUR = (0.8, 0.3, 0.2)
PREY_COLOUR = (0.3, 0.6, 0.3)


def scene(state: PredatorPreyState, size: int) -> Scene:
    """Predators and smaller prey; those who left have no size."""
    n, k = state.hunting.shape[0], state.alive.shape[0]
    radius = [jnp.where(state.hunting, 0.4, 0.0), jnp.where(state.alive, 0.25, 0.0)]
    colour = [
        jnp.tile(jnp.array([PREDATOR_COLOUR]), (n, 1)),
        jnp.tile(jnp.array([PREY_COLOUR]), (k, 1)),
    ]
    agents = [jnp.arange(n, dtype=jnp.int32), jnp.full((k,), -1, jnp.int32)]
    return Scene(
        bounds=jnp.array([0.0, 0.0, size, size]),
        circles=Circles(
            centre=centres(jnp.concatenate([state.predators, state.prey]), size),
            radius=jnp.concatenate(radius),
            colour=jnp.concatenate(colour),
            agent=jnp.concatenate(agents),
        ),
        lines=grid_lines(size, size),
    )
