"""What an agent sees: its own cell, and the goal's if it knows it."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.gather.rules import GOALS
from pairvdn.envs.gather.types import GatherState

UNKNOWN = -1.0


def observe(state: GatherState) -> Float[Array, "n 4"]:
    """Own row and column, then the goal's, or -1 and -1."""
    goal = jnp.asarray(GOALS)[state.goal].astype(jnp.float32)
    known = jnp.where(state.informed[:, None], goal[None], UNKNOWN)
    return jnp.concatenate([state.agents.astype(jnp.float32), known], axis=1)


def global_state(state: GatherState) -> Float[Array, " s"]:
    """Row, column and a 1 if it knows the goal, of every agent; then the goal's row and column."""
    agents = jnp.concatenate([state.agents, state.informed[:, None].astype(jnp.int32)], axis=1)
    goal = jnp.asarray(GOALS)[state.goal]
    return jnp.concatenate([agents.reshape(-1), goal]).astype(jnp.float32)
