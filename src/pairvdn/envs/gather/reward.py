"""The team's reward in Gather."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.gather.rules import GOALS

ALL_AT_TRUE_GOAL = 10.0
ALL_AT_OTHER_GOALS = 5.0
SOME_AT_TRUE_GOAL = -5.0


def team_reward(
    at_true_goal: Bool[Array, " n"], at_a_goal: Bool[Array, " n"], is_last: Bool[Array, ""]
) -> Float[Array, ""]:
    """10 whenever all are at the true goal; the other rewards only in the last step."""
    others = jnp.where(jnp.all(at_a_goal), ALL_AT_OTHER_GOALS, 0.0)
    at_the_end = jnp.where(jnp.any(at_true_goal), SOME_AT_TRUE_GOAL, others)
    return jnp.where(jnp.all(at_true_goal), ALL_AT_TRUE_GOAL, jnp.where(is_last, at_the_end, 0.0))


def approach(
    before: Int32[Array, "n 2"], after: Int32[Array, "n 2"], goal: Int32[Array, ""]
) -> Float[Array, ""]:
    """Steps by which all agents together have come nearer to the true goal."""
    there = jnp.asarray(GOALS)[goal][None]
    return jnp.sum(jnp.abs(before - there) - jnp.abs(after - there)).astype(jnp.float32)
