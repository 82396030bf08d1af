"""The map, the vote for the true goal, and how agents move."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32

from pairvdn.envs.gather.types import GatherState
from pairvdn.envs.grid import MOVES, same_cell
from pairvdn.types import PRNGKey

ROWS, COLUMNS = 3, 5
GOALS = np.array([(1, 0), (1, 2), (1, 4)], np.int32)
DISPLACEMENTS = np.array([*MOVES, (0, 0)], np.int32)  # of each action; the last is to stay
LAST_CELL = np.array([[ROWS - 1, COLUMNS - 1]], np.int32)


def start(key: PRNGKey, num_agents: int) -> GatherState:
    """Agents anywhere, also at one cell; then they vote."""
    cells = jax.random.randint(key, (num_agents,), 0, ROWS * COLUMNS, jnp.int32)
    agents = jnp.stack([cells // COLUMNS, cells % COLUMNS], axis=1)
    votes = vote(agents)
    counts = jnp.sum(votes[:, None] == jnp.arange(len(GOALS), dtype=jnp.int32)[None], axis=0)
    goal = jnp.argmax(counts).astype(jnp.int32)  # the first of those with most votes
    return GatherState(agents, goal, votes == goal, jnp.int32(0))


def vote(agents: Int32[Array, "n 2"]) -> Int32[Array, " n"]:
    """The goal nearest to each agent.

    Goal 0 only if it is nearer than goal 1, goal 2 also if it is just as near.
    """
    steps = jnp.sum(jnp.abs(agents[:, None] - jnp.asarray(GOALS)[None]), axis=-1)
    middle_or_right = jnp.where(steps[:, 2] <= steps[:, 1], 2, 1)
    return jnp.where(steps[:, 0] < steps[:, 1], 0, middle_or_right).astype(jnp.int32)


def move(agents: Int32[Array, "n 2"], actions: Int32[Array, " n"]) -> Int32[Array, "n 2"]:
    """Everyone at once; who walks into a wall stays."""
    return jnp.clip(agents + jnp.asarray(DISPLACEMENTS)[actions], 0, jnp.asarray(LAST_CELL))


def at_goals(agents: Int32[Array, "n 2"]) -> Bool[Array, "n g"]:
    """Who is at which goal."""
    return same_cell(agents[:, None], jnp.asarray(GOALS)[None])
