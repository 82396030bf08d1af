"""Policies played for numbers: whole batches of episodes, compiled once, as NumPy arrays."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from pairvdn.envs import HostEnvironment, Task
from pairvdn.evaluation.host import Stage
from pairvdn.evaluation.rollout import Episodes, greedy_episodes, random_episodes
from pairvdn.values import Value

RANDOM_EPISODES = 30  # as in the paper
GREEDY, RANDOM = 0, 1  # streams of random numbers that a seed gives
Numbers = Float[np.ndarray, "_"]


class Played(NamedTuple):
    """Episodes of one policy; every array has one number per episode.

    `measures` has, for each name, the numbers at each moment; `shares` has a number only for the
    episodes in which there was something to count.
    """

    returns: Numbers
    measures: dict[str, dict[int, Numbers]]
    shares: dict[str, Numbers]


def play_greedy(
    env: Task,
    value: Value[Any],
    *,
    episodes: int,
    seed: int,
    action_repeat: int = 1,
    moments: tuple[int, ...] = (),
) -> Played:
    """Play what `value` thinks best. The same arguments give the same numbers."""
    if isinstance(env, HostEnvironment):
        played = Stage(env, episodes).play_greedy(
            value, seed=(GREEDY, seed), action_repeat=action_repeat, moments=moments
        )
        return _to_numpy(played, moments)
    key = jax.random.fold_in(jax.random.key(seed), GREEDY)
    return _to_numpy(_greedy(env, value, key, episodes, action_repeat, moments), moments)


def play_random(
    env: Task,
    *,
    episodes: int = RANDOM_EPISODES,
    seed: int,
    moments: tuple[int, ...] = (),
) -> Played:
    """Play uniformly random allowed actions, drawn anew in every step."""
    if isinstance(env, HostEnvironment):
        played = Stage(env, episodes).play_random(seed=(RANDOM, seed), moments=moments)
        return _to_numpy(played, moments)
    key = jax.random.fold_in(jax.random.key(seed), RANDOM)
    return _to_numpy(_random(env, key, episodes, moments), moments)


@eqx.filter_jit
def _greedy(
    env: Any,
    value: Value[Any],
    key: Any,
    episodes: int,
    action_repeat: int,
    moments: tuple[int, ...],
) -> Episodes:
    return greedy_episodes(
        env, value, key=key, num_episodes=episodes, action_repeat=action_repeat, moments=moments
    )


@eqx.filter_jit
def _random(env: Any, key: Any, episodes: int, moments: tuple[int, ...]) -> Episodes:
    return random_episodes(env, key=key, num_episodes=episodes, moments=moments)


def _to_numpy(episodes: Episodes, moments: tuple[int, ...]) -> Played:
    def share(part: Any, whole: Any) -> Numbers:
        counted = np.asarray(whole) > 0
        ratio: Numbers = np.asarray(part)[counted] / np.asarray(whole)[counted]
        return ratio

    return Played(
        np.asarray(episodes.returns),
        {
            name: dict(zip(moments, np.asarray(numbers), strict=True))
            for name, numbers in episodes.measures.items()
        },
        {name: share(one.part, one.whole) for name, one in episodes.shares.items()},
    )
