"""Contacts of two boxes, or of a box and the floor.

All boxes are equal squares, so the separating-axis test and the clipping of the two touching faces
have a closed form without branches. As in Box2D a contact keeps a skin between shapes: they rest
`SKIN` apart, less the overlap `SLOP` that the position solver leaves.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int8

from pairvdn.envs.box_jump.types import Rows

HALF = 0.5  # half the side of a box
SKIN = 0.02  # twice Box2D's b2_polygonRadius
SLOP = 0.005  # Box2D's b2_linearSlop
BAUMGARTE = 0.2  # share of an overlap that one position iteration removes at a point, as in Box2D
MAX_CORRECTION = 0.2  # the most that one iteration moves
FACE_PREFERENCE = 0.0005  # the first box's face wins ties, as in Box2D (0.1 b2_linearSlop)
APART = 1e3  # the gap of a point that does not exist


class Place(NamedTuple):
    """The centre of a box, and the cosine and sine of its angle."""

    x: Rows
    y: Rows
    cos: Rows
    sin: Rows


class Touch(NamedTuple):
    """The contact of box A with box B.

    `normal` is a unit vector from A to B. `points` are relative to A's centre and ordered along the
    tangent (-ny, nx), so that a point keeps its index from step to step. `gaps` are the distances
    at the points, less the skin. `side` is the side of A that faces B: 1 to 4.
    """

    normal: tuple[Rows, Rows]
    points: tuple[tuple[Rows, Rows], tuple[Rows, Rows]]
    gaps: tuple[Rows, Rows]
    side: Int8[Array, "*shape"]


def quarter_turn(cos: Rows, sin: Rows) -> tuple[Rows, Rows]:
    """The same square turned by at most 45 degrees: an angle modulo 90 degrees."""
    upright = jnp.abs(cos) >= jnp.abs(sin)
    return (
        jnp.where(upright, jnp.abs(cos), jnp.abs(sin)),
        jnp.where(upright, jnp.sign(cos) * sin, -jnp.sign(sin) * cos),
    )


def side_of(x: Rows, y: Rows) -> Int8[Array, "*shape"]:
    """The side of a square around the origin that faces the point: 1 to 4."""
    across = jnp.where(x > 0, 1, 2)
    along = jnp.where(y > 0, 3, 4)
    return jnp.where(jnp.abs(x) >= jnp.abs(y), across, along).astype(jnp.int8)


def touch(a: Place, b: Place) -> Touch:
    """Contact of two unit squares.

    Let d from A to B be (ax, ay) in A's frame and (bx, by) in B's. The separation along a face
    normal of A is max(|ax|, |ay|) - h, and of B max(|bx|, |by|) - h, with the same h: the reference
    face belongs to the box in whose frame the other is farther out along an axis. In the frame
    (normal, tangent) of the reference box, the facing side of the other box is a line of slope k,
    clipped at the ends of the reference face; the ends of the clipped line are the points.
    """
    dx, dy = b.x - a.x, b.y - a.y
    ax, ay = a.cos * dx + a.sin * dy, a.cos * dy - a.sin * dx
    bx, by = b.cos * dx + b.sin * dy, b.cos * dy - b.sin * dx
    out_from_a = jnp.maximum(jnp.abs(ax), jnp.abs(ay))
    out_from_b = jnp.maximum(jnp.abs(bx), jnp.abs(by))
    # 1: the reference face is A's, -1: it is B's. Everything below is in the reference's frame.
    flip = jnp.where(out_from_b > out_from_a + FACE_PREFERENCE, -1.0, 1.0)
    by_b = flip < 0
    fx, fy = jnp.where(by_b, bx, ax), jnp.where(by_b, by, ay)
    across = jnp.abs(fx) >= jnp.abs(fy)
    ux, uy = jnp.where(across, jnp.sign(fx), 0.0), jnp.where(across, 0.0, jnp.sign(fy))
    cos, sin = jnp.where(by_b, b.cos, a.cos), jnp.where(by_b, b.sin, a.sin)
    nx, ny = cos * ux - sin * uy, sin * ux + cos * uy

    # The other square, turned against the reference by less than 45 degrees: slope k.
    # (Up to the sign of `flip`, k depends on the angles alone: XLA gives a division its own loop.)
    cos, sin = quarter_turn(a.cos * b.cos + a.sin * b.sin, a.cos * b.sin - a.sin * b.cos)
    k = flip * (sin / cos)
    sin = flip * sin
    face_n, face_t = nx * dx + ny * dy - HALF * cos, nx * dy - ny * dx - HALF * sin
    low = jnp.maximum(face_t - HALF * cos, -HALF)
    high = jnp.minimum(face_t + HALF * cos, HALF)
    low_n, high_n = face_n - (low - face_t) * k, face_n - (high - face_t) * k
    # In B's frame the tangent is reversed, and so is the order of the points.
    along = jnp.where(by_b, high, low), jnp.where(by_b, low, high)
    out = jnp.where(by_b, high_n, low_n), jnp.where(by_b, low_n, high_n)
    origin = jnp.where(by_b, dx, 0.0), jnp.where(by_b, dy, 0.0)

    def point(t: Rows, n: Rows) -> tuple[Rows, Rows]:
        middle = 0.5 * (HALF + n)  # between the two faces
        return (
            origin[0] + flip * (middle * nx - t * ny),
            origin[1] + flip * (middle * ny + t * nx),
        )

    def gap(n: Rows) -> Rows:
        return jnp.where(low <= high, n - HALF, APART) - SKIN

    return Touch(
        normal=(nx, ny),
        points=(point(along[0], out[0]), point(along[1], out[1])),
        gaps=(gap(out[0]), gap(out[1])),
        side=side_of(ax, ay),
    )


class FloorTouch(NamedTuple):
    """Contacts with the floor: the ends of the lower side, relative to the centre, and the gaps."""

    points: tuple[tuple[Rows, Rows], tuple[Rows, Rows]]
    gaps: tuple[Rows, Rows]
    above: Bool[Array, "*shape"]  # whether any of the lower side is over the floor


def touch_floor(place: Place, left: float, right: float) -> FloorTouch:
    """Contact with a floor whose surface is y = 0 from `left` to `right`."""
    cos, sin = quarter_turn(place.cos, place.sin)
    k = sin / cos
    middle_x, middle_y = HALF * sin, -HALF * cos
    low = jnp.maximum(middle_x - HALF * cos, left - place.x)
    high = jnp.minimum(middle_x + HALF * cos, right - place.x)
    low_y, high_y = middle_y + (low - middle_x) * k, middle_y + (high - middle_x) * k
    return FloorTouch(
        points=((low, low_y), (high, high_y)),
        gaps=(place.y + low_y - SKIN, place.y + high_y - SKIN),
        above=low <= high,
    )
