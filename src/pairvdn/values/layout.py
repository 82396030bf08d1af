"""The layout of the agents in space: their order, neighbours and offsets."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, Shaped

from pairvdn.types import EnvSpec

OFFSET_SIZE = 2  # offsets use the first two coordinates


def left_to_right(
    positions: Float[Array, "n k"], column_gap: float | None = None
) -> Int32[Array, " n"]:
    """The agents by their first coordinate, ties by index; or column by column.

    With `column_gap` the order is that of `columns`: stacked agents stay adjacent in the order,
    even if one is shifted a little to the side.
    """
    if column_gap is None:
        return _arranged(_before(_coordinates(positions)[0]))
    return columns(positions, column_gap)[0]


def columns(
    positions: Float[Array, "n k"], gap: float
) -> tuple[Int32[Array, " n"], Bool[Array, " n"]]:
    """The agents column by column, and whether each of them, in that order, starts a column.

    A column is a run of agents from left to right, each less than `gap` to the right of the
    previous one. Columns are ordered from left to right, and agents within a column from bottom to
    top, by their second coordinate.
    """
    x, y = _coordinates(positions)
    left = _before(x)
    starts = ~(left & (x[:, None] - x[None] < gap)).any(axis=1)  # nobody is near to the left
    column = ((left | _itself(x)) & starts[None]).sum(axis=1)
    order = _arranged(_before(column, y, left.sum(axis=1)))
    # A column takes the same places in the order from left to right.
    return order, starts[_arranged(left)]


def _coordinates(positions: Float[Array, "n k"]) -> Float[Array, "2 n"]:
    """The first two, in which NaN counts as infinity."""
    return jnp.where(jnp.isnan(positions), jnp.inf, positions)[:, :2].T


def _before(*keys: Shaped[Array, " n"]) -> Bool[Array, "n n"]:
    """Whether agent j comes before agent i in the order by these keys, ties by index.

    Comparing all pairs is several times faster on a CPU than a sort of so few.
    """
    agents = jnp.arange(len(keys[0]))
    before, tied = jnp.zeros((len(agents),) * 2, bool), jnp.ones((len(agents),) * 2, bool)
    for key in (*keys, agents):
        before |= tied & (key[None] < key[:, None])
        tied &= key[None] == key[:, None]
    return before


def _arranged(before: Bool[Array, "n n"]) -> Int32[Array, " n"]:
    """The agents in the order that `_before` found."""
    place = jnp.arange(len(before))
    here = before.sum(axis=1)[None] == place[:, None]
    return jnp.argmax(here, axis=1).astype(jnp.int32)


def _itself(agents: Shaped[Array, "n *k"]) -> Bool[Array, "n n"]:
    return jnp.eye(len(agents), dtype=bool)


def below_or_beside(positions: Float[Array, "n k"], gap: float) -> Int32[Array, " n"]:
    """The partner of every agent: the one below it in its column, or the foot of the next column.

    The foot, the lowest agent of a column, is paired with the foot of the next column to the right,
    and the last foot with the first: the feet form a ring, and the columns are trees on it. The
    foot of a single column is its own partner.
    """
    order, starts = columns(positions, gap)
    position = jnp.arange(order.shape[0], dtype=jnp.int32)
    none = jnp.int32(order.shape[0])
    later = jnp.append(jnp.where(starts, position, none)[1:], none)
    next_foot = jax.lax.cummin(later, reverse=True)  # the position of the next foot
    partner = jnp.where(starts, jnp.where(next_foot == none, 0, next_foot), position - 1)
    return jnp.zeros_like(order).at[order].set(order[partner])


def offsets(
    positions: Float[Array, "n k"], groups: Int32[Array, "g m"], scale: float
) -> Float[Array, "g c"]:
    """The offsets from the first member of each group to the others: tanh(difference / scale).

    Observations are relative to the width of the map, where a touch and a near miss look alike;
    offsets tell them apart.
    """
    members = positions[:, :OFFSET_SIZE][groups]
    apart = jnp.tanh((members[:, 1:] - members[:, :1]) / scale)
    return apart.reshape(groups.shape[0], -1)


def nearest(positions: Float[Array, "n k"]) -> Int32[Array, " n"]:
    """The nearest other agent of every agent; ties go to the smaller index."""
    squares = ((positions[:, None] - positions[None]) ** 2).sum(axis=-1)
    return jnp.argmin(jnp.where(_itself(positions), jnp.inf, squares), axis=1).astype(jnp.int32)


def require_locatable(spec: EnvSpec, method: str, *, instead: str) -> None:
    """Raise ValueError if the environment has no positions; suggest `instead`."""
    if not spec.has_positions:
        raise ValueError(
            f"{method} needs the positions of the agents, which this environment does not have; "
            f"use {instead}."
        )
