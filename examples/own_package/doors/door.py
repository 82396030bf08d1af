"""An environment: neighbours in a row must not open their doors at the same time."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int32

from pairvdn.checks import require_at_least
from pairvdn.envs import Environment
from pairvdn.envs.scene import Circles, Scene
from pairvdn.types import EnvSpec

WAIT, OPEN = range(2)


class DoorState(eqx.Module):
    """The last actions, for the picture, and the number of steps."""

    actions: Int32[Array, " n"]
    time: Int32[Array, ""]


class Door(Environment[DoorState]):
    """Each agent opens its door or waits; an open door earns 1, or costs 1 beside another.

    Args:
        num_agents: number of doors in the row
        max_steps: length of an episode
    """

    name = "door"
    action_names = ("wait", "open")
    observation_names = ("place in the row",)
    spec: EnvSpec = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)

    def __init__(self, num_agents: int = 3, max_steps: int = 4):
        require_at_least(2, num_agents=num_agents)
        require_at_least(1, max_steps=max_steps)
        self.spec = EnvSpec(num_agents, num_actions=2, observation_size=1, state_size=1)
        self.max_steps = max_steps

    def reset(self, key):
        """All doors are closed."""
        state = DoorState(jnp.zeros(self.num_agents, jnp.int32), jnp.int32(0))
        return state, self._time_step(state)

    def step(self, key, state, actions):
        """Act once; `step` never resets."""
        actions = self.as_actions(actions, no_op=WAIT)
        opened = actions == OPEN
        beside = jnp.pad(opened[1:], (0, 1)) | jnp.pad(opened[:-1], (1, 0))
        rewards = jnp.where(opened, jnp.where(beside, -1.0, 1.0), 0.0)
        state = DoorState(actions, state.time + 1)
        return state, self._time_step(state, rewards)

    def scene(self, state):
        """A circle for each agent, larger while its door is open."""
        x = jnp.arange(self.num_agents, dtype=jnp.float32)
        return Scene(
            bounds=jnp.array([-1.0, -1.0, float(self.num_agents), 1.0]),
            circles=Circles(
                centre=jnp.stack([x, jnp.zeros_like(x)], axis=1),
                radius=jnp.where(state.actions == OPEN, 0.4, 0.2),
                colour=jnp.full((self.num_agents, 3), 0.4),
                agent=jnp.arange(self.num_agents, dtype=jnp.int32),
            ),
        )

    def _time_step(self, state, rewards=None):
        place = jnp.linspace(-1.0, 1.0, self.num_agents)
        return self.time_step(
            observation=place[:, None],
            state=state.time[None] / jnp.float32(self.max_steps),
            rewards=rewards,
            truncated=state.time >= self.max_steps,
        )
