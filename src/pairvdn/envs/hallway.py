"""Hallway: groups must arrive at the end of their hallways at once, and alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.grid import centres, grid_lines
from pairvdn.envs.scene import Circles, Rectangles, Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

GROUPS = (2, 2, 2, 3, 3)  # agents in each
NUM_AGENTS = sum(GROUPS)
GROUP_OF = np.repeat(np.arange(len(GROUPS)), GROUPS)
MEMBERS = np.arange(len(GROUPS))[:, None] == GROUP_OF[None]  # group, agent
FURTHEST = 4  # place in a hallway; the goal is place 0
DISPLACEMENTS = np.array([0, -1, 1], np.int32)  # of each action
ARRIVAL, JAM = 1.0, -1.5  # rewards
COLOURS = ((0.75, 0.75, 0.75), (0.35, 0.45, 0.75))  # out of the game, in the game


class HallwayState(eqx.Module):
    """Each agent's place, the groups that are still in the game, and how many have won."""

    places: Int32[Array, " n"]
    playing: Bool[Array, " groups"]
    arrived: Int32[Array, ""]  # groups that arrived at once and alone
    steps: Int32[Array, ""]


def at_goal(places: Int32[Array, " n"]) -> tuple[Bool[Array, " groups"], Bool[Array, " groups"]]:
    """The groups with all agents at place 0, and those with at least one."""
    members = jnp.asarray(MEMBERS)
    there = (places == 0)[None]
    return jnp.all(there | ~members, axis=1), jnp.any(there & members, axis=1)


class Hallway(Environment[HallwayState]):
    """Groups of agents that do not see each other must reach the goal in the same step, and alone.

    Map: a hallway for each of 12 agents, with places 0 (the goal) to 4. The agents form five
    groups: 0-1, 2-3, 4-5, 6-8, 9-11.

    Start: each agent is at a random place from 1 to 4.

    Actions (3): stay, towards the goal, away from it. All are always allowed; at place 4, away is a
    stay. Agents of a group that is out of the game do not move.

    Step: all agents move. Then a group with all its agents at the goal has arrived and is out of
    the game. A group with some of its agents there, but not all, is out of the game too.

    Observation (2): own place, and a 1 while the group is in the game. State (24): all
    observations, agent by agent.

    Reward: 1 for a group that arrives. If several groups arrive in the same step, each of them
    gives -0.5 instead. Each agent gets 1/n of it. The maximum is 5.

    End: terminated when all groups are out of the game, truncated after `max_steps`.

    Args:
        max_steps: Steps after which an episode is truncated.
    """

    name = "hallway"
    spec = EnvSpec(
        num_agents=NUM_AGENTS,
        num_actions=len(DISPLACEMENTS),
        observation_size=2,
        state_size=2 * NUM_AGENTS,
    )
    action_names = ("stay", "towards the goal", "away")
    observation_names = ("place", "in the game")
    max_steps: int = eqx.field(static=True)

    def __init__(self, max_steps: int = 14) -> None:
        self.max_steps = whole_number("max_steps", max_steps, 1)

    def reset(self, key: PRNGKey) -> tuple[HallwayState, TimeStep]:
        """Each agent at a random place of its hallway; all groups are in the game."""
        places = jax.random.randint(key, (NUM_AGENTS,), 1, FURTHEST + 1, jnp.int32)
        state = HallwayState(places, jnp.ones(len(GROUPS), bool), jnp.int32(0), jnp.int32(0))
        return state, self._time_step(state)

    def step(
        self, key: PRNGKey, state: HallwayState, actions: Int32[Array, " n"]
    ) -> tuple[HallwayState, TimeStep]:
        """Move all agents, then count the groups that arrive. Nothing is random."""
        del key
        actions = self.as_actions(actions)
        moves = jnp.where(state.playing[GROUP_OF], jnp.asarray(DISPLACEMENTS)[actions], 0)
        places = jnp.clip(state.places + moves, 0, FURTHEST)
        everyone, someone = at_goal(places)
        arriving = jnp.sum(everyone & state.playing, dtype=jnp.int32)
        alone = arriving == 1
        after = HallwayState(
            places,
            playing=state.playing & ~someone,
            arrived=state.arrived + alone.astype(jnp.int32),
            steps=state.steps + 1,
        )
        each = ARRIVAL + jnp.where(arriving > 1, JAM, 0.0)
        return after, self._time_step(after, each * arriving.astype(jnp.float32))

    def measures(self, state: HallwayState) -> dict[str, Float[Array, ""]]:
        """`arrived`: groups that arrived alone; `won`: 1 if all did."""
        won = state.arrived == len(GROUPS)
        return {"arrived": state.arrived.astype(jnp.float32), "won": won.astype(jnp.float32)}

    def scene(self, state: HallwayState) -> Scene:
        """A row for each agent with its goal on the left; rows of a group share a shade."""
        agents = jnp.arange(NUM_AGENTS, dtype=jnp.int32)
        goals = centres(jnp.stack([agents, jnp.zeros_like(agents)], axis=1), NUM_AGENTS)
        shade = jnp.asarray(np.where(GROUP_OF % 2, 0.7, 0.85).astype(np.float32))
        playing = state.playing[GROUP_OF].astype(jnp.int32)
        return Scene(
            bounds=jnp.array([0.0, 0.0, FURTHEST + 1, NUM_AGENTS]),
            rectangles=Rectangles(
                centre=goals,
                size=jnp.ones((NUM_AGENTS, 2)),
                angle=jnp.zeros(NUM_AGENTS),
                colour=jnp.stack([shade - 0.2, shade, shade - 0.2], axis=1),
                agent=jnp.full((NUM_AGENTS,), -1, jnp.int32),
            ),
            circles=Circles(
                centre=centres(jnp.stack([agents, state.places], axis=1), NUM_AGENTS),
                radius=jnp.full((NUM_AGENTS,), 0.35),
                colour=jnp.array(COLOURS)[playing],
                agent=agents,
            ),
            lines=grid_lines(NUM_AGENTS, FURTHEST + 1),
        )

    def _time_step(self, state: HallwayState, reward: Float[Array, ""] | None = None) -> TimeStep:
        observation = jnp.stack([state.places, state.playing[GROUP_OF].astype(jnp.int32)], axis=1)
        observation = observation.astype(jnp.float32)
        return self.time_step(
            observation=observation,
            state=observation.reshape(-1),
            rewards=reward,
            terminated=~jnp.any(state.playing),
            truncated=state.steps >= self.max_steps,
        )
