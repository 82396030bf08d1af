"""Recorders: what a collector keeps of a stream of agent steps, and the items cut from it."""

import abc
from typing import Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32, PyTree

from pairvdn.acting.repeat import Totals
from pairvdn.checks import require_within
from pairvdn.learning.records import Frame, Sequence, Transition
from pairvdn.learning.targets import n_step_return
from pairvdn.types import TimeStep

MOST_STEPS = 1_000_000  # of an item; more overflow the indices of arrays, or the memory

Record = TypeVar("Record")
Item = TypeVar("Item")


class Recorder(eqx.Module, Generic[Record, Item]):
    """Turns streams of agent steps into items for a replay.

    A stream is a sequence of records, one for each agent step of one environment. Items are cut
    from it every `stride` records, and each covers `stride` + `overlap` of them.
    """

    # Whether a truncated episode has one record more, for its final observation.
    keeps_final: eqx.AbstractClassVar[bool]

    @property
    @abc.abstractmethod
    def stride(self) -> int:
        """Agent steps from one item to the next."""

    @property
    @abc.abstractmethod
    def overlap(self) -> int:
        """Records that an item shares with later ones."""

    @abc.abstractmethod
    def record(
        self,
        carry: PyTree[Array],
        before: TimeStep,
        actions: Int32[Array, " n"],
        after: TimeStep,
        totals: Totals,
    ) -> Record:
        """The record of one agent step in one environment; `carry` is that before the choice."""

    @abc.abstractmethod
    def items(self, records: Record, length: int) -> Item:
        """Cut [length + overlap, envs] records into items, oldest first; `length` / stride each."""

    @abc.abstractmethod
    def cut(self, pending: Record) -> Record:
        """The pending records [overlap, envs] of streams that were cut off, as if truncated."""


def is_final(timestep: TimeStep) -> Bool[Array, ""]:
    """Whether this is the final observation of a truncated episode, which still has a value."""
    return timestep.truncated & ~timestep.terminated


class AgentStep(eqx.Module):
    """The transition of one agent step, and whether its episode ended there, for any reason."""

    transition: Transition
    ended: Bool[Array, ""]


class Windows(Recorder[AgentStep, Transition]):
    """Transitions over windows of `n_step` agent steps, cut short where an episode ends.

    With `keeps_mask` they also hold what was allowed before the first step.
    """

    n_step: int = eqx.field(default=1, static=True)
    keeps_mask: bool = eqx.field(default=False, static=True)
    keeps_final = False
    stride = 1

    def __check_init__(self) -> None:
        require_within(1, MOST_STEPS, n_step=self.n_step)

    @property
    def overlap(self) -> int:
        """The windows of this many newest agent steps are not full yet."""
        return self.n_step - 1

    def record(
        self,
        carry: PyTree[Array],
        before: TimeStep,
        actions: Int32[Array, " n"],
        after: TimeStep,
        totals: Totals,
    ) -> AgentStep:
        """The transition of this step; a terminated episode has discount 0."""
        del carry
        transition = Transition(
            observation_tm1=before.observation,
            state_tm1=before.state,
            actions_tm1=actions,
            reward_t=totals.reward,
            discount_t=jnp.where(after.terminated, 0.0, totals.discount),
            observation_t=after.observation,
            state_t=after.state,
            mask_t=after.mask,
            mask_tm1=before.mask if self.keeps_mask else None,
        )
        return AgentStep(transition, after.terminated | after.truncated)

    def items(self, records: AgentStep, length: int) -> Transition:
        """Fold the windows that start at the first `length` agent steps."""
        first = jnp.arange(length, dtype=jnp.int32)
        window = first[:, None] + jnp.arange(self.n_step, dtype=jnp.int32)[None, :]

        def fold(steps: AgentStep) -> Transition:  # of one environment
            each = steps.transition
            rewards, discounts, last = jax.vmap(n_step_return)(
                each.reward_t[window], each.discount_t[window], steps.ended[window]
            )
            end = first + last
            folded: Transition = eqx.tree_at(
                lambda t: (t.reward_t, t.discount_t, t.observation_t, t.state_t, t.mask_t),
                jax.tree.map(lambda leaf: leaf[:length], each),
                (rewards, discounts, each.observation_t[end], each.state_t[end], each.mask_t[end]),
            )
            return folded

        block: Transition = jax.vmap(fold, in_axes=1, out_axes=1)(records)
        return _oldest_first(block)

    def cut(self, pending: AgentStep) -> AgentStep:
        """Windows end with the newest agent step."""
        ended = pending.ended.at[-1:].set(True)
        cut: AgentStep = eqx.tree_at(lambda p: p.ended, pending, ended)
        return cut


class Remembered(eqx.Module):
    """A frame, and the carry with which it was seen."""

    frame: Frame
    carry: PyTree[Array]


class Sequences(Recorder[Remembered, Sequence]):
    """Sequences of `burn_in` + `length` + 1 frames, one every `length` frames.

    Values are learned at `length` frames. Those before refresh the carry, and the last is only
    there to bootstrap from. Episodes may end inside a sequence.
    """

    length: int = eqx.field(static=True)
    burn_in: int = eqx.field(default=0, static=True)
    keeps_final = True

    def __check_init__(self) -> None:
        require_within(1, MOST_STEPS, sequence_length=self.length)
        require_within(0, MOST_STEPS, burn_in=self.burn_in)

    @property
    def stride(self) -> int:
        """One sequence every `length` frames."""
        return self.length

    @property
    def overlap(self) -> int:
        """The burn-in of the next sequence, and the frame to bootstrap from."""
        return self.burn_in + 1

    def record(
        self,
        carry: PyTree[Array],
        before: TimeStep,
        actions: Int32[Array, " n"],
        after: TimeStep,
        totals: Totals,
    ) -> Remembered:
        """The frame before this step; at a final observation no step was taken."""
        final = is_final(before)
        frame = Frame(
            observation=before.observation,
            state=before.state,
            mask=before.mask,
            actions=actions,
            reward_t=totals.reward,
            discount_t=jnp.where(after.terminated, 0.0, totals.discount),
            acted=~final,
            ended=final | after.terminated,
        )
        return Remembered(frame, carry)

    def items(self, records: Remembered, length: int) -> Sequence:
        """The sequences that start at frames 0, stride, 2 stride, ..."""
        starts = self.length * jnp.arange(length // self.length, dtype=jnp.int32)
        times = starts[:, None] + jnp.arange(self.length + self.overlap, dtype=jnp.int32)[None, :]

        def cut(stream: Remembered) -> Sequence:  # of one environment
            return jax.vmap(Sequence)(
                jax.tree.map(lambda leaf: leaf[starts], stream.carry),
                jax.tree.map(lambda leaf: leaf[times], stream.frame),
            )

        block: Sequence = jax.vmap(cut, in_axes=1, out_axes=1)(records)
        return _oldest_first(block)

    def cut(self, pending: Remembered) -> Remembered:
        """The newest frame becomes a final one: the result of its step is lost."""
        frame = pending.frame
        flags = (frame.acted.at[-1:].set(False), frame.ended.at[-1:].set(True))
        cut: Remembered = eqx.tree_at(lambda p: (p.frame.acted, p.frame.ended), pending, flags)
        return cut


def _oldest_first(block: Item) -> Item:
    """[times, envs, ...] as [times * envs, ...]."""
    flat: Item = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), block)
    return flat
