"""Many boxes: sort them by x, and solve only pairs that are near in this row.

Boxes can touch only if their x differ by less than `reach`. If at most BLOCK boxes are that close
to a box, every contact is between boxes at most BLOCK positions apart in the row, and
`pair_sweeps.near_pairs` visits it: the cost grows as n, not as n^2. Otherwise (a tower of more than
BLOCK boxes) all pairs are solved, which is slower and equally correct.

Impulses are stored by position in the row and permuted when boxes change positions, so that every
contact keeps its impulses.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32

from pairvdn.envs.box_jump.pair_sweeps import BLOCK, Sweep, all_pairs, meetings, near_pairs
from pairvdn.envs.box_jump.types import Impulses, RowMemory

LEAST_BOXES = 4 * BLOCK  # from this number on, near pairs are fewer than all pairs
OTHER_SIDE = np.array([0, 2, 1, 4, 3], np.int8)  # of the other box, see `contacts.side_of`


@functools.cache
def _slots(near: bool, bodies: int) -> np.ndarray:
    """The slot of (i, j) among the rows, plus 1; negative if j came first, 0 if there is none."""
    first, second = meetings(_sweep(near, bodies), bodies)
    slots = np.zeros((bodies, bodies), np.int32)
    slots[first, second] = np.arange(1, first.size + 1).reshape(first.shape)
    slots[second, first] = -slots[first, second]
    return slots


def _sweep(near: bool, bodies: int) -> Sweep:
    return (near_pairs if near else all_pairs)(bodies)


def _carry_over(
    impulses: Impulses, names: Int32[Array, "m *b"], from_near: bool, to_near: bool
) -> Impulses:
    """Impulses of one sweep in the order of another, or of the same sweep with permuted boxes.

    `names` are the positions in the first sweep of the boxes of the second.
    """
    bodies = names.shape[0]
    first, second = meetings(_sweep(to_near, bodies), bodies)
    slot = jnp.asarray(_slots(from_near, bodies))[names[first.ravel()], names[second.ravel()]]
    known, swapped = slot != 0, slot < 0
    index = jnp.maximum(jnp.abs(slot) - 1, 0)
    batch = names.ndim - 1

    def fetch(rows: Array) -> Array:
        flat = rows.reshape(-1, *rows.shape[rows.ndim - batch :])
        return jnp.where(known, jnp.take_along_axis(flat, index, axis=0), flat.dtype.type(0))

    def shape(flat: Array) -> Array:
        return flat.reshape(*first.shape, *flat.shape[1:])

    pair, side = tuple(map(fetch, impulses.pair)), fetch(impulses.pair_side)
    side = jnp.where(swapped, jnp.asarray(OTHER_SIDE)[side], side)
    if len(pair) == 3:  # the two points are in reverse order for the other box
        low, high, across = pair
        pair = jnp.where(swapped, high, low), jnp.where(swapped, low, high), across
    return Impulses(tuple(map(shape, pair)), shape(side), arrange(impulses.floor, names))


def arrange(tree: Any, order: Int32[Array, "m *b"]) -> Any:
    """Boxes in another order."""
    return jax.tree.map(lambda leaf: jnp.take_along_axis(leaf, order, axis=0), tree)


def solve_in_row(
    solve: Callable[[Sweep, Any, Impulses], tuple[Any, Impulses]],
    bodies: Any,
    x: Float[Array, "m *b"],
    reach: float,
    memory: RowMemory,
) -> tuple[Any, RowMemory]:
    """`solve(sweep, bodies, impulses)` with near pairs, or all pairs if near ones miss some."""
    boxes = jax.lax.broadcasted_iota(jnp.int32, x.shape, 0)
    row, box_at = jax.lax.sort((x, boxes), dimension=0, num_keys=1)
    place_of = jnp.put_along_axis(boxes, box_at, boxes, axis=0, inplace=False)
    # Boxes that may touch are at most BLOCK positions apart, in every example.
    enough = jnp.all(row[BLOCK + 1 :] - row[: -BLOCK - 1] >= reach)

    def by_near_pairs() -> tuple[Any, Impulses]:
        names = jnp.take_along_axis(memory.place_of, box_at, axis=0)
        impulses = _carry_over(memory.impulses, names, from_near=True, to_near=True)
        result, impulses = solve(near_pairs(len(x)), arrange(bodies, box_at), impulses)
        return arrange(result, place_of), impulses

    def by_all_pairs() -> tuple[Any, Impulses]:
        impulses = _carry_over(memory.impulses, memory.place_of, from_near=True, to_near=False)
        result, impulses = solve(all_pairs(len(x)), bodies, impulses)
        return result, _carry_over(impulses, box_at, from_near=False, to_near=True)

    result, impulses = jax.lax.cond(enough, by_near_pairs, by_all_pairs)
    return result, RowMemory(impulses, place_of)
