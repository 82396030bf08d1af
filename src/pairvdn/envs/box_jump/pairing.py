"""In which order pairs of boxes are solved.

A Gauss-Seidel sweep visits every pair once and lets each visit see the changes made before it. Two
visits may be done at once only if they share no box, so pairs come in ROUNDS of disjoint pairs. All
boxes of a round are already side by side in memory: no gather, no scatter.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

Body = TypeVar("Body")  # a pytree of arrays [boxes, ...]
Visit = Callable[[Any, Any, Any], tuple[Any, Any, Any]]


def num_rounds(num_bodies: int) -> int:
    """Rounds of a sweep over `num_bodies` (an even number)."""
    return num_bodies - 1


def sweep(visit: Visit, bodies: Body, rows: Any) -> tuple[Body, Any]:
    """Visit every pair once: `visit(a, b, row) -> a, b, out` on the n/2 pairs of each round.

    Round robin by the circle method: boxes sit at a table, those opposite each other meet, then
    all but the first move on by one chair. After n - 1 rounds everyone met everyone and sits where
    they began. `rows` has one entry per round and pair, and so has the result's second part.
    """
    half = jax.tree.leaves(bodies)[0].shape[0] // 2
    first = jax.tree.map(lambda x: x[:half], bodies)
    second = jax.tree.map(lambda x: x[half:][::-1], bodies)

    def round_of_pairs(seats: tuple[Body, Body], row: Any) -> tuple[tuple[Body, Body], Any]:
        a, b, out = visit(*seats, row)
        return _move_on(a, b), out

    (first, second), out = jax.lax.scan(round_of_pairs, (first, second), rows)
    joined = jax.tree.map(lambda x, y: jnp.concatenate([x, y[::-1]]), first, second)
    return joined, out


def _move_on(a: Body, b: Body) -> tuple[Body, Body]:
    def upper(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.concatenate([x[:1], y[:1], x[1:-1]]) if len(x) > 1 else x

    def lower(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.concatenate([y[1:], x[-1:]]) if len(x) > 1 else y

    return jax.tree.map(upper, a, b), jax.tree.map(lower, a, b)
