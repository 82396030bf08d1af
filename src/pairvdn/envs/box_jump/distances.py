"""The four distances that a box observes: to the nearest box on its left, right, above, below."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

OVERLAP = 0.1  # boxes see each other along x only if they overlap along y by more than this
NOBODY = jnp.inf


class Distances(NamedTuple):
    """Centre to centre, to the nearest box on each side; infinite where there is none."""

    left: Float[Array, "n *b"]
    right: Float[Array, "n *b"]
    above: Float[Array, "n *b"]
    below: Float[Array, "n *b"]


def by_all_pairs(
    x: Float[Array, "n *b"], y: Float[Array, "n *b"], seen: Bool[Array, "n *b"]
) -> Distances:
    """Look at every pair: n^2 numbers. A box that is not `seen` neither sees nor is seen."""
    dx, dy = x[None] - x[:, None], y[None] - y[:, None]  # [me, other]
    both = seen[None] & seen[:, None]
    level = both & (jnp.abs(dy) < 1.0 - OVERLAP)
    stacked = both & (jnp.abs(dx) < 1.0 - OVERLAP)

    def nearest(candidates: Array, distance: Array) -> Array:
        return jnp.min(jnp.where(candidates & (distance > 0), distance, NOBODY), axis=1)

    return Distances(
        left=nearest(level, -dx),
        right=nearest(level, dx),
        above=nearest(stacked, dy),
        below=nearest(stacked, -dy),
    )
