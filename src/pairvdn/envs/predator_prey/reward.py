"""The team's reward in predator-prey."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.predator_prey.rules import Hunt

CAPTURE = 10.0


def team_reward(hunt: Hunt, penalty: float) -> Float[Array, ""]:
    """10 for every capture, and the penalty for every prey that one predator tried to catch."""
    captured = jnp.sum(hunt.captured, dtype=jnp.float32)
    return CAPTURE * captured + penalty * jnp.sum(hunt.missed, dtype=jnp.float32)
