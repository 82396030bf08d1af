"""Rewards of Aloha."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

DELIVERY = 0.1
COLLISION = -10.0


def agent_rewards(sent: Bool[Array, " n"], jammed: Bool[Array, " n"]) -> Float[Array, " n"]:
    """0.1 for a message that got through, -10 for one that did not, 0 if there was none."""
    return jnp.where(sent, jnp.where(jammed, COLLISION, DELIVERY), 0.0)
