"""The temporal-difference loss of a batch."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pairvdn.acting.policy import tables
from pairvdn.envs import Task
from pairvdn.learning.records import Transition
from pairvdn.learning.targets import td_target
from pairvdn.values import HasMaximiser, Value

Penalty = Callable[[Float[Array, "*shape"]], Float[Array, "*shape"]]


def squared(error: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """δ²."""
    return jnp.square(error)


def huber(error: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """δ² / 2 up to |δ| = 1, then |δ| - 1/2: the gradient of a single error is at most 1."""
    inner = jnp.minimum(jnp.abs(error), 1.0)
    return inner * (jnp.abs(error) - 0.5 * inner)


PENALTIES: dict[str, Penalty] = {"squared": squared, "huber": huber}


class LossParts(eqx.Module):
    """The loss, and statistics of its batch."""

    loss: Float[Array, ""]
    td_error: Float[Array, ""]  # mean |δ|
    greedy_value: Float[Array, ""]  # mean value of the next actions where the episode continues


def td_loss(
    value: Value[Any],
    target: Value[Any],
    batch: Transition,
    *,
    env: Task,
    penalty: Penalty,
    double_q: bool,
) -> tuple[Float[Array, ""], LossParts]:
    """Mean penalty of δ = r_t + γ_t max_a Q⁻(x_t, a) - Q(x_tm1, a_tm1) over batch and heads.

    Q⁻ is the target network (the paper's section 3.2). With `double_q` the online network
    chooses a and the target network evaluates it (van Hasselt et al., 2016).
    """

    def networks(model: Value[Any], observation: Array, state: Array) -> Any:
        # A vmap of its own, so that networks see the whole batch as one matrix product.
        return jax.vmap(lambda o, s: tables(env, model, o, s))(observation, state)

    tables_t = networks(target, batch.observation_t, batch.state_t)
    if double_q:
        online_t = networks(value, batch.observation_t, batch.state_t)
        actions_t, _ = jax.vmap(value.greedy)(online_t, batch.mask_t)
        value_t = jax.vmap(target.evaluate)(tables_t, actions_t)
    else:
        _, value_t = jax.vmap(target.greedy)(tables_t, batch.mask_t)
    greedy_value = _mean_where(batch.discount_t > 0, value_t)
    wanted = jax.lax.stop_gradient(jax.vmap(td_target)(batch.reward_t, batch.discount_t, value_t))

    tables_tm1 = networks(value, batch.observation_tm1, batch.state_tm1)
    error = wanted - jax.vmap(value.evaluate)(tables_tm1, batch.actions_tm1)
    loss = jnp.mean(penalty(error))
    return loss, LossParts(loss, jnp.mean(jnp.abs(error)), greedy_value)


def maximisation_gap(value: Value[Any], batch: Transition, *, env: Task) -> Float[Array, ""] | None:
    """Mean upper bound of max Q less the value of the greedy actions; None where they are exact."""
    if not isinstance(value, HasMaximiser) or value.maximiser.exact:
        return None
    seen = jax.vmap(lambda o, s: tables(env, value, o, s))(batch.observation_t, batch.state_t)
    _, greedy = jax.vmap(value.greedy)(seen, batch.mask_t)
    gap = jax.vmap(value.bound)(seen, batch.mask_t)[:, None] - greedy
    return _mean_where((batch.discount_t > 0) & jnp.isfinite(gap[:, 0]), gap)


def _mean_where(
    chosen: Bool[Array, " batch"], values: Float[Array, "batch heads"]
) -> Float[Array, ""]:
    """The mean over the chosen rows; 0 if there are none."""
    count = jnp.maximum(1.0, jnp.sum(chosen, dtype=values.dtype))
    return jnp.sum(jnp.mean(jnp.where(chosen[:, None], values, 0.0), axis=1)) / count
