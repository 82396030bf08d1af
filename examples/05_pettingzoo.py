"""Train in a PettingZoo environment whose agents have different observations and actions."""

import jax
import numpy as np
import optax
from gymnasium import spaces
from pettingzoo import ParallelEnv

from pairvdn import envs, values
from pairvdn.acting import LinearEpsilon
from pairvdn.evaluation import play_greedy, play_random
from pairvdn.learning import parallel_learner


class Mine(ParallelEnv):
    """A miner sees which of two seams is rich; a porter, which sees nothing, must go there too.

    Both at the rich seam earn 1; one alone there costs 1. The miner can also stay in bed, an action
    that the porter does not have.
    """

    metadata = {"name": "mine"}  # noqa: RUF012

    def __init__(self):
        self.possible_agents = ["miner", "porter"]
        self.agents = []

    def observation_space(self, agent):
        return spaces.Discrete(2) if agent == "miner" else spaces.Box(0, 1, (1,))

    def action_space(self, agent):
        return spaces.Discrete(3 if agent == "miner" else 2)

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        self.rich = int(np.random.default_rng(seed).integers(2))
        return self._see(), {}

    def step(self, actions):
        there = sum(action == self.rich for action in actions.values())
        rewards = dict.fromkeys(self.agents, (0.0, -0.5, 0.5)[there])  # the team gets the sum
        over, not_cut = dict.fromkeys(self.agents, True), dict.fromkeys(self.agents, False)
        self.agents = []
        return self._see(), rewards, over, not_cut, {}

    def _see(self):
        return {"miner": self.rich, "porter": np.zeros(1, np.float32)}


env = envs.from_pettingzoo(Mine)  # any function that makes a new ParallelEnv


def train(method: str) -> values.Value:
    learner = parallel_learner(
        env,
        values.maker(method, env.spec, hidden_sizes=(32,)),
        num_epochs=4,
        rounds_per_epoch=10,
        num_envs=8,
        updates_per_round=20,
        batch_size=64,
        replay_capacity=2_000,
        n_step=1,
        optimiser=optax.adam(3e-3),
        exploration=LinearEpsilon(1.0, 0.1, epochs=4),
    )
    # Without jax.jit: the environments are stepped in Python, and the learner compiles the rest.
    state, _ = learner.train(jax.random.key(0))
    return learner.value(state)


if __name__ == "__main__":  # `pairvdn train pettingzoo:05_pettingzoo.Mine` imports this file
    print(
        f"{env.name}: {env.num_agents} agents, padded to {env.num_actions} actions and "
        f"observations of {env.observation_size} numbers"
    )
    # The porter's own value cannot tell the seams apart; the pair has one table over both actions.
    for method in ("vdn", "pairvdn"):
        played = play_greedy(env, train(method), episodes=100, seed=0)
        print(f"{method}: {played.returns.mean():.2f} a day")
    print(f"random: {play_random(env, episodes=100, seed=0).returns.mean():.2f} a day")
