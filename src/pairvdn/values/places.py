"""Who stands beside whom: orders of agents by where they are, and how far apart partners stand."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

OFFSET_SIZE = 2  # offsets tell of the first two coordinates


def left_to_right(
    positions: Float[Array, "n k"], column_gap: float | None = None
) -> Int32[Array, " n"]:
    """The agents by their first coordinate, equal ones by index; or column by column.

    With `column_gap`, agents of which each is less than this to the right of the one before it
    form a column; columns go from left to right, and within one the agents from bottom to top,
    by their second coordinate. So those that stand on each other follow each other, which a tiny
    shift to the side would otherwise undo.
    """
    x = positions[:, 0]
    order = jnp.argsort(x, stable=True).astype(jnp.int32)
    if column_gap is None:
        return order
    sideways = x[order]
    starts = jnp.diff(sideways, prepend=sideways[:1]) >= column_gap
    column = jnp.cumulative_sum(starts.astype(jnp.int32))
    within = jnp.lexsort((positions[order, 1], column))
    return order[within]


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


class PlaceRing(eqx.Module):
    """The ring through the agents as they stand, and what networks are told of how they stand."""

    column_gap: float | None = eqx.field(static=True)  # of `left_to_right`
    offset_scale: float | None = eqx.field(static=True)  # of `offsets`; None: nothing is told

    def order(self, positions: Float[Array, "n k"]) -> Int32[Array, " n"]:
        """The agents in the order of the ring."""
        return left_to_right(positions, self.column_gap)

    def context_size(self, *, others: int) -> int:
        """How many numbers a group gets that has so many members besides the first."""
        return 0 if self.offset_scale is None else others * OFFSET_SIZE

    def context(
        self, positions: Float[Array, "n k"], groups: Int32[Array, "g m"]
    ) -> Float[Array, "g c"] | None:
        """What each group is told, if anything."""
        if self.offset_scale is None:
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
