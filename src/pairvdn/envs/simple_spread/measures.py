"""What one wants to know of Simple Spread beyond its reward, for one example."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.simple_spread.physics import RADIUS, collisions
from pairvdn.envs.simple_spread.reward import nearest_agent
from pairvdn.envs.simple_spread.types import SimpleSpreadState


def measures(state: SimpleSpreadState) -> dict[str, Float[Array, ""]]:
    """Landmarks that are covered, how far from an agent they are, and pairs that overlap.

    A landmark is covered if its middle lies within an agent's circle.
    """
    distance = nearest_agent(state)
    return {
        "covered": jnp.sum(distance < RADIUS).astype(jnp.float32),
        "distance": jnp.mean(distance),
        "overlaps": jnp.sum(collisions(state.position)).astype(jnp.float32) / 2,
    }
