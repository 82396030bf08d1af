"""Evaluating policies on the device or on the host; the results are NumPy arrays."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from pairvdn.acting.policy import GreedyPolicy, Policy, RandomPolicy
from pairvdn.envs import HostEnvironment, Task
from pairvdn.evaluation.episodes import Episodes, play_episodes
from pairvdn.evaluation.host import HostEpisodes
from pairvdn.values import Value

RANDOM_EPISODES = 30  # as in the paper
GREEDY, RANDOM = 0, 1  # streams of random numbers of one seed
Numbers = Float[np.ndarray, "_"]


class Played(NamedTuple):
    """Episodes of one policy; every array has one number per episode.

    `measures` are by name and moment; `shares` exist only for episodes with something to count.
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
    """Play the greedy policy of `value`. The same arguments give the same numbers."""
    policy = GreedyPolicy(env, value)
    return _play(env, policy, GREEDY, seed, episodes, moments, action_repeat)


def play_random(
    env: Task, *, episodes: int = RANDOM_EPISODES, seed: int, moments: tuple[int, ...] = ()
) -> Played:
    """Play uniformly random allowed actions, drawn at every environment step."""
    return _play(env, RandomPolicy(), RANDOM, seed, episodes, moments)


def _play(
    env: Task,
    policy: Policy,
    stream: int,
    seed: int,
    episodes: int,
    moments: tuple[int, ...],
    action_repeat: int = 1,
) -> Played:
    if isinstance(env, HostEnvironment):
        played = HostEpisodes(env, episodes).play(
            policy, seed=(stream, seed), action_repeat=action_repeat, moments=moments
        )
    else:
        key = jax.random.fold_in(jax.random.key(seed), stream)
        played = _on_device(
            env,
            policy,
            key=key,
            num_episodes=episodes,
            action_repeat=action_repeat,
            moments=moments,
        )
    return _to_numpy(played, moments)


_on_device: Any = eqx.filter_jit(play_episodes)


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
