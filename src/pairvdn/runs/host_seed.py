"""Training of one seed whose environments live on the host."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pairvdn.envs import HostEnvironment
from pairvdn.evaluation.host import Stage
from pairvdn.runs.training import Seeds
from pairvdn.runs.devices.process_group import SINGLE
from pairvdn.learning import Learner, LearnerState, Metrics

_PURPOSE = 2  # evaluations of finished runs draw their episodes with 0 and 1


class HostSeed(Seeds):
    """A single run; several seeds are trained one after the other."""

    exact = False
    place = "the host"
    group = SINGLE

    def __init__(self, learner: Learner, env: HostEnvironment, seed: int, *, episodes: int) -> None:
        self.learner = learner
        self.seeds = (seed,)
        self._env = env
        self._episodes = episodes
        self._stage: Stage | None = None

    def split(self, tree: Any) -> list[Any]:
        """The only one."""
        return [jax.tree.map(np.asarray, tree)]

    def join(self, states: Sequence[LearnerState]) -> LearnerState:
        """The only one."""
        (state,) = states
        copied: LearnerState = jax.tree.map(jnp.array, state)
        return copied

    def init(self) -> LearnerState:
        """The state before the first epoch."""
        return self.learner.init(jax.random.PRNGKey(self.seeds[0]))

    def compile(self, state: LearnerState) -> None:
        """Nothing: what the learner compiles by itself it compiles when it first needs it."""

    def epoch(self, state: LearnerState) -> tuple[LearnerState, Metrics]:
        """One epoch."""
        done = self.learner.epoch(state)
        done[0].epoch.block_until_ready()
        return done

    def evaluate(self, state: LearnerState) -> list[Float[np.ndarray, " episodes"]]:
        """Returns of greedy episodes; the same starts every time."""
        if self._stage is None:
            self._stage = Stage(self._env, self._episodes)
        played = self._stage.play_greedy(
            self.learner.value(state),
            seed=(_PURPOSE, self.seeds[0]),
            action_repeat=self.learner.collector.action_repeat,
        )
        return [np.asarray(played.returns)]
