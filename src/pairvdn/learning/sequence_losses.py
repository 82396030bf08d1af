"""Losses of sequences: from a replay with a target network, or from a block that was just played.

A sequence is burned in, which refreshes its carry, and then unrolled over the frames that are
learned and the frame after them. Where an episode ends inside, the carry starts anew and targets
stop.
"""

from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from pairvdn.acting.policy import run_heads
from pairvdn.checks import require_at_least, require_within
from pairvdn.envs import Task
from pairvdn.learning.losses import ErrorRule, Loss, LossParts, mean_where
from pairvdn.learning.records import Frame, Sequence
from pairvdn.learning.targets import lambda_targets, n_step_targets
from pairvdn.values import Value, penalty, second_opinion, with_mask


class Unrolled(NamedTuple):
    """The frames of a sequence after its burn-in, and the tables of a value there."""

    frames: Frame
    tables: Any


def unroll(env: Task, value: Value[Any], sequence: Sequence, burn_in: int) -> Unrolled:
    """Run the networks over a sequence; the carry after the burn-in has no gradient."""

    def encode(carry: PyTree[Array], frames: Frame) -> tuple[Array, PyTree[Array]]:
        return value.encoder.unroll(carry, frames.observation, frames.actions, frames.ended)

    frames, carry = sequence.frames, sequence.carry
    if burn_in:
        first, frames = _slice(frames, 0, burn_in), _slice(frames, burn_in, None)
        carry = jax.lax.stop_gradient(encode(carry, first)[1])
    features, _ = encode(carry, frames)
    heads = jax.vmap(partial(run_heads, env, value))
    seen = heads(features, frames.observation, frames.state)
    return Unrolled(frames, jax.vmap(partial(with_mask, value))(seen, frames.mask))


class ReturnRule(eqx.Module):
    """The returns that are the targets of a sequence: over n steps, or λ-returns."""

    n_step: int = eqx.field(default=1, static=True)
    trace_decay: float | None = eqx.field(default=None, static=True)

    def __check_init__(self) -> None:
        require_at_least(1, n_step=self.n_step)
        if self.trace_decay is not None:
            require_within(0, 1, trace_decay=self.trace_decay)

    def __call__(self, frames: Frame, value_t: Float[Array, "k h"]) -> Float[Array, "k h"]:
        """Targets of the first k of k + 1 frames; `value_t` are the values of the last k."""
        steps = (frames.reward_t[:-1], frames.discount_t[:-1], value_t, frames.acted[1:])
        if self.trace_decay is None:
            return n_step_targets(*steps, self.n_step)
        return lambda_targets(*steps, self.trace_decay)


class SequenceLoss(Loss[Sequence]):
    """Mean penalty of the errors of all steps of replayed sequences.

    R2D2 (Kapturowski et al., "Recurrent experience replay in distributed reinforcement learning",
    2019): the network and its target are both unrolled, each from the stored carry through its own
    burn-in. With `double_q` the network chooses the actions that its target evaluates.
    """

    env: Task
    rule: ErrorRule = ErrorRule()
    returns: ReturnRule = ReturnRule()
    burn_in: int = eqx.field(default=0, static=True)
    double_q: bool = eqx.field(default=False, static=True)

    def __call__(
        self, value: Value[Any], target: Value[Any] | None, batch: Sequence
    ) -> tuple[Float[Array, ""], LossParts]:
        """The loss of a batch of sequences; without a target network it is the value itself."""
        frozen = value if target is None else target
        parts = jax.vmap(lambda one: self._of_one(value, frozen, one))(batch)
        steps = jax.vmap(lambda f: _slice(f, self.burn_in, -1))(batch.frames)
        return _parts(self.rule, steps, *parts)

    def prepare(self, value: Value[Any], block: Sequence) -> Sequence:
        """Sequences need no preparation."""
        del value
        return block

    def _of_one(
        self, value: Value[Any], target: Value[Any], sequence: Sequence
    ) -> tuple[Array, Array, Array, Array]:
        """Predictions, targets, values of the next actions and penalties of one sequence."""
        frames, online = unroll(self.env, value, sequence, self.burn_in)
        _, frozen = unroll(self.env, target, sequence, self.burn_in)
        frozen_t = _slice(frozen, 1, None)
        if self.double_q:
            online_t = _slice(online, 1, None)
            actions_t, _ = jax.vmap(value.greedy)(online_t, frames.mask[1:])
            value_t = jax.vmap(partial(second_opinion, target))(frozen_t, actions_t, online_t)
        else:
            _, value_t = jax.vmap(target.greedy)(frozen_t, frames.mask[1:])
        value_t = self.rule.raw(value_t)
        wanted = self.rule.learned(self.returns(frames, value_t))
        now = _slice(online, 0, -1)
        predicted = jax.vmap(value.evaluate)(now, frames.actions[:-1])
        extra = jax.vmap(partial(penalty, value))(now)
        return predicted, jax.lax.stop_gradient(wanted), value_t, extra


class Labelled(eqx.Module):
    """A sequence without its last frame, with the target of every step after the burn-in."""

    sequence: Sequence
    target: Float[Array, "t h"]
    greedy: Float[Array, "t h"]  # value of the best joint action after the step


class BlockLoss(Loss[Labelled]):
    """Mean penalty of Q - G, with fixed targets G (PQN, Gallici et al., arXiv 2407.04811).

    `prepare` computes G once for a block that was just played: λ-returns of the value before the
    updates, which needs no target network. Values without memory are then updated on single steps
    of all sequences, values with memory on whole sequences.
    """

    env: Task
    rule: ErrorRule = ErrorRule()
    returns: ReturnRule = ReturnRule(trace_decay=0.65)
    burn_in: int = eqx.field(default=0, static=True)

    def prepare(self, value: Value[Any], block: Sequence) -> Labelled:
        """Label all steps of the block."""
        labelled: Labelled = jax.vmap(lambda sequence: self._label(value, sequence))(block)
        if value.encoder.has_memory:
            return labelled
        # Every step is a sequence of its own: [rows, time, ...] -> [rows * time, 1, ...].
        single: Labelled = jax.tree.map(lambda x: x.reshape(-1, 1, *x.shape[2:]), labelled)
        return single

    def __call__(
        self, value: Value[Any], target: Value[Any] | None, batch: Labelled
    ) -> tuple[Float[Array, ""], LossParts]:
        """The loss of a batch of labelled sequences."""
        del target

        def predict(sequence: Sequence) -> tuple[Float[Array, "t h"], Float[Array, " t"]]:
            frames, now = unroll(self.env, value, sequence, self.burn_in)
            extra = jax.vmap(partial(penalty, value))(now)
            return jax.vmap(value.evaluate)(now, frames.actions), extra

        predicted, extra = jax.vmap(predict)(batch.sequence)
        steps = jax.vmap(lambda f: _slice(f, self.burn_in, None))(batch.sequence.frames)
        return _parts(self.rule, steps, predicted, batch.target, batch.greedy, extra)

    def _label(self, value: Value[Any], sequence: Sequence) -> Labelled:
        frames, now = unroll(self.env, value, sequence, self.burn_in)
        _, value_t = jax.vmap(value.greedy)(_slice(now, 1, None), frames.mask[1:])
        greedy = self.rule.raw(value_t)
        wanted = self.rule.learned(self.returns(frames, greedy))
        shorter = Sequence(sequence.carry, _slice(sequence.frames, 0, -1))
        return Labelled(shorter, jax.lax.stop_gradient(wanted), greedy)


def _parts(
    rule: ErrorRule,
    steps: Frame,
    predicted: Float[Array, "b t h"],
    wanted: Float[Array, "b t h"],
    greedy: Float[Array, "b t h"],
    extra: Float[Array, "b t"],
) -> tuple[Float[Array, ""], LossParts]:
    """The means over the steps that were taken; `extra` is added to the loss."""
    error = wanted - predicted
    loss = mean_where(steps.acted, rule.punish(error)) + mean_where(steps.acted, extra[..., None])
    td_error = mean_where(steps.acted, jnp.abs(error))
    greedy_value = mean_where(steps.acted & (steps.discount_t > 0), greedy)
    return loss, LossParts(loss, td_error, greedy_value)


def _slice(tree: Any, start: int, stop: int | None) -> Any:
    return jax.tree.map(lambda leaf: leaf[start:stop], tree)
