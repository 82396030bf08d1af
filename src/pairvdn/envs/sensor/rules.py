"""The map, what a scan hits, and how targets move."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Int32

from pairvdn.envs.grid import inside, same_cell
from pairvdn.types import PRNGKey

ROWS, COLUMNS = 5, 9
NUM_TARGETS = 3
DETECTORS = 2  # so many sensors must scan a target

_AROUND = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)]
WINDOW = np.array(_AROUND, np.int32)  # the 3 x 3 cells around a sensor, row by row
SCANS = np.array([cell for cell in _AROUND if cell != (0, 0)], np.int32)
NOTHING = len(SCANS)  # the last action
DISPLACEMENTS = np.array([(r, c) for r in range(-2, 3) for c in range(-2, 3)], np.int32)


def sensors() -> Int[np.ndarray, "n 2"]:
    """The cells whose row and column are even."""
    rows, columns = np.meshgrid(range(0, ROWS, 2), range(0, COLUMNS, 2), indexing="ij")
    return np.stack([rows.ravel(), columns.ravel()], axis=1).astype(np.int32)


def allowed() -> Bool[Array, "n a"]:
    """Scans inside the map, and nothing; the same at any time."""
    cells = jnp.asarray(sensors())[:, None] + jnp.asarray(SCANS)[None]
    scans = inside(cells, ROWS, COLUMNS)
    return jnp.concatenate([scans, jnp.ones((scans.shape[0], 1), bool)], axis=1)


def scanned_cells(actions: Int32[Array, " n"]) -> Int32[Array, "n 2"]:
    """Where each sensor looks: its own cell, where no target can be, if it scans nothing."""
    offsets = jnp.asarray(np.concatenate([SCANS, np.zeros((1, 2), np.int32)]))
    allowed_action = jnp.take_along_axis(allowed(), actions[:, None], axis=1)
    return jnp.asarray(sensors()) + jnp.where(allowed_action, offsets[actions], 0)


def detected(scanned: Int32[Array, "n 2"], targets: Int32[Array, "k 2"]) -> Bool[Array, " k"]:
    """Which targets enough sensors scan."""
    return jnp.sum(same_cell(scanned[:, None], targets[None]), axis=0) >= DETECTORS


def place_targets(key: PRNGKey) -> Int32[Array, "k 2"]:
    """Different cells without a sensor, all choices equally likely."""
    taken = {(int(row), int(column)) for row, column in sensors()}
    free = [cell for cell in np.ndindex(ROWS, COLUMNS) if cell not in taken]
    return jax.random.permutation(key, jnp.asarray(free, jnp.int32))[:NUM_TARGETS]


def move_targets(key: PRNGKey, targets: Int32[Array, "k 2"]) -> Int32[Array, "k 2"]:
    """One target after the other goes to a free cell.

    To draw displacements again until one leads to a free cell is to draw uniformly among those that
    do, which needs no loop.
    """
    corner = jnp.array([[ROWS - 1, COLUMNS - 1]], jnp.int32)
    displacements, obstacles = jnp.asarray(DISPLACEMENTS), jnp.asarray(sensors())
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
