"""Targets of temporal-difference learning, for one example."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32


def td_target(
    reward_t: Float[Array, ""], discount_t: Float[Array, ""], value_t: Float[Array, " h"]
) -> Float[Array, " h"]:
    """r_t + γ_t v_t for every head; where γ_t is 0 the value is ignored.

    After a termination there may be no allowed action, whose value is -inf, and 0 · -inf is NaN.
    """
    return reward_t + jnp.where(discount_t > 0, discount_t * value_t, 0.0)


def n_step_return(
    reward_t: Float[Array, " k"], discount_t: Float[Array, " k"], ended_t: Bool[Array, " k"]
) -> tuple[Float[Array, ""], Float[Array, ""], Int32[Array, ""]]:
    """Fold a window of k agent steps into one: (return, discount, index of the last one used).

    R = Σ_i (Π_{j<i} γ_j) r_i over the agent steps of the window up to the first one that ended the
    episode; the discount is Π γ_j over the same steps. The window bootstraps from the observation
    after the last of them, so nothing leaks across a reset and no window is discarded.
    """
    before = jnp.cumulative_sum(ended_t.astype(jnp.int32)) - ended_t.astype(jnp.int32)
    same_episode = before == 0
    discounts = jnp.cumulative_prod(jnp.where(same_episode, discount_t, 1.0), include_initial=True)
    total = jnp.sum(jnp.where(same_episode, discounts[:-1] * reward_t, 0.0))
    last = jnp.sum(same_episode.astype(jnp.int32), dtype=jnp.int32) - 1
    return total, discounts[-1], last
