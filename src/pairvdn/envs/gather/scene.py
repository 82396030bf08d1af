"""What Gather looks like, as data."""

import jax.numpy as jnp
import numpy as np

from pairvdn.envs.gather.rules import COLUMNS, GOALS, ROWS
from pairvdn.envs.gather.types import GatherState
from pairvdn.envs.grid import centres, grid_lines
from pairvdn.envs.scene import Circles, Rectangles, Scene

AGENT_COLOURS = ((0.6, 0.6, 0.6), (0.35, 0.35, 0.85))  # not informed, informed
GOAL_COLOURS = ((0.9, 0.85, 0.6), (0.4, 0.8, 0.4))  # another, the true one
SPREAD = 0.25  # agents at one cell stand in a circle


def scene(state: GatherState) -> Scene:
    """Goals, the true one green, and agents, those who know it blue."""
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
