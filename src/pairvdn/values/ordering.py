"""Who stands beside whom: orders of agents by where they are, and how far apart partners stand."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

OFFSET_SIZE = 2  # offsets tell of the first two coordinates


def left_to_right(
    positions: Float[Array, "n k"], column_gap: float | None = None
) -> Int32[Array, " n"]:
    """The agents by their first coordinate, equal ones by index; or column by column.

    With `column_gap` the order is that of `columns`: those that stand on each other follow each
    other, which a tiny shift to the side would otherwise undo.
    """
    if column_gap is None:
        return jnp.argsort(positions[:, 0], stable=True).astype(jnp.int32)
    return columns(positions, column_gap)[0]


def columns(
    positions: Float[Array, "n k"], gap: float
) -> tuple[Int32[Array, " n"], Bool[Array, " n"]]:
    """The agents column by column, and which of them, in that order, is the lowest of a column.

    Agents of which each is less than `gap` to the right of the one before it form a column; columns
    go from left to right, and within one the agents from bottom to top, by their second coordinate.
    """
    x = positions[:, 0]
    order = jnp.argsort(x, stable=True).astype(jnp.int32)
    sideways = x[order]
    starts = (jnp.diff(sideways, prepend=sideways[:1]) >= gap).at[0].set(True)
    column = jnp.cumulative_sum(starts.astype(jnp.int32))
    within = jnp.lexsort((positions[order, 1], column))
    return order[within], starts


def below_or_beside(positions: Float[Array, "n k"], gap: float) -> Int32[Array, " n"]:
    """For every agent the one below it in its column, or the foot of the next column.

    The lowest of a column has the lowest of the next column to the right as its partner, that of
    the rightmost column the lowest of the leftmost: the feet form a ring, and the columns are
    trees on it. A single column's foot is its own partner.
    """
    order, starts = columns(positions, gap)
    place = jnp.arange(order.shape[0], dtype=jnp.int32)
    none = jnp.int32(order.shape[0])
    later = jnp.append(jnp.where(starts, place, none)[1:], none)
    next_foot = jax.lax.cummin(later, reverse=True)  # the first place that is a foot, after this
    partner = jnp.where(starts, jnp.where(next_foot == none, 0, next_foot), place - 1)
    return jnp.zeros_like(order).at[order].set(order[partner])


def offsets(
    positions: Float[Array, "n k"], groups: Int32[Array, "g m"], scale: float
) -> Float[Array, "g c"]:
    """Where the others of each group stand, seen from its first member: tanh(difference / scale).

    An observation tells places to the width of the map, in which a touch and a near miss look
    alike; this tells them apart.
    """
    places = positions[:, :OFFSET_SIZE][groups]
    apart = jnp.tanh((places[:, 1:] - places[:, :1]) / scale)
    return apart.reshape(groups.shape[0], -1)


class Ordering(eqx.Module):
    """What a value makes of where the agents stand: their order, and what networks are told."""

    column_gap: float | None = eqx.field(static=True)  # of `left_to_right`
    offset_scale: float | None = eqx.field(static=True)  # of `offsets`; None: nothing is told

    def __check_init__(self) -> None:
        for name in ("column_gap", "offset_scale"):
            given = getattr(self, name)
            if given is not None and not given > 0:
                raise ValueError(f"{name} must be above 0, or None, but is {given}.")

    def order(self, positions: Float[Array, "n k"]) -> Int32[Array, " n"]:
        """The agents in the order of a ring through them."""
        return left_to_right(positions, self.column_gap)

    def context_size(self, *, others: int) -> int:
        """How many numbers a group gets that has so many members besides the first."""
        return 0 if self.offset_scale is None else others * OFFSET_SIZE

    def context(
        self, positions: Float[Array, "n k"] | None, groups: Int32[Array, "g m"]
    ) -> Float[Array, "g c"] | None:
        """What each group is told, if anything; without a scale no positions are needed."""
        if self.offset_scale is None or positions is None:
            return None
        return offsets(positions, groups, self.offset_scale)


def required(
    positions: Float[Array, "n k"] | None, method: str, instead: str
) -> Float[Array, "n k"]:
    """The positions, or an error that says which method needs none."""
    if positions is None:
        raise ValueError(
            f"{method} needs the positions of the agents, which this environment does not offer; "
            f"use {instead}."
        )
    return positions
