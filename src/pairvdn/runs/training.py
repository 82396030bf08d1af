"""Training of one seed, of several side by side, or of one whose environments are on the host.

The loop over epochs calls the same functions in all three cases.
"""

import abc
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pairvdn.acting import GreedyPolicy
from pairvdn.config.config import Built, Config
from pairvdn.envs import Environment, HostEnvironment
from pairvdn.evaluation import greedy_episodes
from pairvdn.evaluation.host import HostEpisodes
from pairvdn.learning import Learner, LearnerState, Metrics
from pairvdn.learning.updater import Learned
from pairvdn.runs.devices.layout import Layout, OnOneDevice
from pairvdn.runs.devices.process_group import SINGLE, ProcessGroup

_PURPOSE = 2  # evaluations of finished runs draw their episodes with 0 and 1


class Training(abc.ABC):
    """Training of a fixed list of seeds, whose states and metrics form one tree.

    `exact`: a saved and restored state continues bit for bit. `place`: a description of the
    devices. `group`: the processes that train together.
    """

    learner: Learner
    seeds: tuple[int, ...]
    exact: bool
    place: str
    group: ProcessGroup

    @abc.abstractmethod
    def split(self, tree: Any) -> list[Any]:
        """The part of each seed, on the host. Views: drop them before the next epoch."""

    @abc.abstractmethod
    def join(self, states: Sequence[LearnerState]) -> LearnerState:
        """The inverse of `split` for states; always a copy, since the state is donated."""

    @abc.abstractmethod
    def init(self) -> LearnerState:
        """States before the first epoch."""

    @abc.abstractmethod
    def compile(self, state: LearnerState) -> None:
        """Compile an epoch, which takes much longer than running it."""

    @abc.abstractmethod
    def epoch(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
        """One epoch of every seed."""

    @abc.abstractmethod
    def evaluate(self, state: LearnerState) -> list[Float[np.ndarray, " episodes"]]:
        """Returns of greedy episodes of each seed, from the same starts every time."""


class _OnDevices(Training):
    """Whole epochs are compiled, for one device unless there is a `layout`."""

    exact = True

    def __init__(
        self,
        learner: Learner,
        env: Environment[Any],
        seeds: Sequence[int],
        *,
        episodes: int,
        layout: Layout | None = None,
    ) -> None:
        self.learner = learner
        self.seeds = tuple(seeds)
        self.layout = OnOneDevice(learner) if layout is None else layout
        self.place, self.group = self.layout.name, self.layout.group
        self._env = env
        self.keys = self.stack([np.asarray(jax.random.PRNGKey(seed)) for seed in self.seeds])
        self._init = jax.jit(self.over_seeds(self.layout.init))
        self._jitted = jax.jit(self.over_seeds(self.layout.epoch), donate_argnums=0)
        self._epoch: Callable[..., Any] = self._jitted
        self._evaluate = jax.jit(self.over_seeds(self._one_evaluation))
        self._episodes = episodes

    @abc.abstractmethod
    def stack(self, trees: Sequence[Any]) -> Any:
        """The trees of all seeds as one, on the host."""

    @abc.abstractmethod
    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of one seed's arguments, for all seeds."""

    def init(self) -> LearnerState:
        """States before the first epoch."""
        state: LearnerState = self._init(self.keys)
        state.epoch.block_until_ready()
        return state

    def compile(self, state: LearnerState) -> None:
        """Compile an epoch, which takes much longer than running it."""
        self._epoch = self._jitted.lower(state).compile()

    def epoch(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
        """One epoch of every seed."""
        done: tuple[LearnerState, Metrics] = self._epoch(state)
        done[0].epoch.block_until_ready()  # so that the clock measures the computation
        return done

    def evaluate(self, state: LearnerState) -> list[Float[np.ndarray, " episodes"]]:
        """Returns of greedy episodes of each seed, from the same starts every time."""
        return self.split(self.layout.call_greedy(self._evaluate, state.learned, self.keys))

    def _one_evaluation(self, learned: Learned, key: Array) -> Float[Array, " episodes"]:
        return greedy_episodes(
            self._env,
            self.learner.updater.value(learned),
            key=jax.random.fold_in(key, 1),
            num_episodes=self._episodes,
            action_repeat=self.learner.collector.action_repeat,
        ).returns


class OneSeed(_OnDevices):
    """A single run."""

    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself."""
        return function

    def stack(self, trees: Sequence[Any]) -> Any:
        """The only tree."""
        (tree,) = trees
        return tree

    def split(self, tree: Any) -> list[Any]:
        """The only part."""
        return [self.layout.gathered(self.layout.on_host(tree))]

    def join(self, states: Sequence[LearnerState]) -> LearnerState:
        """A copy of the only state."""
        (state,) = states
        return self.layout.put(self.layout.dealt(state), seeds=False)


class SeveralSeeds(_OnDevices):
    """Runs side by side: every leaf has the seeds as its leading axis."""

    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, vectorised."""
        return self.layout.over_seeds(function)

    def stack(self, trees: Sequence[Any]) -> Any:
        """Stacked leaves."""
        return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)

    def split(self, tree: Any) -> list[Any]:
        """Rows of every leaf."""
        leaves, structure = jax.tree.flatten(self.layout.on_host(tree))
        rows = zip(*leaves, strict=True)
        return [self.layout.gathered(jax.tree.unflatten(structure, row)) for row in rows]

    def join(self, states: Sequence[LearnerState]) -> LearnerState:
        """Stacked copies."""
        return self.layout.put(self.stack([self.layout.dealt(one) for one in states]), seeds=True)


class HostSeed(Training):
    """A single run whose environments are stepped on the host."""

    exact = False
    place = "the host"
    group = SINGLE

    def __init__(self, learner: Learner, env: HostEnvironment, seed: int, *, episodes: int) -> None:
        self.learner = learner
        self.seeds = (seed,)
        self._env = env
        self._episodes = episodes
        self._host_episodes: HostEpisodes | None = None

    def split(self, tree: Any) -> list[Any]:
        """The only part."""
        return [jax.tree.map(np.asarray, tree)]

    def join(self, states: Sequence[LearnerState]) -> LearnerState:
        """A copy of the only state."""
        (state,) = states
        copied: LearnerState = jax.tree.map(jnp.array, state)
        return copied

    def init(self) -> LearnerState:
        """The state before the first epoch."""
        return self.learner.init(jax.random.PRNGKey(self.seeds[0]))

    def compile(self, state: LearnerState) -> None:
        """Nothing: the learner compiles its functions when it first calls them."""

    def epoch(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
        """One epoch."""
        done = self.learner.epoch(state)
        done[0].epoch.block_until_ready()
        return done

    def evaluate(self, state: LearnerState) -> list[Float[np.ndarray, " episodes"]]:
        """Returns of greedy episodes, from the same starts every time."""
        if self._host_episodes is None:
            self._host_episodes = HostEpisodes(self._env, self._episodes)
        played = self._host_episodes.play(
            GreedyPolicy(self._env, self.learner.value(state)),
            seed=(_PURPOSE, self.seeds[0]),
            action_repeat=self.learner.collector.action_repeat,
        )
        return [np.asarray(played.returns)]


def training_of_one(
    config: Config, built: Built, seed: int, layout: Layout | None = None
) -> Training:
    """Training of a single seed, on one device unless there is a `layout`."""
    episodes = config.evaluation.episodes
    if isinstance(built.env, HostEnvironment):
        return HostSeed(built.learner, built.env, seed, episodes=episodes)
    assert isinstance(built.env, Environment)  # there is no third kind
    return OneSeed(built.learner, built.env, [seed], episodes=episodes, layout=layout)
