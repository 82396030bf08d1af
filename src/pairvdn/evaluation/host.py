"""Episodes of a fixed policy in environments on the host."""

import collections
from collections.abc import Sequence
from functools import partial
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, PyTree

from pairvdn.acting.host import batched, reset_carries
from pairvdn.acting.policy import Actor, Policy, side_by_side
from pairvdn.acting.repeat import repeated
from pairvdn.checks import require_at_least
from pairvdn.envs import HostCopy, HostEnvironment, HostStep
from pairvdn.evaluation.episodes import Episodes
from pairvdn.types import TimeStep

SIDE_BY_SIDE = 16  # copies per call of the policy


class HostEpisodes:
    """Plays episodes in live copies of an environment, which are made once and reused."""

    def __init__(self, env: HostEnvironment, num_episodes: int) -> None:
        require_at_least(1, num_episodes=num_episodes)
        self.env = env
        self.num_episodes = num_episodes
        self.copies = [env.copy() for _ in range(min(num_episodes, SIDE_BY_SIDE))]

    def play(
        self,
        policy: Policy,
        *,
        seed: Sequence[int],
        action_repeat: int = 1,
        moments: tuple[int, ...] = (),
    ) -> Episodes:
        """Play all episodes; a copy whose episode ends starts the next one.

        The seed determines the seeds of all episodes and the keys of the policy.
        """
        rng, seeds = episode_seeds(seed, self.num_episodes)
        waiting = collections.deque(enumerate(seeds))
        tally = _Tally(self.num_episodes, moments)
        seats = [_Seat(copy, *waiting.popleft()) for copy in self.copies]
        actor = _compiled(policy)
        carry = actor.init(_keys(rng.spawn(1)[0], len(seats)))  # does not advance `rng`
        while any(seat.playing for seat in seats):
            keys = _keys(rng, len(seats))
            chosen, carry = actor.act(keys, carry, batched([seat.now for seat in seats]))
            actions = np.asarray(chosen)
            ended = np.zeros(len(seats), bool)
            for index, seat in enumerate(seats):
                if seat.playing:
                    seat.act(actions[index], action_repeat, tally)
                    ended[index] = not seat.playing
                if ended[index] and waiting:
                    seats[index] = _Seat(seat.copy, *waiting.popleft())
            carry = reset_carries(actor, carry, ended, keys)
        return tally.episodes()


def episode_seeds(seed: Sequence[int], episodes: int) -> tuple[np.random.Generator, list[int]]:
    """The seed of each episode, and the generator that drew them."""
    rng = np.random.default_rng(seed)
    return rng, rng.integers(2**31, size=episodes).tolist()


def _keys(rng: np.random.Generator, count: int) -> Any:
    return rng.integers(2**32, size=(count, 2), dtype=np.uint32)


def _compiled(policy: Policy) -> Actor:
    return Actor(partial(_init, policy), partial(_act, policy))


@eqx.filter_jit
def _init(policy: Policy, keys: Array) -> PyTree[Array]:
    return side_by_side(policy).init(keys)


@eqx.filter_jit
def _act(
    policy: Policy, keys: Array, carry: PyTree[Array], timestep: TimeStep
) -> tuple[Int32[Array, "copies n"], PyTree[Array]]:
    return side_by_side(policy).act(keys, carry, timestep)


class _Seat:
    """One copy, the episode that it plays, and its progress."""

    def __init__(self, copy: HostCopy, episode: int, seed: int) -> None:
        self.copy, self.episode = copy, episode
        self.now: HostStep = copy.reset(seed)
        self.steps = 0
        self.playing = True

    def act(self, actions: Int32[np.ndarray, " n"], action_repeat: int, tally: "_Tally") -> None:
        """One agent step."""
        for now, _ in repeated(lambda: self.copy.step(actions), action_repeat):
            self.now = now
            self.steps += 1
            tally.count(self.episode, self.steps, float(now.reward))
        self.playing = not (self.now.terminated or self.now.truncated)


class _Tally:
    """Returns and lengths of all episodes, and the returns at some moments."""

    def __init__(self, num_episodes: int, moments: tuple[int, ...]) -> None:
        self._returns = np.zeros(num_episodes)
        self._lengths = np.zeros(num_episodes, np.int32)
        self._moments = np.array(moments, np.int32)
        self._noted = np.zeros((len(moments), num_episodes))

    def count(self, episode: int, step: int, reward: float) -> None:
        """Add a step; future moments hold the current return."""
        self._returns[episode] += reward
        self._lengths[episode] = step
        self._noted[self._moments >= step, episode] = self._returns[episode]

    def episodes(self) -> Episodes:
        """The sums of all episodes."""
        return Episodes(
            jnp.asarray(self._returns, jnp.float32),
            jnp.asarray(self._lengths),
            {"return": jnp.asarray(self._noted, jnp.float32)},
            {},
        )
