"""Simple Spread, the environment."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import number_within, require_one_of, whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.scene import Scene
from pairvdn.envs.simple_spread.measures import measures
from pairvdn.envs.simple_spread.observe import observation_names, observation_size, observe
from pairvdn.envs.simple_spread.physics import DIRECTIONS, TIME_STEP, advance
from pairvdn.envs.simple_spread.reward import agent_rewards
from pairvdn.envs.simple_spread.scene import scene
from pairvdn.envs.simple_spread.types import SimpleSpreadState
from pairvdn.types import PRNGKey, TimeStep


class SimpleSpread(Environment[SimpleSpreadState]):
    """Agents in the plane must cover as many landmarks without bumping into each other.

    The same, step by step, as `simple_spread_v3` of mpe2 with discrete actions.

    Start: n agents at rest and n landmarks, all uniform in the square from -1 to 1.

    Actions (5): nothing, left, right, down, up; all are always allowed.

    Motion: in a step of 0.1 an agent moves with its velocity, which then falls by a quarter and
    grows by 0.1 times the force: 5 in the direction of the action, and 100 times the overlap from
    each agent closer than 0.3, smoothed over 0.001. Nothing keeps agents inside the square.

    Observation (6n): own velocity and place; the landmarks, then the other agents, relative to it;
    2(n - 1) zeros, the others' words in mpe2. State (6n²): the observations one after the other.

    Reward of agent i: (1 - `local_ratio`) G + `local_ratio` L_i. G is minus the sum over landmarks
    of the distance of the nearest agent, L_i minus the number of other agents that overlap i. The
    team's reward is their sum, or with `team_reward="mean"` their mean. Returns of this task are
    quoted in several scales, so say which.

    End: truncated after `max_steps`, 25; it never terminates.
    """

    _num_agents: int = eqx.field(static=True)
    _max_steps: int = eqx.field(static=True)
    local_ratio: float = eqx.field(static=True)
    team_reward: Literal["sum", "mean"] = eqx.field(static=True)

    def __init__(
        self,
        num_agents: int = 3,
        local_ratio: float | int = 0.5,
        max_steps: int = 25,
        team_reward: str = "sum",
    ) -> None:
        self._num_agents = whole_number("num_agents", num_agents, 2)
        self._max_steps = whole_number("max_steps", max_steps, 1)
        self.local_ratio = number_within("local_ratio", local_ratio, 0, 1)
        require_one_of(("sum", "mean"), team_reward=team_reward)
        self.team_reward = "sum" if team_reward == "sum" else "mean"

    @property
    def name(self) -> str:
        """The id under which `make` finds it."""
        return "simple-spread"

    @property
    def num_agents(self) -> int:
        """How many agents there are, and how many landmarks."""
        return self._num_agents

    @property
    def num_actions(self) -> int:
        """Nothing, left, right, down, up."""
        return len(DIRECTIONS)

    @property
    def observation_size(self) -> int:
        """6n."""
        return observation_size(self.num_agents)

    @property
    def state_size(self) -> int:
        """The observations of all."""
        return self.num_agents * self.observation_size

    @property
    def max_steps(self) -> int:
        """Steps after which an episode is truncated."""
        return self._max_steps

    @property
    def seconds_per_step(self) -> float:
        """How much time its physics lets pass in a step."""
        return TIME_STEP

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each action does, in a word."""
        return ("nothing", "left", "right", "down", "up")

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of an observation is."""
        return observation_names(self.num_agents)

    def reset(self, key: PRNGKey) -> tuple[SimpleSpreadState, TimeStep]:
        """Everything uniform in the square, at rest."""
        n = self.num_agents
        position, landmarks = jax.random.uniform(key, (2, n, 2), minval=-1.0)
        velocity = jnp.zeros_like(position)
        state = SimpleSpreadState(position, velocity, landmarks, jnp.int32(0))
        return state, self._time_step(state, jnp.zeros_like(position[:, 0]), jnp.asarray(False))

    def step(
        self, key: PRNGKey, state: SimpleSpreadState, actions: Int32[Array, " n"]
    ) -> tuple[SimpleSpreadState, TimeStep]:
        """Act once. Nothing is random, so `key` is not used."""
        del key
        position, velocity = advance(state.position, state.velocity, actions)
        state = SimpleSpreadState(position, velocity, state.landmarks, state.steps + 1)
        rewards = agent_rewards(state, self.local_ratio)
        return state, self._time_step(state, rewards, state.steps >= self.max_steps)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Where the agents are."""
        del state
        return observation[:, 2:4]

    def measures(self, state: SimpleSpreadState) -> dict[str, Float[Array, ""]]:
        """Landmarks with an agent on them, their mean distance to one, and pairs that overlap."""
        return measures(state)

    def scene(self, state: SimpleSpreadState) -> Scene:
        """Agents and landmarks as circles."""
        return scene(state)

    def _time_step(
        self, state: SimpleSpreadState, rewards: Float[Array, " n"], truncated: Bool[Array, ""]
    ) -> TimeStep:
        observation = observe(state)
        return TimeStep(
            observation=observation,
            state=observation.reshape(-1),
            mask=jnp.ones((self.num_agents, self.num_actions), bool),
            reward=jnp.sum(rewards) if self.team_reward == "sum" else jnp.mean(rewards),
            agent_rewards=rewards,
            terminated=jnp.asarray(False),
            truncated=truncated,
        )
