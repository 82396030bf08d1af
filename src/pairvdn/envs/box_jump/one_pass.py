"""`in_one_pass`: several results of one loop over memory.

XLA:CPU makes a loop of its own for every result, and each loop computes again what results share. A
reduction of several arrays, however, is one loop, into which XLA fuses all that leads to the
arrays. So each result is added to nothing, along an axis of two: itself, then -0, which changes no
bit. The compiler drops that axis; what remains is one vectorised loop that stores all results.
(An optimization barrier would not stop XLA:CPU from computing an expression several times.)
"""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array

Tree = TypeVar("Tree")
UNROLLED = 16  # boxes that one loop of `over_boxes` visits


def in_one_pass(tree: Tree) -> Tree:
    """The same pytree of numbers, all of one shape, computed in one loop."""
    leaves, structure = jax.tree.flatten(tree)
    results = jax.lax.reduce(
        tuple(map(_with_nothing, leaves)), tuple(map(_nothing, leaves)), _add, dimensions=(0,)
    )
    result: Tree = jax.tree.unflatten(structure, results)
    return result


def over_boxes(
    visit: Callable[[Tree, Any, int], Tree], start: Tree, boxes: Any, count: int
) -> Tree:
    """Fold over boxes: `visit(so_far, one box, its index)` for each of `count`, in few loops.

    `boxes` are arrays [boxes, ...], of which `visit` gets [1, ...]. A reduction over boxes would
    not be vectorised, or would store all n^2 comparisons first.
    """
    so_far = start
    for index in range(count):
        so_far = visit(so_far, jax.tree.map(lambda x, i=index: x[i : i + 1], boxes), index)
        if index % UNROLLED == UNROLLED - 1 or index == count - 1:
            so_far = in_one_pass(so_far)
    return so_far


def _add(left: tuple[Array, ...], right: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _with_nothing(leaf: Array) -> Array:
    """Padded, not broadcast: XLA fuses no division into a broadcast, which might repeat it."""
    return jax.lax.pad(leaf[None], _nothing(leaf), [(0, 1, 0)] + [(0, 0, 0)] * leaf.ndim)


def _nothing(leaf: Array) -> Array:
    """What changes no bit when added; 0 would turn -0 into 0."""
    return jnp.asarray(-0.0).astype(leaf.dtype)
