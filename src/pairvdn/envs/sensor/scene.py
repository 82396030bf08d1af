"""What Sensor looks like, as data."""

import jax.numpy as jnp

from pairvdn.envs.grid import centres, grid_lines
from pairvdn.envs.scene import Circles, Lines, Rectangles, Scene
from pairvdn.envs.sensor.rules import COLUMNS, ROWS, sensors
from pairvdn.envs.sensor.types import SensorState


def scene(state: SensorState) -> Scene:
    """Sensors as squares, targets as circles, and a line to the cell that each scanned last."""
    own = centres(jnp.asarray(sensors()), ROWS)
    n, k = own.shape[0], state.targets.shape[0]
    lines = grid_lines(ROWS, COLUMNS)
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
            colour=jnp.concatenate([lines.colour, jnp.tile(jnp.array([[0.1, 0.1, 0.1]]), (n, 1))]),
        ),
    )
