"""Live copies of a host environment, side by side, each playing one episode after the other."""

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
    """An agent step of one copy. If the episode ended, the next one has already started."""

    before: HostStep
    after: HostStep
    totals: Totals
    ended: bool


class HostCopies:
    """Copies that start their next episode by themselves."""

    def __init__(self, copies: Sequence[HostCopy], *, action_repeat: int, discount: float) -> None:
        self._copies = copies
        self._action_repeat = action_repeat
        self._discount = discount
        self._seeds: list[np.random.Generator] = []
        self._now: list[HostStep] = []

    def restart(self, seeds: Sequence[int]) -> None:
        """Start an episode in every copy; its seed decides all later episodes of the copy too."""
        self._seeds = [np.random.default_rng(seed) for seed in seeds]
        self._now = [self._reset(place) for place in range(len(self._copies))]

    def timestep(self) -> TimeStep:
        """The present time steps of all copies, batched."""
        return batched(self._now)

    def act(self, actions: Int32[np.ndarray, "envs n"]) -> list[HostAgentStep]:
        """One agent step in every copy, one copy after the other."""
        return [self._act(place, actions[place]) for place in range(len(self._copies))]

    def _act(self, place: int, actions: Int32[np.ndarray, " n"]) -> HostAgentStep:
        before, copy = self._now[place], self._copies[place]
        steps = repeated(lambda: copy.step(actions), self._action_repeat, discount=self._discount)
        *_, (after, totals) = steps
        ended = bool(after.terminated or after.truncated)
        self._now[place] = self._reset(place) if ended else after
        return HostAgentStep(before, after, totals, ended)

    def _reset(self, place: int) -> HostStep:
        return self._copies[place].reset(int(self._seeds[place].integers(2**31)))


def reset_carries(
    actor: Actor, carry: PyTree[Any], ended: Bool[np.ndarray, " envs"], keys: Any
) -> PyTree[Any]:
    """The carries with fresh ones where an episode ended."""
    if not ended.any() or not jax.tree.leaves(carry):
        return carry

    def chosen(fresh: Any, old: Any) -> np.ndarray:
        where = ended.reshape(-1, *[1] * (np.ndim(old) - 1))
        return np.where(where, np.asarray(fresh), np.asarray(old))

    return jax.tree.map(chosen, actor.init(keys), carry)


def batched(steps: Sequence[HostStep]) -> TimeStep:
    """Time steps of several copies as one record of arrays with the copies in front."""
    fields = [np.stack(field) for field in zip(*steps, strict=True)]
    together: TimeStep = jax.tree.unflatten(_structure(), fields)
    return together


@functools.cache
def _structure() -> Any:
    """The tree structure of a `TimeStep`, whose own constructor takes single examples only."""
    number, flag = jnp.zeros(()), jnp.zeros((), bool)
    line, grid = jnp.zeros(1), jnp.zeros((1, 1))
    one = TimeStep(grid, line, jnp.zeros((1, 1), bool), number, line, flag, flag)
    return jax.tree.structure(one)
