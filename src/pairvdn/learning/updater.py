"""Gradient steps on batches, and the target network that follows."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Int32, PyTree

from pairvdn.checks import require_above, require_at_least, require_within
from pairvdn.learning import divergence
from pairvdn.learning.devices import ONE, Devices
from pairvdn.learning.divergence import Divergence
from pairvdn.learning.losses import Loss, LossParts
from pairvdn.learning.optimisers import DecayingOptimiser, LinearDecay
from pairvdn.learning.replay import Minibatches, Replay, take
from pairvdn.types import PRNGKey
from pairvdn.values import HasMaximiser, Maximiser, Value


class Learned(eqx.Module):
    """Everything that updates change. `value` and `target` hold only the arrays of a value."""

    value: Value[Any]
    target: Value[Any] | None  # None: learning without a target network
    optimiser: optax.OptState
    updates: Int32[Array, ""]
    divergence: Divergence


class UpdateStats(eqx.Module):
    """Sums over the accepted updates."""

    updates: Int32[Array, ""]
    parts: LossParts

    @staticmethod
    def zero() -> "UpdateStats":
        """Before the first update."""
        return UpdateStats(jnp.int32(0), LossParts(jnp.float32(0), jnp.float32(0), jnp.float32(0)))


class Updater:
    """Updates a value from batches.

    `make_value` builds a value from a keyword `key`. The target network is an exponential average,
    θ⁻ ← c θ⁻ + (1 - c) θ after each update with c = `target_average` (the paper's 0.99), or, if
    `target_period` is given, a copy made every `target_period` updates. If both are None there is
    no target network.
    """

    def __init__(
        self,
        make_value: Callable[..., Value[Any]],
        loss: Loss[Any],
        *,
        optimiser: optax.GradientTransformation,
        gradient_clip: float | None = None,
        target_average: float | None = 0.99,
        target_period: int | None = None,
        divergence_bound: float = 1e9,
    ) -> None:
        require_within(0, 1, target_average=0 if target_average is None else target_average)
        require_at_least(1, target_period=1 if target_period is None else target_period)
        require_above(0, divergence_bound=divergence_bound)
        # The step sizes that `update` takes as an argument, if the optimiser allows that.
        self.decay = optimiser.decay if isinstance(optimiser, DecayingOptimiser) else None
        if gradient_clip is not None:
            require_above(0, gradient_clip=gradient_clip)
            optimiser = optax.chain(optax.clip_by_global_norm(gradient_clip), optimiser)
        self.make_value = make_value
        self.loss = loss
        self.optimiser = optimiser
        self.target_average = target_average
        self.target_period = target_period
        self.divergence_bound = divergence_bound
        # A scan cannot carry the non-array parts of a value, such as activation functions. They are
        # the same for every key and are kept here.
        shape = eqx.filter_eval_shape(make_value, key=jax.random.PRNGKey(0))
        self._rest = eqx.filter(shape, _is_shape, inverse=True)

    def init(self, key: PRNGKey) -> Learned:
        """A fresh value, and a target that is equal to it."""
        value = eqx.filter(self.make_value(key=key), eqx.is_array)
        has_target = (self.target_average, self.target_period) != (None, None)
        return Learned(
            value=value,
            # A copy: a donated state must not hold the same buffer twice.
            target=jax.tree.map(jnp.copy, value) if has_target else None,
            optimiser=self.optimiser.init(eqx.filter(value, eqx.is_inexact_array)),
            updates=jnp.int32(0),
            divergence=divergence.none_yet(),
        )

    def value(self, learned: Learned) -> Value[Any]:
        """The learned value, ready to be called."""
        return self.whole(learned.value)

    def whole(self, arrays: Value[Any]) -> Value[Any]:
        """The arrays of a value combined with its other parts, ready to be called."""
        whole: Value[Any] = eqx.combine(arrays, self._rest)
        return whole

    def prepare(self, learned: Learned, block: PyTree[Array]) -> PyTree[Array]:
        """Items to update on from a block that is not stored."""
        return self.loss.prepare(self.value(learned), block)

    @property
    def maximiser(self) -> Maximiser | None:
        """How best joint actions are found, by methods that maximise over all agents at once."""
        return self._rest.maximiser if isinstance(self._rest, HasMaximiser) else None

    def update(
        self,
        learned: Learned,
        batch: PyTree[Array],
        epoch: Int32[Array, ""],
        devices: Devices = ONE,
        decay: LinearDecay | None = None,
    ) -> tuple[Learned, UpdateStats]:
        """One gradient step; skipped after the first step that would exceed the divergence bound.

        With several devices each has its own batch, and all make the same step along the mean of
        their gradients, which is the gradient of the whole batch.
        """
        target = None if learned.target is None else self.whole(learned.target)
        loss = eqx.filter_value_and_grad(lambda v: self.loss(v, target, batch), has_aux=True)
        (_, parts), gradient = loss(self.whole(learned.value))
        parts, gradient = devices.mean((parts, gradient))
        parameters = eqx.filter(learned.value, eqx.is_inexact_array)
        # Optax's Adam raises a float to an integer, which strict promotion forbids. Strictness is
        # for this package, not for a user's optimiser.
        with jax.numpy_dtype_promotion("standard"):
            steps, optimiser = self.optimiser.update(
                gradient,
                learned.optimiser,
                parameters,
                **({} if decay is None else {"decay": decay}),
            )
        value = eqx.apply_updates(learned.value, steps)
        seen = divergence.observe(
            learned.divergence,
            loss=parts.loss,
            parameter=divergence.largest(value),
            bound=self.divergence_bound,
            epoch=epoch,
            update=learned.updates,
        )
        updates = learned.updates + 1
        new = Learned(value, self._follow(learned.target, value, updates), optimiser, updates, seen)
        keep = ~seen.happened
        kept = eqx.tree_at(lambda tree: tree.divergence, optax.tree.where(keep, new, learned), seen)
        return kept, optax.tree.where(keep, UpdateStats(jnp.int32(1), parts), UpdateStats.zero())

    def learn(
        self,
        learned: Learned,
        replay: Replay[Any],
        minibatches: Minibatches,
        key: PRNGKey,
        epoch: Int32[Array, ""],
        devices: Devices = ONE,
        decay: LinearDecay | None = None,
    ) -> tuple[Learned, UpdateStats]:
        """All updates of one round. The replay is only read: each batch gathers its rows."""
        rows, count = minibatches.rows(key, replay.size, replay.capacity)

        def step(
            index: Int32[Array, ""], carry: tuple[Learned, UpdateStats]
        ) -> tuple[Learned, UpdateStats]:
            learned, sums = carry
            batch = take(replay, rows[index])
            learned, stats = self.update(learned, batch, epoch, devices, decay)
            return learned, jax.tree.map(jnp.add, sums, stats)

        start = (learned, UpdateStats.zero())
        after: tuple[Learned, UpdateStats] = jax.lax.fori_loop(jnp.int32(0), count, step, start)
        return after

    def _follow(
        self, target: Value[Any] | None, value: Value[Any], updates: Int32[Array, ""]
    ) -> Value[Any] | None:
        if target is None:
            return None
        if self.target_period is not None:
            copied: Value[Any] = optax.tree.where(updates % self.target_period == 0, value, target)
            return copied
        assert self.target_average is not None  # else there is no target
        rate = self.target_average

        def average(old: Array, new: Array) -> Array:
            moves = eqx.is_inexact_array(old)  # integers never change
            return rate * old + (1 - rate) * new if moves else old

        averaged: Value[Any] = jax.tree.map(average, target, value)
        return averaged


def _is_shape(leaf: Any) -> bool:
    return isinstance(leaf, jax.ShapeDtypeStruct)
