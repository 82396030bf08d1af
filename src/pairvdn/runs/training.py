"""The training that the loop over epochs calls: compiled for devices, or stepped on the host."""

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
from pairvdn.runs.devices.layout import Layout, on_one_device
from pairvdn.runs.devices.processes import SINGLE, ProcessGroup

_PURPOSE = 2  # of the random numbers; evaluations of finished runs have 0 and 1


class Training(abc.ABC):
    """Training of fixed seeds, whose states and metrics form one tree.

    `exact`: a restored state continues bit for bit. `devices`: their description. `group`: the
    processes that train together.
    """

    learner: Learner
    seeds: tuple[int, ...]
    exact: bool
    devices: str
    group: ProcessGroup

    @abc.abstractmethod
    def split(self, tree: Any) -> list[Any]:
        """The part of each seed, on the host: views, to be dropped before the next epoch."""

    @abc.abstractmethod
    def join(self, states: Sequence[LearnerState]) -> LearnerState:
        """The inverse of `split` for states; always a copy, since the state is donated."""

    @abc.abstractmethod
    def init(self) -> LearnerState:
        """The state before the first epoch."""

    @abc.abstractmethod
    def compile(self, state: LearnerState) -> None:
        """Compile an epoch, which takes much longer than running it."""

    @abc.abstractmethod
    def epoch(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
        """One epoch of every seed."""

    @abc.abstractmethod
    def evaluate(self, state: LearnerState) -> list[Float[np.ndarray, " episodes"]]:
        """Returns of greedy episodes of each seed, from the same starts every time."""


class OnDevices(Training):
    """Whole epochs are compiled, for one device unless there is a `layout`.

    `seeds` is the seed of a single run, or a list of seeds that are trained side by side: then
    every leaf has the seeds as its leading axis.
    """

    exact = True

    def __init__(
        self,
        learner: Learner,
        env: Environment[Any],
        seeds: int | Sequence[int],
        *,
        episodes: int,
        layout: Layout | None = None,
    ) -> None:
        self.learner = learner
        self._stacked = not isinstance(seeds, int)
        self.seeds = (seeds,) if isinstance(seeds, int) else tuple(seeds)
        self._layout = layout or on_one_device(learner)
        self.devices, self.group = self._layout.name, self._layout.group
        self._env, self._episodes = env, episodes
        self._keys = self._stack([np.asarray(jax.random.PRNGKey(seed)) for seed in self.seeds])
        over_seeds = self._layout.over_seeds if self._stacked else lambda function: function
        self._init = jax.jit(over_seeds(self._layout.init))
        # Schedules are inputs: runs that differ only in them find the program in the cache.
        self._schedules = jax.jit(over_seeds(learner.schedules))
        self._jitted = jax.jit(over_seeds(self._layout.epoch), donate_argnums=0)
        self._epoch: Callable[..., Any] = self._jitted
        self._evaluate = jax.jit(over_seeds(self._one_evaluation))

    def _stack(self, trees: Sequence[Any]) -> Any:
        """The trees of all seeds as one, on the host."""
        return jax.tree.map(lambda *leaves: np.stack(leaves), *trees) if self._stacked else trees[0]

    def split(self, tree: Any) -> list[Any]:
        """The part of each seed, on the host."""
        on_host = self._layout.on_host(tree)
        if not self._stacked:
            return [self._layout.gathered(on_host)]
        leaves, structure = jax.tree.flatten(on_host)
        rows = zip(*leaves, strict=True)
        return [self._layout.gathered(jax.tree.unflatten(structure, row)) for row in rows]

    def join(self, states: Sequence[LearnerState]) -> LearnerState:
        """Copies of the states, on the devices."""
        stacked = self._stack([self._layout.dealt(state) for state in states])
        return self._layout.put(stacked, self._stacked)

    def init(self) -> LearnerState:
        """The state before the first epoch."""
        state: LearnerState = self._init(self._keys)
        state.epoch.block_until_ready()
        return state

    def compile(self, state: LearnerState) -> None:
        """Compile an epoch, which takes much longer than running it."""
        self._epoch = self.lowered(state).compile()

    def lowered(self, state: LearnerState) -> jax.stages.Lowered:
        """The program of an epoch, for the compiler."""
        return self._jitted.lower(state, self._schedules(state.epoch))

    def epoch(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
        """One epoch of every seed."""
        done: tuple[LearnerState, Metrics] = self._epoch(state, self._schedules(state.epoch))
        done[0].epoch.block_until_ready()  # so that the clock measures the computation
        return done

    def evaluate(self, state: LearnerState) -> list[Float[np.ndarray, " episodes"]]:
        """Returns of greedy episodes of each seed, from the same starts every time."""
        return self.split(self._layout.evaluate(self._evaluate, state.learned, self._keys))

    def _one_evaluation(self, learned: Learned, key: Array) -> Float[Array, " episodes"]:
        return greedy_episodes(
            self._env,
            self.learner.updater.value(learned),
            key=jax.random.fold_in(key, 1),
            num_episodes=self._episodes,
            action_repeat=self.learner.collector.action_repeat,
        ).returns


class HostSeed(Training):
    """A single run whose environments are stepped on the host."""

    exact = False
    devices = "the host"
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
        """Do nothing: the learner compiles its functions when it first calls them."""

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


def make_training(
    config: Config, built: Built, seeds: int | Sequence[int], layout: Layout | None = None
) -> Training:
    """The training of one seed or of several side by side, on one device without a `layout`."""
    episodes = config.evaluation.episodes
    if isinstance(built.env, HostEnvironment):
        assert isinstance(seeds, int)  # seeds on the host are trained one after the other
        return HostSeed(built.learner, built.env, seeds, episodes=episodes)
    assert isinstance(built.env, Environment)  # there is no third kind
    return OnDevices(built.learner, built.env, seeds, episodes=episodes, layout=layout)
