"""mpe2's Simple Spread beside ours. As a script: whole episodes in 64 bits, see `main`."""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from mpe2 import simple_spread_v3

from pairvdn import envs
from pairvdn.envs.simple_spread import SimpleSpreadState

SETTINGS = [(n, ratio) for n in (3, 5, 8) for ratio in (0.0, 0.5, 1.0)]


class Reference:
    """mpe2's environment with its world laid open."""

    def __init__(self, num_agents, local_ratio, seed):
        self.env = simple_spread_v3.parallel_env(N=num_agents, local_ratio=local_ratio)
        self.env.reset(seed=seed)
        self.world = self.env.unwrapped.world

    def state(self, steps):
        agents = [agent.state for agent in self.world.agents]
        return SimpleSpreadState(
            position=jnp.asarray(np.stack([agent.p_pos for agent in agents]), float),
            velocity=jnp.asarray(np.stack([agent.p_vel for agent in agents]), float),
            landmarks=jnp.asarray(
                np.stack([mark.state.p_pos for mark in self.world.landmarks]), float
            ),
            steps=jnp.int32(steps),
        )

    def crowd(self, scale):
        """Move everyone towards the middle, so that they touch."""
        for agent in self.world.agents:
            agent.state.p_pos = agent.state.p_pos * scale

    def step(self, actions):
        """Observations, rewards and truncations, by agent."""
        names = list(self.env.agents)  # mpe2 empties its own at the end
        seen, rewards, _, truncated, _ = self.env.step(
            {name: int(action) for name, action in zip(names, actions, strict=True)}
        )
        return tuple(
            np.array([told[name] for name in names]) for told in (seen, rewards, truncated)
        )


def whole_episode(num_agents, local_ratio, seed):
    """Largest difference of places, velocities and rewards, and how many collisions there were."""
    env = envs.make("simple-spread", num_agents=num_agents, local_ratio=local_ratio)
    reference = Reference(num_agents, local_ratio, seed)
    generator = np.random.default_rng(seed)
    step = jax.jit(env.step)
    reference.crowd(0.6)
    state, worst, collisions, truncated = reference.state(0), 0.0, 0, []
    while reference.env.agents:
        actions = generator.integers(0, 5, num_agents)
        _, rewards, ended = reference.step(actions)
        state, told = step(jax.random.key(0), state, jnp.asarray(actions, jnp.int32))
        theirs = reference.state(len(truncated))
        for ours, other in (
            (state.position, theirs.position),
            (state.velocity, theirs.velocity),
            (told.agent_rewards, rewards),
        ):
            worst = max(worst, float(np.abs(np.asarray(ours) - np.asarray(other)).max()))
        distances = np.linalg.norm(theirs.position[:, None] - theirs.position[None], axis=-1)
        collisions += int((distances < 0.3).sum() - num_agents) // 2
        truncated.append((bool(told.truncated), bool(ended.all())))
    return {"worst": worst, "collisions": collisions, "truncated": truncated}


def main():
    assert jax.config.jax_enable_x64
    episodes = [
        {"setting": setting, **whole_episode(*setting, seed)}
        for setting in SETTINGS
        for seed in range(3)
    ]
    json.dump(episodes, sys.stdout)


if __name__ == "__main__":
    main()
