"""Gather: agents must meet at a goal that only some of them know."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import MOST_AGENTS, number_within, whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.grid import MOVES, centres, grid_lines, same_cell, upright
from pairvdn.envs.scene import Circles, Rectangles, Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

ROWS, COLUMNS = 3, 5
LAST_CELL = np.array([[ROWS - 1, COLUMNS - 1]], np.int32)
GOALS = np.array([(1, 0), (1, 2), (1, 4)], np.int32)
DISPLACEMENTS = np.array([*MOVES, (0, 0)], np.int32)  # of each action; the last is to stay
UNKNOWN = -1.0  # the observation of an unknown goal
ALL_AT_TRUE_GOAL, ALL_AT_OTHER_GOALS, SOME_AT_TRUE_GOAL = 10.0, 5.0, -5.0  # rewards
AGENT_COLOURS = ((0.6, 0.6, 0.6), (0.35, 0.35, 0.85))  # not informed, informed
GOAL_COLOURS = ((0.9, 0.85, 0.6), (0.4, 0.8, 0.4))  # another, the true one
SPREAD = 0.25  # agents at one cell are drawn in a circle


class GatherState(eqx.Module):
    """The agents' cells, the index of the true goal, and the agents that know it."""

    agents: Int32[Array, "n 2"]
    goal: Int32[Array, ""]
    informed: Bool[Array, " n"]
    steps: Int32[Array, ""]


def vote(agents: Int32[Array, "n 2"]) -> Int32[Array, " n"]:
    """The goal nearest to each agent.

    Goal 0 only if it is nearer than goal 1, goal 2 also if it is just as near.
    """
    steps = jnp.sum(jnp.abs(agents[:, None] - jnp.asarray(GOALS)[None]), axis=-1)
    middle_or_right = jnp.where(steps[:, 2] <= steps[:, 1], 2, 1)
    return jnp.where(steps[:, 0] < steps[:, 1], 0, middle_or_right).astype(jnp.int32)


def observe(state: GatherState) -> Float[Array, "n 4"]:
    """Own row and column, then the goal's, or -1 and -1."""
    goal = jnp.asarray(GOALS)[state.goal].astype(jnp.float32)
    known = jnp.where(state.informed[:, None], goal[None], UNKNOWN)
    return jnp.concatenate([state.agents.astype(jnp.float32), known], axis=1)


def global_state(state: GatherState) -> Float[Array, " s"]:
    """Row, column and a 1 if it knows the goal, of every agent; then the goal's row and column."""
    agents = jnp.concatenate([state.agents, state.informed[:, None].astype(jnp.int32)], axis=1)
    goal = jnp.asarray(GOALS)[state.goal]
    return jnp.concatenate([agents.reshape(-1), goal]).astype(jnp.float32)


def team_reward(
    at_true_goal: Bool[Array, " n"], at_a_goal: Bool[Array, " n"], is_last: Bool[Array, ""]
) -> Float[Array, ""]:
    """10 if all agents are at the true goal; other rewards only in the last step."""
    others = jnp.where(jnp.all(at_a_goal), ALL_AT_OTHER_GOALS, 0.0)
    at_the_end = jnp.where(jnp.any(at_true_goal), SOME_AT_TRUE_GOAL, others)
    return jnp.where(jnp.all(at_true_goal), ALL_AT_TRUE_GOAL, jnp.where(is_last, at_the_end, 0.0))


def approach(
    before: Int32[Array, "n 2"], after: Int32[Array, "n 2"], goal: Int32[Array, ""]
) -> Float[Array, ""]:
    """Steps by which all agents together have come nearer to the true goal."""
    there = jnp.asarray(GOALS)[goal][None]
    return jnp.sum(jnp.abs(before - there) - jnp.abs(after - there)).astype(jnp.float32)


class Gather(Environment[GatherState]):
    """A climbing game in space: all agents must meet at the true goal, which only some know.

    Map: 3 x 5 cells, goals in row 1, columns 0, 2 and 4. Any number of agents may share a cell.

    Start: each agent is at a random cell and votes for the goal nearest to it. In a tie between
    goals 0 and 1 it votes for 1, in a tie between 1 and 2 for 2. The goal with the most votes is
    the true one (in a tie, the lowest index). Only the agents that voted for it know it.

    Actions (5): up, down, left, right, stay. All are always allowed; a move into a wall is a stay.

    Observation (4): own row and column, then the true goal's, or -1 and -1 if it is unknown.
    State (3n + 2): for every agent its row, its column and a 1 if it knows the goal; then the true
    goal's row and column.

    Reward: 10 when all agents are at the true goal. Otherwise, in the last step only: -5 if some
    are at the true goal, 5 if all are at goals and none is at the true one, else 0. Each agent gets
    1/n of it.

    End: terminated when all are at the true goal, and also after `max_steps`, because no reward can
    follow; then `truncated` is set as well.

    Args:
        num_agents: Number of agents that must meet.
        max_steps: Steps after which an episode ends.
        approach_reward: Training reward, 0 in the game itself: paid to the team for each step an
            agent moves nearer to the true goal, and taken back when it moves away.
    """

    name = "gather"
    action_names = ("up", "down", "left", "right", "stay")
    observation_names = ("row", "column", "goal's row", "goal's column")
    spec: EnvSpec = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    approach_reward: float = eqx.field(static=True)

    def __init__(
        self, num_agents: int = 5, max_steps: int = 8, approach_reward: float | int = 0.0
    ) -> None:
        n = whole_number("num_agents", num_agents, 2, MOST_AGENTS)
        self.spec = EnvSpec(
            num_agents=n,
            num_actions=len(DISPLACEMENTS),
            observation_size=4,
            state_size=3 * n + 2,
            has_positions=True,
        )
        self.max_steps = whole_number("max_steps", max_steps, 1)
        self.approach_reward = number_within("approach_reward", approach_reward, 0, jnp.inf)

    def reset(self, key: PRNGKey) -> tuple[GatherState, TimeStep]:
        """Agents at random cells; they vote for the goal."""
        cells = jax.random.randint(key, (self.num_agents,), 0, ROWS * COLUMNS, jnp.int32)
        agents = jnp.stack([cells // COLUMNS, cells % COLUMNS], axis=1)
        votes = vote(agents)
        counts = jnp.sum(votes[:, None] == jnp.arange(len(GOALS), dtype=jnp.int32)[None], axis=0)
        goal = jnp.argmax(counts).astype(jnp.int32)  # the first of those with most votes
        state = GatherState(agents, goal, votes == goal, jnp.int32(0))
        return state, self._time_step(state)

    def step(
        self, key: PRNGKey, state: GatherState, actions: Int32[Array, " n"]
    ) -> tuple[GatherState, TimeStep]:
        """Move all agents at the same time. Nothing is random, so `key` is not used."""
        actions = self.as_actions(actions, no_op=self.action_names.index("stay"))
        del key
        displacements = jnp.asarray(DISPLACEMENTS)[actions]
        agents = jnp.clip(state.agents + displacements, 0, jnp.asarray(LAST_CELL))
        after = GatherState(agents, state.goal, state.informed, state.steps + 1)
        at_goals = same_cell(agents[:, None], jnp.asarray(GOALS)[None])
        at_true_goal, is_last = at_goals[:, state.goal], after.steps >= self.max_steps
        reward = team_reward(at_true_goal, jnp.any(at_goals, axis=1), is_last)
        if self.approach_reward:
            reward += self.approach_reward * approach(state.agents, agents, state.goal)
        return after, self._time_step(after, reward, jnp.all(at_true_goal) | is_last)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """The agents' cells: x to the right, y up."""
        del state
        return upright(observation[:, :2])

    def measures(self, state: GatherState) -> dict[str, Float[Array, ""]]:
        """`won`: 1 if all agents are at the true goal."""
        won = jnp.all(same_cell(state.agents, jnp.asarray(GOALS)[state.goal][None]))
        return {"won": won.astype(jnp.float32)}

    def scene(self, state: GatherState) -> Scene:
        """Goals, the true one green, and agents, the informed ones blue."""
        n, g = state.agents.shape[0], len(GOALS)
        turn = 2 * np.pi * np.arange(n) / n
        offsets = SPREAD * np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
        is_true = (jnp.arange(g, dtype=jnp.int32) == state.goal).astype(jnp.int32)
        return Scene(
            bounds=jnp.array([0.0, 0.0, COLUMNS, ROWS]),
            rectangles=Rectangles(
                centre=centres(jnp.asarray(GOALS), ROWS),
                size=jnp.ones((g, 2)),
                angle=jnp.zeros(g),
                colour=jnp.array(GOAL_COLOURS)[is_true],
                agent=jnp.full((g,), -1, jnp.int32),
            ),
            circles=Circles(
                centre=centres(state.agents, ROWS) + offsets,
                radius=jnp.full((n,), 0.15),
                colour=jnp.array(AGENT_COLOURS)[state.informed.astype(jnp.int32)],
                agent=jnp.arange(n, dtype=jnp.int32),
            ),
            lines=grid_lines(ROWS, COLUMNS),
        )

    def _time_step(
        self,
        state: GatherState,
        reward: Float[Array, ""] | None = None,
        terminated: Bool[Array, ""] | bool = False,
    ) -> TimeStep:
        return self.time_step(
            observation=observe(state),
            state=global_state(state),
            rewards=reward,
            terminated=terminated,
            truncated=state.steps >= self.max_steps,
        )
