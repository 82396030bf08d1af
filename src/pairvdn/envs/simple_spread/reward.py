"""Rewards of Simple Spread."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.simple_spread.physics import collisions
from pairvdn.envs.simple_spread.types import SimpleSpreadState


def nearest_agent(state: SimpleSpreadState) -> Float[Array, " n"]:
    """How far each landmark is from the agent nearest to it."""
    to_agents = state.landmarks[:, None] - state.position[None]
    return jnp.sqrt(jnp.min(jnp.sum(to_agents**2, axis=-1), axis=1))


def agent_rewards(state: SimpleSpreadState, local_ratio: float) -> Float[Array, " n"]:
    """`(1 - l) G + l L_i` with the local ratio l.

    G is minus the sum over landmarks of the distance of the agent nearest to it, the same for all;
    L_i is minus the number of other agents that overlap agent i.
    """
    shared = -jnp.sum(nearest_agent(state))
    own = -jnp.sum(collisions(state.position), axis=1).astype(shared.dtype)
    return (1 - local_ratio) * shared + local_ratio * own
