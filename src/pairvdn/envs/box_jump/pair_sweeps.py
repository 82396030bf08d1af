"""The order in which pairs of boxes are solved.

A Gauss-Seidel sweep visits every pair once, and each visit sees the changes of earlier ones. Only
visits without a common box can run in parallel, so pairs come in ROUNDS of disjoint pairs. The
boxes of a round are adjacent in memory: no gather, no scatter.

A sweep consists of phases. In each phase boxes sit at a table, the two sides of which meet, and
after each round they move to other seats. Numbers of pairs are arrays [rounds, pairs, ...].
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

Visit: TypeAlias = Callable[[Any, Any, Any, Any], tuple[Any, Any, Any]]
Boxes: TypeAlias = Any  # one array [boxes, ...], of NumPy or JAX

BLOCK = 8  # boxes per block of `near_pairs`


class Phase(NamedTuple):
    """Rounds of one table; the functions are of one array."""

    rounds: int
    sit_down: Callable[[Boxes], tuple[Boxes, Boxes]]
    move_on: Callable[[Boxes, Boxes], tuple[Boxes, Boxes]]
    get_up: Callable[[Boxes, Boxes], Boxes]


Sweep: TypeAlias = tuple[Phase, ...]


def all_pairs(bodies: int) -> Sweep:
    """Visit every pair of an even number of boxes: n - 1 rounds of n / 2 pairs.

    Round robin by the circle method: boxes sit at a table, opposite ones meet, then all but the
    first move on by one seat. After n - 1 rounds all pairs have met, and every box is back at its
    seat.
    """
    half = bodies // 2
    return (
        Phase(
            rounds=bodies - 1,
            sit_down=lambda x: (x[:half], x[half:][::-1]),
            move_on=_around_the_table,
            get_up=lambda a, b: _join(a, b[::-1]),
        ),
    )


def near_pairs(bodies: int) -> Sweep:
    """Visit every pair at most `BLOCK` positions apart: 3 BLOCK - 1 rounds of n / 2 pairs.

    The number of boxes is a multiple of 2 BLOCK and at least 4 BLOCK. Their row is cut into blocks.
    First each even block and the next one meet as in `all_pairs`, then each odd block meets the
    next one (the last meets the first), box by box.
    """
    (within,) = all_pairs(2 * BLOCK)

    def shifted(x: Boxes) -> tuple[Boxes, Boxes]:
        groups = _to_groups(_join(x[BLOCK:], x[:BLOCK]))
        return groups[:BLOCK], groups[BLOCK:]

    def shifted_back(a: Boxes, b: Boxes) -> Boxes:
        x = _from_groups(_join(a, b))
        return _join(x[-BLOCK:], x[:-BLOCK])

    return (
        within._replace(
            sit_down=lambda x: within.sit_down(_to_groups(x)),
            get_up=lambda a, b: _from_groups(within.get_up(a, b)),
        ),
        Phase(
            rounds=BLOCK,
            sit_down=shifted,
            move_on=lambda a, b: (a, _join(b[1:], b[:1])),
            get_up=shifted_back,
        ),
    )


def run(sweep: Sweep, visit: Visit, bodies: Any, rows: Any, kept: Any) -> tuple[Any, Any]:
    """Visit all pairs; returns the boxes and what was kept.

    `bodies` is a pytree of arrays [boxes, ...]. `visit(a, b, row, kept) -> a, b, kept` treats all
    pairs of a round. `rows` are only read; `kept`, of the same shape, is changed in place.
    """
    start = 0
    for phase in sweep:

        def one_round(number: Any, carry: Any, phase: Phase = phase) -> Any:
            first, second, kept = carry
            row, mine = jax.tree.map(lambda x: _entry(x, number), (rows, kept))
            first, second, mine = visit(first, second, row, mine)
            kept = jax.tree.map(lambda x, new: _with_entry(x, number, new), kept, mine)
            return *_both(phase.move_on, first, second), kept

        first, second = _both(phase.sit_down, bodies)
        first, second, kept = jax.lax.fori_loop(
            start, start + phase.rounds, one_round, (first, second, kept)
        )
        bodies = jax.tree.map(phase.get_up, first, second)
        start += phase.rounds
    return bodies, kept


def meetings(sweep: Sweep, bodies: int) -> tuple[np.ndarray, np.ndarray]:
    """The two boxes of each pair, [rounds, pairs, ...]."""
    met = []
    for phase in sweep:
        seats = phase.sit_down(np.arange(bodies))
        for _ in range(phase.rounds):
            met.append(seats)
            seats = phase.move_on(*seats)
    first, second = zip(*met, strict=True)
    return np.stack(first), np.stack(second)


def meet(sweep: Sweep, bodies: Any) -> tuple[Any, Any]:
    """The first and the second box of each pair, as pytrees of arrays [rounds, pairs, ...]."""
    first, second = meetings(sweep, len(jax.tree.leaves(bodies)[0]))

    def take(which: np.ndarray) -> Any:
        return jax.tree.map(lambda x: x.at[which].get(mode="promise_in_bounds"), bodies)

    return take(first), take(second)


def no_rows(sweep: Sweep, bodies: int, dtype: Any) -> jax.Array:
    """Zeros, one per pair."""
    return jnp.zeros(meetings(sweep, bodies)[0].shape, dtype)


def _both(function: Callable[..., tuple[Any, Any]], *trees: Any) -> tuple[Any, Any]:
    """Two pytrees from a function of leaves that returns two."""
    leaves, structure = jax.tree.flatten(trees[0])
    results = [function(*x) for x in zip(leaves, *map(jax.tree.leaves, trees[1:]), strict=True)]
    first, second = zip(*results, strict=True)
    return jax.tree.unflatten(structure, first), jax.tree.unflatten(structure, second)


def _entry(x: jax.Array, number: jax.Array) -> jax.Array:
    entry: jax.Array = jax.lax.dynamic_index_in_dim(
        x, number, keepdims=False, allow_negative_indices=False
    )
    return entry


def _with_entry(x: jax.Array, number: jax.Array, new: jax.Array) -> jax.Array:
    changed: jax.Array = jax.lax.dynamic_update_index_in_dim(
        x, new, number, 0, allow_negative_indices=False
    )
    return changed


def _around_the_table(a: Boxes, b: Boxes) -> tuple[Boxes, Boxes]:
    if len(a) == 1:
        return a, b
    return _join(a[:1], b[:1], a[1:-1]), _join(b[1:], a[-1:])


def _join(*parts: Boxes) -> Boxes:
    module: Any = np if isinstance(parts[0], np.ndarray) else jnp
    return module.concatenate(parts)


def _to_groups(x: Boxes) -> Boxes:
    """Two adjacent blocks form a group; the groups become the second axis."""
    return x.reshape(-1, 2 * BLOCK, *x.shape[1:]).swapaxes(0, 1)


def _from_groups(x: Boxes) -> Boxes:
    return x.swapaxes(0, 1).reshape(-1, *x.shape[2:])
