"""The order in which pairs of boxes are solved.

A Gauss-Seidel sweep visits every pair once, and each visit sees the changes of earlier ones. Only
visits without a common box can run in parallel, so pairs come in ROUNDS of disjoint pairs. The
boxes of a round are adjacent in memory: no gather, no scatter.

A sweep is `sweep(visit, bodies, rows) -> bodies, out`. `bodies` is a pytree of arrays [boxes, ...].
`visit(a, b, row) -> a, b, out` treats all pairs of a round at once. `rows` and `out` have one entry
per round and pair; `rows_of_all` and `rows_of_near` create them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

Visit: TypeAlias = Callable[[Any, Any, Any], tuple[Any, Any, Any]]
Sweep: TypeAlias = Callable[[Visit, Any, Any], tuple[Any, Any]]

BLOCK = 8  # boxes per block of `near_pairs`


class NearRows(NamedTuple):
    """One number per pair of `near_pairs`, [rounds, pairs, groups, ...], for both halves."""

    within: jax.Array
    between: jax.Array


def all_pairs(visit: Visit, bodies: Any, rows: Any) -> tuple[Any, Any]:
    """Visit every pair of an even number of boxes: n - 1 rounds of n / 2 pairs.

    Round robin by the circle method: boxes sit at a table, opposite ones meet, then all but the
    first move on by one seat. After n - 1 rounds all pairs have met, and every box is back at its
    seat.
    """
    half = jax.tree.leaves(bodies)[0].shape[0] // 2
    first = jax.tree.map(lambda x: x[:half], bodies)
    second = jax.tree.map(lambda x: x[half:][::-1], bodies)

    def round_of_pairs(seats: tuple[Any, Any], row: Any) -> tuple[tuple[Any, Any], Any]:
        a, b, out = visit(*seats, row)
        return _move_on(a, b), out

    (first, second), out = jax.lax.scan(round_of_pairs, (first, second), rows)
    return jax.tree.map(lambda x, y: jnp.concatenate([x, y[::-1]]), first, second), out


def near_pairs(visit: Visit, bodies: Any, rows: Any) -> tuple[Any, Any]:
    """Visit every pair at most `BLOCK` positions apart: 3 BLOCK - 1 rounds of n / 2 pairs.

    The number of boxes is a multiple of 2 BLOCK and at least 4 BLOCK. Their row is cut into blocks.
    First each even block and the next one meet as in `all_pairs`, then each odd block meets the
    next one (the last meets the first), box by box.
    """
    within = jax.tree.map(lambda row: row.within, rows, is_leaf=_is_near_rows)
    between = jax.tree.map(lambda row: row.between, rows, is_leaf=_is_near_rows)
    bodies = jax.tree.map(_to_groups, bodies)
    bodies, within = all_pairs(visit, bodies, within)
    bodies = jax.tree.map(lambda x: jnp.roll(_from_groups(x), -BLOCK, axis=0), bodies)
    groups = jax.tree.map(_to_groups, bodies)
    left = jax.tree.map(lambda x: x[:BLOCK], groups)
    right = jax.tree.map(lambda x: x[BLOCK:], groups)

    def round_of_pairs(seats: tuple[Any, Any], row: Any) -> tuple[tuple[Any, Any], Any]:
        a, b, out = visit(*seats, row)
        return (a, jax.tree.map(lambda x: jnp.concatenate([x[1:], x[:1]]), b)), out

    (left, right), between = jax.lax.scan(round_of_pairs, (left, right), between)
    groups = jax.tree.map(lambda x, y: jnp.concatenate([x, y]), left, right)
    bodies = jax.tree.map(lambda x: jnp.roll(_from_groups(x), BLOCK, axis=0), groups)
    return bodies, jax.tree.map(NearRows, within, between)


def rows_of_all(bodies: int, dtype: Any) -> jax.Array:
    """Zeros, one per pair of `all_pairs`."""
    return jnp.zeros((bodies - 1, bodies // 2), dtype)


def rows_of_near(bodies: int, dtype: Any) -> NearRows:
    """Zeros, one per pair of `near_pairs`."""
    shape = (BLOCK, bodies // (2 * BLOCK))
    return NearRows(jnp.zeros((2 * BLOCK - 1, *shape), dtype), jnp.zeros((BLOCK, *shape), dtype))


def _is_near_rows(tree: Any) -> bool:
    return isinstance(tree, NearRows)


def _move_on(a: Any, b: Any) -> tuple[Any, Any]:
    def upper(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.concatenate([x[:1], y[:1], x[1:-1]]) if len(x) > 1 else x

    def lower(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.concatenate([y[1:], x[-1:]]) if len(x) > 1 else y

    return jax.tree.map(upper, a, b), jax.tree.map(lower, a, b)


def _to_groups(x: jax.Array) -> jax.Array:
    """Two adjacent blocks form a group; the groups become the second axis."""
    return jnp.swapaxes(x.reshape(-1, 2 * BLOCK, *x.shape[1:]), 0, 1)


def _from_groups(x: jax.Array) -> jax.Array:
    return jnp.swapaxes(x, 0, 1).reshape(-1, *x.shape[2:])
