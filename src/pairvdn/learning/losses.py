"""The losses of a batch: temporal-difference errors of transitions or of sequences."""

import abc
from functools import partial
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pairvdn.acting.policy import tables
from pairvdn.checks import require_above, require_one_of
from pairvdn.envs import Task
from pairvdn.learning.records import Transition
from pairvdn.learning.targets import rescaled, td_target, unscaled
from pairvdn.values import Value, penalty, second_opinion, with_mask

Batch = TypeVar("Batch")

PENALTIES = ("squared", "huber")


def squared(error: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """δ²."""
    return jnp.square(error)


def huber(error: Float[Array, "*shape"], delta: float = 1.0) -> Float[Array, "*shape"]:
    """δ² / 2 up to |δ| = d, then d (|δ| - d / 2): the gradient of a single error is at most d."""
    inner = jnp.minimum(jnp.abs(error), delta)
    return inner * (jnp.abs(error) - 0.5 * inner)


class ErrorRule(eqx.Module):
    """How errors are punished, and the scale in which values are learned.

    With `rescale` a value predicts h(Q), where h is `rescaled`: a target is h(r + γ h⁻¹(v)).
    """

    penalty: str = eqx.field(default="squared", static=True)
    huber_delta: float = eqx.field(default=1.0, static=True)
    rescale: bool = eqx.field(default=False, static=True)

    def __check_init__(self) -> None:
        require_one_of(PENALTIES, loss=self.penalty)
        require_above(0, huber_delta=self.huber_delta)

    def punish(self, error: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        """The penalty of each error."""
        return huber(error, self.huber_delta) if self.penalty == "huber" else squared(error)

    def raw(self, value: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        """A prediction in the scale of rewards."""
        return unscaled(value) if self.rescale else value

    def learned(self, target: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        """A target in the scale of predictions."""
        return rescaled(target) if self.rescale else target


class LossParts(eqx.Module):
    """The loss, and statistics of its batch."""

    loss: Float[Array, ""]
    td_error: Float[Array, ""]  # mean |δ|
    greedy_value: Float[Array, ""]  # mean value of the next actions where the episode continues


class Loss(eqx.Module, Generic[Batch]):
    """A loss of batches of one kind."""

    @abc.abstractmethod
    def __call__(
        self, value: Value[Any], target: Value[Any] | None, batch: Batch
    ) -> tuple[Float[Array, ""], LossParts]:
        """The loss of a batch; `target` is the target network, if there is one."""

    @abc.abstractmethod
    def prepare(self, value: Value[Any], block: Any) -> Batch:
        """Items to update on from a block that is not stored, by the value before the updates."""


class TransitionLoss(Loss[Transition]):
    """Mean penalty of δ = r_t + γ_t max_a Q⁻(x_t, a) - Q(x_tm1, a_tm1) over batch and heads.

    Q⁻ is the target network (the paper's section 3.2). With `double_q` the online network
    chooses a and the target network evaluates it (van Hasselt et al., 2016).
    """

    env: Task
    rule: ErrorRule = ErrorRule()
    double_q: bool = eqx.field(default=False, static=True)

    def __call__(
        self, value: Value[Any], target: Value[Any] | None, batch: Transition
    ) -> tuple[Float[Array, ""], LossParts]:
        """The loss of a batch of transitions; without a target network, Q⁻ is Q."""

        def networks(model: Value[Any], observation: Array, state: Array, mask: Any) -> Any:
            # A vmap of its own, so that networks see the whole batch as one matrix product.
            seen = jax.vmap(lambda o, s: tables(self.env, model, o, s))(observation, state)
            return jax.vmap(partial(with_mask, model))(seen, mask)

        target = value if target is None else target
        after = (batch.observation_t, batch.state_t, batch.mask_t)
        tables_t = networks(target, *after)
        if self.double_q:
            online_t = networks(value, *after)
            actions_t, _ = jax.vmap(value.greedy)(online_t, batch.mask_t)
            value_t = jax.vmap(partial(second_opinion, target))(tables_t, actions_t, online_t)
        else:
            _, value_t = jax.vmap(target.greedy)(tables_t, batch.mask_t)
        value_t = self.rule.raw(value_t)
        greedy_value = mean_where(batch.discount_t > 0, value_t)
        wanted = jax.vmap(td_target)(batch.reward_t, batch.discount_t, value_t)
        wanted = jax.lax.stop_gradient(self.rule.learned(wanted))

        tables_tm1 = networks(value, batch.observation_tm1, batch.state_tm1, batch.mask_tm1)
        error = wanted - jax.vmap(value.evaluate)(tables_tm1, batch.actions_tm1)
        loss = jnp.mean(self.rule.punish(error))
        loss = loss + jnp.mean(jax.vmap(partial(penalty, value))(tables_tm1))
        return loss, LossParts(loss, jnp.mean(jnp.abs(error)), greedy_value)

    def prepare(self, value: Value[Any], block: Transition) -> Transition:
        """Transitions need no preparation."""
        del value
        return block


def mean_where(
    chosen: Bool[Array, "*batch"], values: Float[Array, "*batch heads"]
) -> Float[Array, ""]:
    """The mean over the chosen rows; 0 if there are none."""
    count = jnp.maximum(1.0, jnp.sum(chosen, dtype=values.dtype))
    return jnp.sum(jnp.mean(jnp.where(chosen[..., None], values, 0.0), axis=-1)) / count
