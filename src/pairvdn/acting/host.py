"""Live copies of a host environment, each playing one episode after another."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int32, PyTree

from pairvdn.acting.policy import Actor
from pairvdn.acting.repeat import Totals, repeated
from pairvdn.envs import HostCopy, HostStep
from pairvdn.types import TimeStep


class HostAgentStep(NamedTuple):
    """An agent step of one copy; `restarted` if the next episode has already started."""

    before: HostStep
    after: HostStep
    totals: Totals
    ended: bool  # by this step
    restarted: bool


class HostCopies:
    """Copies that reset automatically when an episode ends.

    With `keeps_final` a truncated episode stays at its final observation for one agent step, in
    which nothing happens, and is reset then.
    """

    def __init__(
        self,
        copies: Sequence[HostCopy],
        *,
        action_repeat: int,
        discount: float,
        keeps_final: bool = False,
    ) -> None:
        self._copies = copies
        self._action_repeat = action_repeat
        self._discount = discount
        self._keeps_final = keeps_final
        self._seeds: list[np.random.Generator] = []
        self._now: list[HostStep] = []

    def restart(self, seeds: Sequence[int]) -> None:
        """Start an episode in every copy; its seed determines all later episodes of that copy."""
        self._seeds = [np.random.default_rng(seed) for seed in seeds]
        self._now = [self._reset(index) for index in range(len(self._copies))]

    def timestep(self) -> TimeStep:
        """The current time steps of all copies, batched."""
        return batched(self._now)

    def act(self, actions: Int32[np.ndarray, "envs n"]) -> list[HostAgentStep]:
        """One agent step in every copy, sequentially."""
        return [self._act(index, row) for index, row in enumerate(actions)]

    def _act(self, index: int, actions: Int32[np.ndarray, " n"]) -> HostAgentStep:
        before, copy = self._now[index], self._copies[index]
        if self._keeps_final and before.truncated:
            self._now[index] = self._reset(index)
            return HostAgentStep(before, before, Totals(0.0, 1.0, 0.0, 0), False, True)
        steps = repeated(lambda: copy.step(actions), self._action_repeat, discount=self._discount)
        *_, (after, totals) = steps
        ended = bool(after.terminated or after.truncated)
        restarts = bool(after.terminated) if self._keeps_final else ended
        self._now[index] = self._reset(index) if restarts else after
        return HostAgentStep(before, after, totals, ended, restarts)

    def _reset(self, index: int) -> HostStep:
        return self._copies[index].reset(int(self._seeds[index].integers(2**31)))


def reset_carries(
    actor: Actor, carry: PyTree[Any], ended: Bool[np.ndarray, " envs"], keys: Any
) -> PyTree[Any]:
    """Replace the carry by a fresh one where an episode ended."""
    if not ended.any() or not jax.tree.leaves(carry):
        return carry

    def chosen(fresh: Any, old: Any) -> np.ndarray:
        where = ended.reshape(-1, *[1] * (np.ndim(old) - 1))
        return np.where(where, np.asarray(fresh), np.asarray(old))

    return jax.tree.map(chosen, actor.init(keys), carry)


def batched(steps: Sequence[HostStep]) -> TimeStep:
    """Stack the time steps of several copies along a leading axis."""
    fields = [np.stack(field) for field in zip(*steps, strict=True)]
    timestep: TimeStep = jax.tree.unflatten(_structure(), fields)
    return timestep


@functools.cache
def _structure() -> Any:
    """The tree structure of a `TimeStep`, whose constructor takes single examples only."""
    scalar, vector, matrix = jnp.zeros(()), jnp.zeros(1), jnp.zeros((1, 1))
    flag, mask = jnp.zeros((), bool), jnp.zeros((1, 1), bool)
    return jax.tree.structure(TimeStep(matrix, vector, mask, scalar, vector, flag, flag))
