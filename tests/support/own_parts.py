"""Parts of a user, named as `own_parts:Name` in tests, some of them wrong."""

import equinox as eqx
import jax.numpy as jnp
import optax

from pairvdn.acting.exploration import Exploration, LinearEpsilon
from pairvdn.envs import Environment, make
from pairvdn.learning import Learner, parallel_learner
from pairvdn.types import EnvSpec

NUMBER = 3


class Door(Environment):
    """The wall, with an argument that has no default.

    Args:
        num_agents: number of agents
    """

    name = "door"
    game: Environment
    spec: EnvSpec
    max_steps: int

    def __init__(self, num_agents: int) -> None:
        self.game = make("wall", num_agents=num_agents)
        self.spec, self.max_steps = self.game.spec, self.game.max_steps

    def reset(self, key):
        return self.game.reset(key)

    def step(self, key, state, actions):
        return self.game.step(key, state, actions)

    def scene(self, state):
        return self.game.scene(state)


class Rude(Environment):
    """It fails when it is made."""

    name = "rude"
    spec: EnvSpec
    max_steps = 1

    def __init__(self) -> None:
        raise KeyError("no such key")

    def reset(self, key):
        raise NotImplementedError

    def step(self, key, state, actions):
        raise NotImplementedError

    def scene(self, state):
        raise NotImplementedError


class Wrong(Environment):
    """The wall with a failing reset, or with a step of another shape."""

    name = "wrong"
    spec = EnvSpec(num_agents=2, num_actions=2, observation_size=1, state_size=1)
    max_steps = 1
    fails: bool

    def reset(self, key):
        if self.fails:
            raise KeyError("reset")
        return make("wall", num_agents=2).reset(key)

    def step(self, key, state, actions):
        state, time_step = make("wall", num_agents=2).step(key, state, actions)
        wide = jnp.zeros((2, 3))
        # Not through the constructor, which checks types in tests.
        return state, eqx.tree_at(lambda step: step.observation, time_step, wide)

    def scene(self, state):
        return make("wall", num_agents=2).scene(state)


def BadReset() -> Environment:  # noqa: N802
    """Make an environment whose reset fails."""
    return Wrong(fails=True)


def BadShape() -> Environment:  # noqa: N802
    """Make an environment whose step returns another shape."""
    return Wrong(fails=False)


class Other(eqx.Module):
    """Neither an environment nor a value."""


def nothing() -> None:
    """Build nothing."""


def schedule(env, make_value, *, num_epochs, optimiser, exploration, num_envs: int = 3) -> Learner:
    """Run the parallel schedule with few settings.

    Args:
        num_envs: environments that are stepped in parallel
    """
    return parallel_learner(
        env,
        make_value,
        num_epochs=num_epochs,
        optimiser=optimiser,
        exploration=exploration,
        num_envs=num_envs,
        replay_capacity=4096,
    )


def momentum(rate: float = 0.1) -> optax.GradientTransformation:
    """SGD with momentum, which does not ask how long the run is."""
    return optax.sgd(rate, momentum=0.9)


class Constant(Exploration):
    """The same epsilon always."""

    epsilon: float = 0.1

    def epsilons(self, epoch, num_envs):
        return LinearEpsilon(self.epsilon, self.epsilon).epsilons(epoch, num_envs)
