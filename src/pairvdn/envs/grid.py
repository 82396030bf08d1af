"""Helpers for games on a grid of cells. A cell is (row, column), row 0 on top."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.scene import Lines

MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right


def inside(cells: Int32[Array, "*many 2"], rows: int, columns: int) -> Bool[Array, "*many"]:
    """Which cells are on the map."""
    row, column = cells[..., 0], cells[..., 1]
    return (row >= 0) & (row < rows) & (column >= 0) & (column < columns)


def same_cell(
    first: Int32[Array, "*#many 2"], second: Int32[Array, "*#many 2"]
) -> Bool[Array, "..."]:
    """Which cells are the same; axes of length 1 are broadcast."""
    return (first[..., 0] == second[..., 0]) & (first[..., 1] == second[..., 1])


def upright(cells: Float[Array, "*many 2"]) -> Float[Array, "*many 2"]:
    """Rows and columns as positions with the same distances: x to the right, y up."""
    return jnp.stack([cells[..., 1], -cells[..., 0]], axis=-1)


def centres(cells: Int32[Array, "*many 2"], rows: int) -> Float[Array, "*many 2"]:
    """The middle of each cell for a scene: x to the right, y up, cells of side 1."""
    row, column = jnp.moveaxis(cells.astype(jnp.float32), -1, 0)
    return jnp.stack([column + 0.5, rows - row - 0.5], axis=-1)


def grid_lines(rows: int, columns: int) -> Lines:
    """The lines between and around the cells."""
    across = jnp.arange(rows + 1, dtype=jnp.float32)
    along = jnp.arange(columns + 1, dtype=jnp.float32)
    left, bottom = jnp.zeros_like(across), jnp.zeros_like(along)
    start = [jnp.stack([left, across], axis=1), jnp.stack([along, bottom], axis=1)]
    end = [jnp.stack([left + columns, across], axis=1), jnp.stack([along, bottom + rows], axis=1)]
    return Lines(
        start=jnp.concatenate(start),
        end=jnp.concatenate(end),
        colour=jnp.full((rows + columns + 2, 3), 0.8),
    )
