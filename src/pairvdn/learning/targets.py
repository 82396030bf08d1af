"""Targets of temporal-difference learning, for one example or one sequence."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

# The slope that `rescaled` keeps for large values, which makes it invertible in float32.
SLOPE = 1e-3


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


def n_step_targets(
    reward_t: Float[Array, " k"],
    discount_t: Float[Array, " k"],
    value_t: Float[Array, "k h"],
    acted_t: Bool[Array, " k"],
    n_step: int,
) -> Float[Array, "k h"]:
    """The targets of k consecutive agent steps, each over `n_step` steps or up to the last of them.

    G¹_t = r_t + γ_t v_t and Gⁿ_t = r_t + γ_t Gⁿ⁻¹_(t+1). As everywhere, v_t belongs to the time
    after step t. If no step was taken there (not `acted_t`), v_t replaces G_(t+1).
    """

    def backup(_: Array, targets: Float[Array, "k h"]) -> Float[Array, "k h"]:
        following = jnp.concatenate([targets[1:], value_t[-1:]])
        following = jnp.where(acted_t[:, None], following, value_t)
        return jax.vmap(td_target)(reward_t, discount_t, following)

    one_step = jax.vmap(td_target)(reward_t, discount_t, value_t)
    targets: Array = jax.lax.fori_loop(0, n_step - 1, backup, one_step)
    return targets


def lambda_targets(
    reward_t: Float[Array, " k"],
    discount_t: Float[Array, " k"],
    value_t: Float[Array, "k h"],
    acted_t: Bool[Array, " k"],
    trace_decay: float,
) -> Float[Array, "k h"]:
    """The λ-returns of k consecutive agent steps, computed backwards: Peng's Q(λ).

    G_t = r_t + γ_t ((1 - λ) v_t + λ G_(t+1)). As everywhere, v_t belongs to the time after step t.
    If no step was taken there (not `acted_t`), and after the last step, v_t replaces G_(t+1).
    λ = 0 gives one-step targets, λ = 1 Monte-Carlo returns.
    """

    def backup(
        following: Float[Array, " h"], step: tuple[Array, Array, Array, Array]
    ) -> tuple[Float[Array, " h"], Float[Array, " h"]]:
        reward, discount, value, acted = step
        mixed = jnp.where(acted, (1 - trace_decay) * value + trace_decay * following, value)
        target = td_target(reward, discount, mixed)
        return target, target

    steps = (reward_t, discount_t, value_t, acted_t)
    _, targets = jax.lax.scan(backup, value_t[-1], steps, reverse=True)
    return targets


def rescaled(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """h(x) = sign(x) (√(|x| + 1) - 1) + ε x: large values shrink to about their root.

    Pohlen et al., arXiv 1805.11593; used by R2D2. Written without a difference of nearly equal
    numbers.
    """
    return x / (jnp.sqrt(jnp.abs(x) + 1) + 1) + SLOPE * x


def unscaled(y: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """h⁻¹(y), the inverse of `rescaled`.

    With u = √(|x| + 1) - 1, h is quadratic: ε u² + (1 + 2ε) u = |y|, and |x| = u (u + 2).
    """
    b = 1 + 2 * SLOPE
    u = 2 * jnp.abs(y) / (b + jnp.sqrt(b**2 + 4 * SLOPE * jnp.abs(y)))
    return jnp.sign(y) * u * (u + 2)
