"""What a station sees: its own queue."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.aloha.types import AlohaState


def observe(state: AlohaState) -> Float[Array, "n 1"]:
    """The length of the queue."""
    return global_state(state)[:, None]


def global_state(state: AlohaState) -> Float[Array, " n"]:
    """All queues."""
    return state.queues.astype(jnp.float32)
