"""Live copies of a host environment, side by side, each playing one episode after the other."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int32

from pairvdn.envs import HostCopy, HostStep
from pairvdn.learning.collect import AgentStep
from pairvdn.types import TimeStep


class Players:
    """Copies that start their next episode by themselves.

    `mark` says up to which collection they have come; see `HostCollecting`.
    """

    def __init__(self, copies: Sequence[HostCopy], *, action_repeat: int, discount: float) -> None:
        self._copies = copies
        self._action_hold = action_repeat
        self._discount = discount
        self._seeds: list[np.random.Generator] = []
        self._now: list[HostStep] = []
        self.mark: tuple[int, ...] = ()

    def restart(self, seeds: Sequence[int]) -> None:
        """Begin a new episode in every copy; its seed decides all that follow, too."""
        self._seeds = [np.random.default_rng(seed) for seed in seeds]
        self._now = [self._reset(place) for place in range(len(self._copies))]

    def timestep(self) -> TimeStep:
        """What all copies show now."""
        return batched(self._now)

    def decide(
        self, actions: Int32[np.ndarray, "envs n"], into: AgentStep
    ) -> tuple[int, Float[np.ndarray, " envs"], Bool[np.ndarray, " envs"]]:
        """Let every copy hold its actions, write what came of it `into` arrays [envs, ...].

        Returns how many steps were taken in all, and for each copy the undiscounted reward and
        whether its episode ended; the next one has then begun. The rules are those of `hold`.
        """
        steps, gained = 0, np.zeros(len(self._copies), np.float32)
        row = into.transition
        for place, copy in enumerate(self._copies):
            now = self._now[place]
            row.observation_tm1[place], row.state_tm1[place] = now.observation, now.state
            row.actions_tm1[place] = actions[place]
            reward, discount, ended = 0.0, 1.0, False
            for _ in range(self._action_hold):
                now = copy.step(actions[place])
                reward += discount * float(now.reward)
                discount *= self._discount
                gained[place] += now.reward
                steps += 1
                ended = bool(now.terminated or now.truncated)
                if ended:
                    break
            row.reward_t[place] = reward
            row.discount_t[place] = 0.0 if now.terminated else discount
            row.observation_t[place], row.state_t[place] = now.observation, now.state
            row.mask_t[place] = now.mask
            into.ended[place] = ended
            self._now[place] = self._reset(place) if ended else now
        return steps, gained, np.array(into.ended)

    def _reset(self, place: int) -> HostStep:
        return self._copies[place].reset(int(self._seeds[place].integers(2**31)))


def batched(steps: Sequence[HostStep]) -> TimeStep:
    """What several copies tell as one record of arrays with the copies as their leading axis."""
    fields = [np.stack(field) for field in zip(*steps, strict=True)]
    together: TimeStep = jax.tree.unflatten(_structure(), fields)
    return together


@functools.cache
def _structure() -> Any:
    """How a `TimeStep` is put together; its own constructor takes arrays of one example only."""
    number, flag = jnp.zeros(()), jnp.zeros((), bool)
    line, grid = jnp.zeros(1), jnp.zeros((1, 1))
    one = TimeStep(grid, line, jnp.zeros((1, 1), bool), number, line, flag, flag)
    return jax.tree.structure(one)
