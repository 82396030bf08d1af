"""Parts of a user, named as `own_parts:Name` in tests, some of them wrong."""

import equinox as eqx
import optax

from pairvdn.acting.exploration import Exploration, LinearEpsilon
from pairvdn.envs import Environment, make
from pairvdn.learning import Learner, parallel_learner

NUMBER = 3


class Door(Environment):
    """The wall, with an argument that has no default.

    Args:
        num_agents: number of agents
    """

    game: Environment

    def __init__(self, num_agents: int) -> None:
        self.game = make("wall", num_agents=num_agents)

    name = "door"
    num_agents = property(lambda self: self.game.num_agents)
    num_actions = property(lambda self: self.game.num_actions)
    observation_size = property(lambda self: self.game.observation_size)
    state_size = property(lambda self: self.game.state_size)
    max_steps = property(lambda self: self.game.max_steps)

    def reset(self, key):
        return self.game.reset(key)

    def step(self, key, state, actions):
        return self.game.step(key, state, actions)

    def scene(self, state):
        return self.game.scene(state)


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
