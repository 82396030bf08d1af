"""One joint action, one reward, the end."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32

from pairvdn.envs.base import Environment
from pairvdn.envs.one_step.rules import Payoff
from pairvdn.envs.one_step.types import OneStepState
from pairvdn.envs.scene import Circles, Lines, Scene
from pairvdn.types import PRNGKey, TimeStep


class OneStepGame(Environment[OneStepState]):
    """All agents act once and at the same time, the team is paid, and the episode terminates.

    Observation (1): always 1. State (1): always 1. The agents know only who they are, and telling
    them is the value's work: with shared parameters it appends a one-hot identifier, with separate
    parameters every agent has its own network. An identifier in here would be there twice. A size
    of 0 would say the same, but empty arrays are poor inputs for networks and outside libraries;
    and 1 rather than 0 lets even a linear layer without bias learn a constant.

    Reward: the payoff of the joint action; each agent gets 1/n of it. All actions are allowed.
    """

    _name: str = eqx.field(static=True)
    _num_agents: int = eqx.field(static=True)
    _num_actions: int = eqx.field(static=True)
    payoff: Payoff
    best_reward: float = eqx.field(static=True)  # what the best joint action pays
    _words: tuple[str, ...] | None = eqx.field(static=True, default=None)

    @property
    def name(self) -> str:
        """The id under which `make` finds it."""
        return self._name

    @property
    def num_agents(self) -> int:
        """How many agents act."""
        return self._num_agents

    @property
    def num_actions(self) -> int:
        """How many actions each agent has."""
        return self._num_actions

    @property
    def observation_size(self) -> int:
        """One number, always 1."""
        return 1

    @property
    def state_size(self) -> int:
        """One number, always 1."""
        return 1

    @property
    def max_steps(self) -> int:
        """One; the episode terminates there, so it is never truncated."""
        return 1

    @property
    def action_names(self) -> tuple[str, ...]:
        """Words where the game has a story, else numbers."""
        return self._words or tuple(map(str, range(self.num_actions)))

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of an observation is."""
        return ("always 1",)

    def reset(self, key: PRNGKey) -> tuple[OneStepState, TimeStep]:
        """Nothing is random: every episode is the same."""
        del key
        nothing = jnp.full((self.num_agents,), -1, jnp.int32)
        return OneStepState(nothing), self._time_step(jnp.zeros((), jnp.float32), False)

    def step(
        self, key: PRNGKey, state: OneStepState, actions: Int32[Array, " n"]
    ) -> tuple[OneStepState, TimeStep]:
        """Pay the joint action and end the episode."""
        del key, state
        return OneStepState(actions), self._time_step(self.payoff(actions), True)

    def scene(self, state: OneStepState) -> Scene:
        """The agents on a ring, grey until they acted, then one colour per action."""
        turn = 2 * np.pi * np.arange(self.num_agents) / self.num_agents
        # The first agent is at the left, so that two agents stand side by side.
        places = np.stack([-np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
        radius = min(0.3, 0.8 * np.pi / self.num_agents)
        step = np.roll(places, -1, axis=0) - places
        rim = radius * step / np.linalg.norm(step, axis=1, keepdims=True)  # where an edge starts
        return Scene(
            bounds=jnp.asarray([-1.5, -1.5, 1.5, 1.5], jnp.float32),
            circles=Circles(
                centre=jnp.asarray(places),
                radius=jnp.full((self.num_agents,), radius, jnp.float32),
                colour=self._colours()[state.actions + 1],
                agent=jnp.arange(self.num_agents, dtype=jnp.int32),
            ),
            lines=Lines(
                start=jnp.asarray(places + rim),
                end=jnp.asarray(places + step - rim),
                colour=jnp.full((self.num_agents, 3), 0.6, jnp.float32),
            ),
        )

    def _colours(self) -> Float[Array, "a_plus_1 3"]:
        """Grey for an agent that has not acted, then hues spread evenly over the actions."""
        hue = np.arange(self.num_actions)[:, None] / self.num_actions + np.array([0, 1 / 3, 2 / 3])
        actions = 0.5 + 0.4 * np.cos(2 * np.pi * hue)
        return jnp.asarray(np.concatenate([np.full((1, 3), 0.75), actions]), jnp.float32)

    def _time_step(self, reward: Float[Array, ""], terminated: bool) -> TimeStep:
        return TimeStep(
            observation=jnp.ones((self.num_agents, 1), jnp.float32),
            state=jnp.ones((1,), jnp.float32),
            mask=jnp.ones((self.num_agents, self.num_actions), bool),
            reward=reward,
            agent_rewards=jnp.broadcast_to(reward / self.num_agents, (self.num_agents,)),
            terminated=jnp.asarray(terminated),
            truncated=jnp.asarray(False),
        )
