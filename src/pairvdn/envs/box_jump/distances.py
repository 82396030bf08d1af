"""The four distances that a box observes: to the nearest box on its left, right, above, below."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pairvdn.envs.box_jump.compute_once import Once
from pairvdn.envs.box_jump.types import Bodies

OVERLAP = 0.1  # boxes see each other along x only if they overlap along y by more than this
NOBODY = jnp.inf
MANY = 32  # from here on boxes look along a row


class Distances(NamedTuple):
    """Centre to centre, to the nearest box on each side; infinite where there is none."""

    left: Float[Array, "n *b"]
    right: Float[Array, "n *b"]
    above: Float[Array, "n *b"]
    below: Float[Array, "n *b"]


def by_all_pairs(x: Float[Array, "n *b"], y: Float[Array, "n *b"]) -> Distances:
    """Look at every pair: n^2 numbers. A box at x = inf neither sees nor is seen."""
    dx, dy = x[None] - x[:, None], y[None] - y[:, None]  # [me, other]
    level = jnp.abs(dy) < 1.0 - OVERLAP
    stacked = jnp.abs(dx) < 1.0 - OVERLAP

    def nearest(candidates: Array, distance: Array) -> Array:
        return jnp.min(jnp.where(candidates & (distance > 0), distance, NOBODY), axis=1)

    return Distances(
        left=nearest(level, -dx),
        right=nearest(level, dx),
        above=nearest(stacked, dy),
        below=nearest(stacked, -dy),
    )


def by_row(x: Float[Array, "n *b"], y: Float[Array, "n *b"]) -> Distances:
    """The same, for many boxes: stand in a row by x and look farther and farther along it.

    The first level box along the row is the nearest one, and boxes above or below are at most 0.9
    away in x. So the search looks k places along the row, k = 1, 2, ..., until no box has anything
    left to find; memory is n numbers and not n^2.
    """
    boxes = jax.lax.broadcasted_iota(jnp.int32, x.shape, 0)
    place, height, box = jax.lax.sort((x, y, boxes), dimension=0, num_keys=1)
    count = x.shape[0]
    nobody = jnp.full_like(place, NOBODY)
    places = jnp.concatenate([-nobody, place, nobody])
    heights = jnp.concatenate([nobody, height, nobody])

    def neighbour(k: Array) -> tuple[Array, Array]:
        """How far to the right and up is the box k places along; infinite if there is none."""
        dx = jax.lax.dynamic_slice_in_dim(places, count + k, count) - place
        dy = jax.lax.dynamic_slice_in_dim(heights, count + k, count) - height
        return jnp.where(jnp.isfinite(place), dx, NOBODY), dy

    def look(carry: tuple[Array, Distances]) -> tuple[Array, Distances]:
        k, near = carry
        left, right, above, below = near
        beside = []
        for sign, so_far in ((-1, left), (1, right)):
            dx, dy = neighbour(sign * k)
            level = (jnp.abs(dy) < 1.0 - OVERLAP) & (sign * dx > 0)
            stacked = jnp.abs(dx) < 1.0 - OVERLAP
            beside.append(jnp.minimum(so_far, jnp.where(level, sign * dx, NOBODY)))
            above = jnp.minimum(above, jnp.where(stacked & (dy > 0), dy, NOBODY))
            below = jnp.minimum(below, jnp.where(stacked & (dy < 0), -dy, NOBODY))
        return k + 1, Distances(beside[0], beside[1], above, below)

    def anything_left(carry: tuple[Array, Distances]) -> Bool[Array, ""]:
        k, near = carry
        left, right = jnp.abs(neighbour(-k)[0]), jnp.abs(neighbour(k)[0])
        return jnp.any(
            (jnp.isfinite(left) & (jnp.isinf(near.left) | (left < 1.0 - OVERLAP)))
            | (jnp.isfinite(right) & (jnp.isinf(near.right) | (right < 1.0 - OVERLAP)))
        )

    start = (jnp.int32(1), Distances(nobody, nobody, nobody, nobody))
    _, near = jax.lax.while_loop(anything_left, look, start)
    return Distances(
        *(jnp.put_along_axis(nobody, box, part, axis=0, inplace=False) for part in near)
    )


def distances(bodies: Bodies, fallen: Bool[Array, "n *b"], once: Once) -> Distances:
    """Distances between boxes that did not fall; whichever way is faster for so many boxes."""
    x, y = once((jnp.where(fallen, jnp.inf, bodies.x), bodies.y))
    return (by_row if x.shape[0] >= MANY else by_all_pairs)(x, y)
