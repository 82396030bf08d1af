"""The environment under test, a few random episodes of it, and comparisons of their arrays."""

import functools
from collections.abc import Callable
from typing import Any, Generic, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32

from pairvdn.envs.base import Environment, State
from pairvdn.types import PRNGKey, TimeStep

NUM_EPISODES = 3
NUM_SAMPLES = 12


class Outcome(NamedTuple):
    """The result of a reset or a step."""

    state: Any
    time_step: TimeStep


class Transition(NamedTuple):
    """A step with its inputs, or many along leading axes."""

    key: PRNGKey
    state: Any
    mask: Bool[Array, "*many n a"]
    actions: Int32[Array, "*many n"]
    outcome: Outcome


class Subject(Generic[State]):
    """Plays the episodes that the rules examine, once and on first use.

    Episodes run for twice `max_steps`, beyond their ends, because `step` must not reset.
    """

    def __init__(self, env: Environment[State]) -> None:
        self.env = env
        self.key = jax.random.key(0)

    @functools.cached_property
    def reset(self) -> Callable[..., Any]:
        """`env.reset`, compiled."""
        return jax.jit(self.env.reset)

    @functools.cached_property
    def step(self) -> Callable[..., Any]:
        """`env.step`, compiled."""
        return jax.jit(self.env.step)

    @property
    def any_actions(self) -> Int32[Array, " n"]:
        """Arbitrary actions, for rules that do not depend on them."""
        return jnp.zeros((self.env.num_agents,), jnp.int32)

    @functools.cached_property
    def start(self) -> Outcome:
        """A reset."""
        return Outcome(*self.reset(self.key))

    @functools.cached_property
    def _play(self) -> Callable[..., Transition]:
        def act(
            carry: tuple[State, Array], inputs: tuple[PRNGKey, Array]
        ) -> tuple[tuple[State, Array], Transition]:
            (state, mask), (key, preferences) = carry, inputs
            actions = jnp.where(mask, preferences, -1.0).argmax(axis=1).astype(jnp.int32)
            outcome = Outcome(*self.env.step(key, state, actions))
            transition = Transition(key, state, mask, actions, outcome)
            return (outcome.state, outcome.time_step.mask), transition

        def play(reset_key: PRNGKey, keys: Array, preferences: Array) -> Transition:
            state, start = self.env.reset(reset_key)
            return jax.lax.scan(act, (state, start.mask), (keys, preferences))[1]

        return jax.jit(play)

    def play(self) -> list[Transition]:
        """Play the episodes; every call plays the same ones. Leading axis: time."""
        duration = 2 * self.env.max_steps
        shape = (NUM_EPISODES, duration, self.env.num_agents, self.env.num_actions)
        # Drawn with NumPy, since random numbers are slow to compile.
        preferences = np.random.default_rng(0).random(shape, np.float32)
        keys = jax.random.split(self.key, (NUM_EPISODES, duration + 1))
        return [
            self._play(keys[episode, 0], keys[episode, 1:], preferences[episode])
            for episode in range(NUM_EPISODES)
        ]

    @functools.cached_property
    def episodes(self) -> list[Transition]:
        """Some episodes of random allowed actions, leading axis time, 2 `max_steps` long."""
        return self.play()

    @functools.cached_property
    def lengths(self) -> list[int]:
        """Steps until each episode ends; `2 max_steps` if it never does."""
        return [_length(episode.outcome.time_step) for episode in self.episodes]

    def within(self) -> list[TimeStep]:
        """The time steps of each episode up to its end, as NumPy arrays."""
        return [
            jax.tree.map(lambda leaf, n=length: np.asarray(leaf)[:n], episode.outcome.time_step)
            for episode, length in zip(self.episodes, self.lengths, strict=True)
        ]

    @functools.cached_property
    def samples(self) -> list[Transition]:
        """Single steps spread over the episodes, first and last ones included."""
        steps = [(e, t) for e, length in enumerate(self.lengths) for t in range(length)]
        chosen = np.unique(np.linspace(0, len(steps) - 1, NUM_SAMPLES).round().astype(int))
        return [at(self.episodes[e], t) for e, t in (steps[i] for i in chosen)]

    @functools.cached_property
    def last_steps(self) -> list[Transition]:
        """The step of each episode that ends it."""
        return [
            at(episode, length - 1)
            for episode, length in zip(self.episodes, self.lengths, strict=True)
        ]


def at(transitions: Transition, time: int) -> Transition:
    """The step at one time."""
    taken: Transition = jax.tree.map(lambda leaf: leaf[time], transitions)
    return taken


def _length(time_step: TimeStep) -> int:
    ended = np.asarray(time_step.terminated | time_step.truncated)
    return int(ended.argmax()) + 1 if ended.any() else len(ended)


# Compiled in two ways, the same sum may differ in its last bits; this leaves room for a step of
# physics, and real differences are far larger.
_TOLERANCE = 1e-4


def plain(leaf: Any) -> np.ndarray:
    """The leaf in NumPy; keys of both kinds become their raw numbers."""
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def identical(first: Any, second: Any) -> bool:
    """The same bits, NaN included."""
    pairs = _pairs(first, second)
    return all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


def close(first: Any, second: Any) -> bool:
    """The same up to rounding."""
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
        for a, b in _pairs(first, second)
    )


def _pairs(first: Any, second: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    leaves = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    return [(plain(a), plain(b)) for a, b in leaves]
