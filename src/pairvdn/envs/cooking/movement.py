"""Turning, walking, and who stands in whose way."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32

from pairvdn.envs.cooking.catalogue import Tile
from pairvdn.envs.cooking.types import Cooks

NOTHING, LEFT, RIGHT, DOWN, UP = range(5)


class Intent(NamedTuple):
    """What comes of the actions, once collisions are settled."""

    facing: Int32[Array, " n"]
    cell: Int32[Array, " n"]  # where each agent stands afterwards
    touched: Int32[Array, " n"]  # the tile that it turns to ...
    touches: Bool[Array, " n"]  # ... and whether it lays hands on it


def intend(
    tiles: Int32[Array, " cells"], width: int, cooks: Cooks, actions: Int32[Array, " n"]
) -> Intent:
    """Settle all moves at once.

    An agent wants the floor that it turns to, or else its own cell. It stays if anybody else wants
    the same cell. Wishes are not revised afterwards, so an agent may walk into the cell of one that
    was just held up, and both share it; swapping cells is legal too.
    """
    height = tiles.shape[0] // width
    right = (actions == RIGHT).astype(jnp.int32) - (actions == LEFT).astype(jnp.int32)
    down = (actions == DOWN).astype(jnp.int32) - (actions == UP).astype(jnp.int32)
    x, y = cooks.cell % width + right, cooks.cell // width + down
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    target = jnp.where(inside, y * width + x, cooks.cell)
    walkable = tiles[target] == Tile.FLOOR
    wish = jnp.where(walkable, target, cooks.cell)
    contested = jnp.sum(wish[:, None] == wish[None, :], axis=1) > 1
    return Intent(
        facing=jnp.where(actions == NOTHING, cooks.facing, actions),
        cell=jnp.where(contested, cooks.cell, wish),
        touched=target,
        touches=~walkable,
    )
