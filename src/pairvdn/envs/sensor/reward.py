"""The team's reward in Sensor."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

SCAN = -1.0
DETECTION = 3.0


def team_reward(scans: Bool[Array, " n"], detected: Bool[Array, " k"]) -> Float[Array, ""]:
    """-1 for every scan, 3 for every target detected, by however many."""
    costs, gains = SCAN * jnp.sum(scans, dtype=jnp.float32), jnp.sum(detected, dtype=jnp.float32)
    return costs + DETECTION * gains
