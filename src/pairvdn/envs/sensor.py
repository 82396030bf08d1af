"""Sensor: sensors on a grid must scan moving targets in pairs."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.grid import centres, grid_lines, inside, same_cell, upright
from pairvdn.envs.scene import Circles, Lines, Rectangles, Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

ROWS, COLUMNS = 5, 9
NUM_TARGETS = 3
DETECTORS = 2  # sensors that must scan a target at once
SCAN, DETECTION = -1.0, 3.0  # rewards
OUTSIDE = -1.0  # the observation of a cell outside the map

_CELLS = np.array(list(np.ndindex(ROWS, COLUMNS)), np.int32)
_HAS_SENSOR = (_CELLS % 2 == 0).all(axis=1)
SENSORS, FREE = _CELLS[_HAS_SENSOR], _CELLS[~_HAS_SENSOR]
WINDOW = np.array(list(np.ndindex(3, 3)), np.int32) - 1  # the cells around a sensor, row by row
SCANS = np.delete(WINDOW, 4, axis=0)  # all of them but its own
NOTHING = len(SCANS)  # the last action
WAYS = ("up left", "up", "up right", "left", "right", "down left", "down", "down right")
DISPLACEMENTS = np.array(list(np.ndindex(5, 5)), np.int32) - 2  # of a target


class SensorState(eqx.Module):
    """The targets' cells and, for scenes, the cell that each sensor scanned last."""

    targets: Int32[Array, "k 2"]
    scanned: Int32[Array, "n 2"]  # the sensor's own cell means none
    steps: Int32[Array, ""]


def allowed() -> Bool[Array, "n a"]:
    """Scans inside the map, and nothing; always the same."""
    scans = inside(jnp.asarray(SENSORS)[:, None] + jnp.asarray(SCANS)[None], ROWS, COLUMNS)
    return jnp.concatenate([scans, jnp.ones((scans.shape[0], 1), bool)], axis=1)


def scanned_cells(actions: Int32[Array, " n"]) -> Int32[Array, "n 2"]:
    """The scanned cell of each sensor; its own, where no target can be, if it scans nothing."""
    offsets = jnp.asarray(np.concatenate([SCANS, np.zeros((1, 2), np.int32)]))
    allowed_action = jnp.take_along_axis(allowed(), actions[:, None], axis=1)
    return jnp.asarray(SENSORS) + jnp.where(allowed_action, offsets[actions], 0)


def move_targets(key: PRNGKey, targets: Int32[Array, "k 2"]) -> Int32[Array, "k 2"]:
    """Move one target after another to a free cell.

    Redrawing a displacement until its cell is free is a uniform draw among the free ones, which
    needs no loop.
    """
    corner = jnp.array([[ROWS - 1, COLUMNS - 1]], jnp.int32)
    displacements, obstacles = jnp.asarray(DISPLACEMENTS), jnp.asarray(SENSORS)
    preferences = jax.random.uniform(key, (NUM_TARGETS, len(DISPLACEMENTS)))

    def move(
        targets: Int32[Array, "k 2"], index: Int32[Array, ""]
    ) -> tuple[Int32[Array, "k 2"], None]:
        cells = jnp.clip(targets[index][None] + displacements, 0, corner)
        taken = jnp.concatenate([targets, obstacles])
        free = ~jnp.any(same_cell(cells[:, None], taken[None]), axis=1)
        chosen = cells[jnp.argmax(jnp.where(free, preferences[index], -1.0))]
        return targets.at[index].set(chosen), None

    return jax.lax.scan(move, targets, jnp.arange(NUM_TARGETS, dtype=jnp.int32))[0]


def observe(targets: Int32[Array, "k 2"]) -> Float[Array, "n 11"]:
    """3 x 3 cells (1 a target, 0 none, -1 outside the map), then row and column."""
    own = jnp.asarray(SENSORS)
    cells = own[:, None] + jnp.asarray(WINDOW)[None]
    taken = jnp.any(same_cell(cells[:, :, None], targets[None, None]), axis=-1)
    seen = jnp.where(inside(cells, ROWS, COLUMNS), taken.astype(jnp.float32), OUTSIDE)
    return jnp.concatenate([seen, own.astype(jnp.float32)], axis=1)


class Sensor(Environment[SensorState]):
    """Sensors on a grid detect a moving target only if two or more scan it in the same step.

    Map: 5 x 9 cells. 15 sensors stand where row and column are both even. 3 targets start at
    different random cells without a sensor.

    Actions (9): scan one of the 8 neighbouring cells, row by row, or (8) nothing. A scan outside
    the map is masked and acts as nothing.

    Step: after the scans, the targets move one after the other. Each draws a displacement uniformly
    from {-2..2} x {-2..2}, clipped to the map, and draws again until the cell has no sensor and no
    target. Its own cell counts as taken.

    Observation (11): the 3 x 3 cells around the sensor, row by row (1 target, 0 none, -1 outside),
    then its row and column. State (6): row and column of every target.

    Reward: -1 for every scan, +3 for every target that two or more sensors scan. Each agent gets
    1/n of it. The trap is that no sensor scans. The maximum in 10 steps is 30: exactly two sensors
    scan each target in every step.

    End: truncated after `max_steps`; never terminated.

    Args:
        max_steps: Steps after which an episode is truncated.
    """

    name = "sensor"
    spec = EnvSpec(
        num_agents=len(SENSORS),
        num_actions=NOTHING + 1,
        observation_size=len(WINDOW) + 2,
        state_size=2 * NUM_TARGETS,
        has_positions=True,
    )
    action_names = (*WAYS, "nothing")
    observation_names = (*WAYS[:4], "here", *WAYS[4:], "row", "column")
    max_steps: int = eqx.field(static=True)

    def __init__(self, max_steps: int = 10) -> None:
        self.max_steps = whole_number("max_steps", max_steps, 1)

    def reset(self, key: PRNGKey) -> tuple[SensorState, TimeStep]:
        """Place the targets at different cells without a sensor, all choices equally likely."""
        targets = jax.random.permutation(key, jnp.asarray(FREE))[:NUM_TARGETS]
        state = SensorState(targets, jnp.asarray(SENSORS), jnp.int32(0))
        return state, self._time_step(state)

    def step(
        self, key: PRNGKey, state: SensorState, actions: Int32[Array, " n"]
    ) -> tuple[SensorState, TimeStep]:
        """Scan and pay, then the targets move."""
        actions = self.as_actions(actions, no_op=NOTHING)
        scanned = scanned_cells(actions)
        scans = jnp.sum(~same_cell(scanned, jnp.asarray(SENSORS)), dtype=jnp.float32)
        scanners = jnp.sum(same_cell(scanned[:, None], state.targets[None]), axis=0)
        detected = jnp.sum(scanners >= DETECTORS, dtype=jnp.float32)
        state = SensorState(move_targets(key, state.targets), scanned, state.steps + 1)
        return state, self._time_step(state, SCAN * scans + DETECTION * detected)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """The sensors' cells: x to the right, y up."""
        del state
        return upright(observation[:, -2:])

    def scene(self, state: SensorState) -> Scene:
        """Sensors as squares, targets as circles, and a line to the cell that each scanned last."""
        own = centres(jnp.asarray(SENSORS), ROWS)
        n, k = own.shape[0], state.targets.shape[0]
        lines = grid_lines(ROWS, COLUMNS)
        scans = jnp.tile(jnp.array([[0.1, 0.1, 0.1]]), (n, 1))
        return Scene(
            bounds=jnp.array([0.0, 0.0, COLUMNS, ROWS]),
            rectangles=Rectangles(
                centre=own,
                size=jnp.full((n, 2), 0.6),
                angle=jnp.zeros(n),
                colour=jnp.tile(jnp.array([[0.35, 0.45, 0.75]]), (n, 1)),
                agent=jnp.arange(n, dtype=jnp.int32),
            ),
            circles=Circles(
                centre=centres(state.targets, ROWS),
                radius=jnp.full((k,), 0.3),
                colour=jnp.tile(jnp.array([[0.85, 0.3, 0.2]]), (k, 1)),
                agent=jnp.full((k,), -1, jnp.int32),
            ),
            lines=Lines(
                start=jnp.concatenate([lines.start, own]),
                end=jnp.concatenate([lines.end, centres(state.scanned, ROWS)]),
                colour=jnp.concatenate([lines.colour, scans]),
            ),
        )

    def _time_step(self, state: SensorState, reward: Float[Array, ""] | None = None) -> TimeStep:
        return self.time_step(
            observation=observe(state.targets),
            state=state.targets.astype(jnp.float32).reshape(-1),
            mask=allowed(),
            rewards=reward,
            truncated=state.steps >= self.max_steps,
        )
