"""Whole episodes of a fixed policy in environments that live on the host."""

import collections
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, UInt32

from pairvdn.acting.exploration import random_actions
from pairvdn.acting.policy import greedy_actions
from pairvdn.checks import require_at_least
from pairvdn.envs import HostCopy, HostEnvironment, HostStep
from pairvdn.evaluation.rollout import Episodes
from pairvdn.learning.players import batched
from pairvdn.types import TimeStep
from pairvdn.values import Value

SIDE_BY_SIDE = 16  # copies that act on one call of the policy
# For all copies together: keys [copies], time steps [copies] -> actions [copies, n].
Act = Callable[[UInt32[np.ndarray, "copies 2"], TimeStep], Int32[Array, "copies n"]]


class Stage:
    """Copies of an environment to play episodes on; made once, used as often as wanted."""

    def __init__(self, env: HostEnvironment, num_episodes: int) -> None:
        require_at_least(1, num_episodes=num_episodes)
        self.env = env
        self.num_episodes = num_episodes
        self.copies = [env.copy() for _ in range(min(num_episodes, SIDE_BY_SIDE))]

    def play_greedy(
        self,
        value: Value[Any],
        *,
        seed: Sequence[int],
        action_repeat: int = 1,
        moments: tuple[int, ...] = (),
    ) -> Episodes:
        """Episodes in which the agents do what `value` thinks best."""

        def act(keys: Any, timestep: TimeStep) -> Int32[Array, "copies n"]:
            return _greedy(self.env, value, timestep)

        return self._play(act, seed, action_repeat, moments)

    def play_random(self, *, seed: Sequence[int], moments: tuple[int, ...] = ()) -> Episodes:
        """Episodes of uniformly random allowed actions."""
        return self._play(lambda keys, timestep: _random(keys, timestep.mask), seed, 1, moments)

    def _play(
        self, act: Act, seed: Sequence[int], action_repeat: int, moments: tuple[int, ...]
    ) -> Episodes:
        """Play all episodes; a copy whose episode ends takes the next that waits.

        The seed decides those of all episodes, and the keys of the policy.
        """
        rng = np.random.default_rng(seed)
        waiting = collections.deque(enumerate(rng.integers(2**31, size=self.num_episodes).tolist()))
        tally = _Tally(self.num_episodes, moments)
        seats = [_Seat(copy, *waiting.popleft()) for copy in self.copies]
        while any(seat.playing for seat in seats):
            if any(seat.playing and seat.steps % action_repeat == 0 for seat in seats):
                keys = rng.integers(2**32, size=(len(seats), 2), dtype=np.uint32)
                chosen = np.asarray(act(keys, batched([seat.now for seat in seats])))
            for place, seat in enumerate(seats):
                if not seat.playing:
                    continue
                if seat.steps % action_repeat == 0:
                    seat.actions = chosen[place]
                ended = seat.step()
                tally.count(seat.episode, seat.steps, float(seat.now.reward))
                if ended and waiting:
                    seats[place] = _Seat(seat.copy, *waiting.popleft())
        return tally.episodes()


class _Seat:
    """One copy, the episode that it plays, and how far it is."""

    def __init__(self, copy: HostCopy, episode: int, seed: int) -> None:
        self.copy, self.episode = copy, episode
        self.now: HostStep = copy.reset(seed)
        self.actions: Int32[np.ndarray, " n"] = np.zeros(len(self.now.mask), np.int32)
        self.steps = 0
        self.playing = True

    def step(self) -> bool:
        """Do what was chosen, and say whether that was the end."""
        self.now = self.copy.step(self.actions)
        self.steps += 1
        self.playing = not (self.now.terminated or self.now.truncated)
        return not self.playing


class _Tally:
    """Returns and lengths of all episodes, and the returns at some moments."""

    def __init__(self, num_episodes: int, moments: tuple[int, ...]) -> None:
        self._returns = np.zeros(num_episodes)
        self._lengths = np.zeros(num_episodes, np.int32)
        self._moments = np.array(moments, np.int32)
        self._noted = np.zeros((len(moments), num_episodes))

    def count(self, episode: int, step: int, reward: float) -> None:
        """One more step; moments that are still to come, or just now, hold the present number."""
        self._returns[episode] += reward
        self._lengths[episode] = step
        self._noted[self._moments >= step, episode] = self._returns[episode]

    def episodes(self) -> Episodes:
        """All that was counted."""
        return Episodes(
            jnp.asarray(self._returns, jnp.float32),
            jnp.asarray(self._lengths),
            {"return": jnp.asarray(self._noted, jnp.float32)},
            {},
        )


@eqx.filter_jit
def _greedy(
    env: HostEnvironment, value: Value[Any], timestep: TimeStep
) -> Int32[Array, "copies n"]:
    return jax.vmap(lambda one: greedy_actions(env, value, one))(timestep)


_random = jax.jit(jax.vmap(random_actions))
