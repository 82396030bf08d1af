"""Gather, the environment."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import number_within, whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.gather.observe import global_state, observe
from pairvdn.envs.gather.reward import approach, team_reward
from pairvdn.envs.gather.rules import DISPLACEMENTS, at_goals, move, start
from pairvdn.envs.gather.scene import scene
from pairvdn.envs.gather.types import GatherState
from pairvdn.envs.grid import upright
from pairvdn.envs.scene import Scene
from pairvdn.types import PRNGKey, TimeStep


class Gather(Environment[GatherState]):
    """A climbing game in space: all must meet at the true goal, which only some of them know.

    Map: 3 x 5 cells, goals at row 1, columns 0, 2 and 4. Start: `num_agents`, 5, at random cells,
    also at the same. Each votes for the goal nearest to it in steps: goal 0 only if strictly nearer
    than goal 1, goal 2 if at least as near as goal 1. The goal with most votes is the true one (of
    several the first), and only those who voted for it know it.

    Actions (5): up, down, left, right, stay; all are always allowed, a move into a wall stays. Any
    number of agents may be at one cell.

    Observation (4): own row and column, and the true goal's, or -1 and -1. State (3n + 2): row,
    column and a 1 if it knows the goal, for every agent; the true goal's row and column.

    Reward: 10 when all are at the true goal. Else, in the last step: -5 if some of them are at the
    true goal; 5 if all are at goals, none at the true one; 0 otherwise. Each agent gets 1/n of it.
    `approach_reward`, 0 unless given and meant for practice, is paid besides for each step by which
    an agent comes nearer to the true goal, and taken back when it goes away.

    End: terminated when all are at the true goal, and after `max_steps`, 8, whose reward is final:
    there both flags are set.
    """

    _num_agents: int = eqx.field(static=True)
    _max_steps: int = eqx.field(static=True)
    approach_reward: float = eqx.field(static=True)

    def __init__(
        self, num_agents: int = 5, max_steps: int = 8, approach_reward: float | int = 0.0
    ) -> None:
        self._num_agents = whole_number("num_agents", num_agents, 2)
        self._max_steps = whole_number("max_steps", max_steps, 1)
        self.approach_reward = number_within("approach_reward", approach_reward, 0, jnp.inf)

    @property
    def name(self) -> str:
        """The id under which `make` finds it."""
        return "gather"

    @property
    def num_agents(self) -> int:
        """How many must meet."""
        return self._num_agents

    @property
    def num_actions(self) -> int:
        """Up, down, left, right, stay."""
        return len(DISPLACEMENTS)

    @property
    def observation_size(self) -> int:
        """Two cells."""
        return 4

    @property
    def state_size(self) -> int:
        """Three numbers of every agent, and a cell."""
        return 3 * self.num_agents + 2

    @property
    def max_steps(self) -> int:
        """Steps after which an episode ends."""
        return self._max_steps

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each action does, in a word."""
        return ("up", "down", "left", "right", "stay")

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of an observation is."""
        return ("row", "column", "goal's row", "goal's column")

    def reset(self, key: PRNGKey) -> tuple[GatherState, TimeStep]:
        """Agents anywhere, the goal by vote."""
        state = start(key, self.num_agents)
        return state, self._time_step(state, jnp.float32(0.0), jnp.asarray(False))

    def step(
        self, key: PRNGKey, state: GatherState, actions: Int32[Array, " n"]
    ) -> tuple[GatherState, TimeStep]:
        """Move once. Nothing is random, so `key` is not used."""
        del key
        before, agents = state.agents, move(state.agents, actions)
        state = GatherState(agents, state.goal, state.informed, state.steps + 1)
        there = at_goals(agents)
        at_true_goal, is_last = there[:, state.goal], state.steps >= self.max_steps
        reward = team_reward(at_true_goal, jnp.any(there, axis=1), is_last)
        if self.approach_reward:
            reward += self.approach_reward * approach(before, agents, state.goal)
        return state, self._time_step(state, reward, jnp.all(at_true_goal) | is_last)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Where each agent stands: x to the right, y up."""
        del state
        return upright(observation[:, :2])

    def scene(self, state: GatherState) -> Scene:
        """Goals and agents on the grid."""
        return scene(state)

    def _time_step(
        self, state: GatherState, reward: Float[Array, ""], terminated: Bool[Array, ""]
    ) -> TimeStep:
        n = self.num_agents
        return TimeStep(
            observation=observe(state),
            state=global_state(state),
            mask=jnp.ones((n, self.num_actions), bool),
            reward=reward,
            agent_rewards=jnp.broadcast_to(reward / n, (n,)),
            terminated=terminated,
            truncated=state.steps >= self.max_steps,
        )
