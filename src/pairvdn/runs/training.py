"""One seed, or several side by side: the same functions for the loop, compiled once."""

import abc
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float

from pairvdn.envs import Environment
from pairvdn.evaluation import greedy_episodes
from pairvdn.runs.devices.layout import Layout, OnOneDevice
from pairvdn.runs.devices.process_group import ProcessGroup
from pairvdn.learning import Learner, LearnerState, Metrics
from pairvdn.learning.update import Learned


class Seeds(abc.ABC):
    """Training of a fixed list of seeds. States and metrics of all seeds are one tree.

    `exact` says whether a state that was saved and restored goes on bit for bit, `place` in words
    on which devices it is trained, and `team` which processes do it together.
    """

    learner: Learner
    seeds: tuple[int, ...]
    exact: bool
    place: str
    group: ProcessGroup

    @abc.abstractmethod
    def split(self, tree: Any) -> list[Any]:
        """What belongs to each seed, on the host. Views: drop them before the next epoch."""

    @abc.abstractmethod
    def join(self, states: Sequence[LearnerState]) -> LearnerState:
        """The inverse of `split` for states; always a copy, since the state is donated."""

    @abc.abstractmethod
    def init(self) -> LearnerState:
        """States before the first epoch."""

    @abc.abstractmethod
    def compile(self, state: LearnerState) -> None:
        """Compile an epoch, which takes much longer than to run it."""

    @abc.abstractmethod
    def epoch(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
        """One epoch of every seed."""

    @abc.abstractmethod
    def evaluate(self, state: LearnerState) -> list[Float[np.ndarray, " episodes"]]:
        """Returns of greedy episodes, for each seed; the same starts every time."""


class DeviceSeeds(Seeds):
    """Seeds of which whole epochs are compiled, on one device unless there is a `layout`."""

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
        """A function of one seed's arguments as one of all seeds'."""

    def init(self) -> LearnerState:
        """States before the first epoch."""
        state: LearnerState = self._init(self.keys)
        state.epoch.block_until_ready()
        return state

    def compile(self, state: LearnerState) -> None:
        """Compile an epoch, which takes much longer than to run it."""
        self._epoch = self._jitted.lower(state).compile()

    def epoch(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
        """One epoch of every seed."""
        done: tuple[LearnerState, Metrics] = self._epoch(state)
        done[0].epoch.block_until_ready()  # so that the clock tells how long it took
        return done

    def evaluate(self, state: LearnerState) -> list[Float[np.ndarray, " episodes"]]:
        """Returns of greedy episodes, for each seed; the same starts every time."""
        return self.split(self.layout.call_greedy(self._evaluate, state.learned, self.keys))

    def _one_evaluation(self, learned: Learned, key: Array) -> Float[Array, " episodes"]:
        return greedy_episodes(
            self._env,
            self.learner.updater.value(learned),
            key=jax.random.fold_in(key, 1),
            num_episodes=self._episodes,
            action_repeat=self.learner.collector.action_repeat,
        ).returns


class OneSeed(DeviceSeeds):
    """A single run."""

    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As it is."""
        return function

    def stack(self, trees: Sequence[Any]) -> Any:
        """The only one."""
        (tree,) = trees
        return tree

    def split(self, tree: Any) -> list[Any]:
        """The only one."""
        return [self.layout.gathered(self.layout.on_host(tree))]

    def join(self, states: Sequence[LearnerState]) -> LearnerState:
        """The only one."""
        (state,) = states
        return self.layout.put(self.layout.dealt(state), seeds=False)


class SeveralSeeds(DeviceSeeds):
    """Runs side by side: every leaf has the seeds as its leading axis."""

    def over_seeds(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """All seeds at once."""
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
        """Stacked leaves."""
        return self.layout.put(self.stack([self.layout.dealt(one) for one in states]), seeds=True)
