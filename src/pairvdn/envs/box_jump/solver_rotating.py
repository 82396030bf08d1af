"""The contact solver for boxes that turn: two points per contact, sequential impulses.

A contact row holds one direction d at one point. Its relative speed is
    u = d . (v_B - v_A) + turn_A w_A + turn_B w_B,   turn_A = -(r_A x d),  turn_B = r_B x d,
an impulse l along it changes u by l / mass, with 1 / mass = 2 + 6 (turn_A^2 + turn_B^2) for boxes
of mass 1 and inertia 1/6. Normal rows keep u >= 0 with l >= 0; tangential rows want u = 0 and keep
|l| <= friction times the normal impulse. As in Box2D: impulses are accumulated and clamped as a
whole, friction comes before the normals, and overlap is removed after the step by moving the
boxes, not by giving them speed.

A pair has three rows: normal at point 1, normal at point 2, tangent. Box2D has a tangential row at
each point, but both act along the line where the faces meet, so only their sum matters; it is at
most friction times the sum of the normal impulses.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int8

from pairvdn.envs.box_jump.contacts import (
    BAUMGARTE,
    MAX_CORRECTION,
    SLOP,
    FloorTouch,
    Place,
    Touch,
    touch,
    touch_floor,
)
from pairvdn.envs.box_jump.one_pass import in_one_pass
from pairvdn.envs.box_jump.pair_sweeps import Sweep, meet, run
from pairvdn.envs.box_jump.types import Impulses, Motion, Rows, SolverSettings

INVERSE_INERTIA = 6.0
Three = tuple[Rows, ...]  # normal at point 1, normal at point 2, tangent
Two = tuple[Rows, Rows]


class PairRows(NamedTuple):
    """The three rows of each pair."""

    normal: Two
    turn_a: Three
    turn_b: Three
    mass: Three  # 0 where boxes do not touch
    gap: Two


class FloorRows(NamedTuple):
    """The three rows of each box with the floor."""

    turn: Three
    mass: Three
    gap: Two


def holds(contact: Touch) -> tuple[Bool[Array, "*shape"], ...]:
    """Whether the boxes touch at point 1, at point 2, at either."""
    first, second = (gap < 0 for gap in contact.gaps)
    return first, second, first | second


def pair_rows(contact: Touch, a: Place, b: Place) -> PairRows:
    """Rows of the pairs (a, b)."""
    nx, ny = contact.normal
    dx, dy = b.x - a.x, b.y - a.y
    first_holds, second_holds, any_holds = (jnp.where(x, 1.0, 0.0) for x in holds(contact))
    # The tangential impulse acts along the line between the faces; its point on it is irrelevant.
    first, second = (rx * nx + ry * ny for rx, ry in contact.points)
    middle = jnp.where(
        first_holds + second_holds == 1,
        first_holds * first + second_holds * second,
        first / 2 + second / 2,
    )
    turns = [(ry * nx - rx * ny, (rx - dx) * ny - (ry - dy) * nx) for rx, ry in contact.points]
    turns.append((-middle, middle - nx * dx - ny * dy))
    solid = (first_holds, second_holds, any_holds)
    return PairRows(
        normal=contact.normal,
        turn_a=tuple(on_a for on_a, _ in turns),
        turn_b=tuple(on_b for _, on_b in turns),
        mass=tuple(
            one / (2.0 + INVERSE_INERTIA * (on_a * on_a + on_b * on_b))
            for one, (on_a, on_b) in zip(solid, turns, strict=True)
        ),
        gap=contact.gaps,
    )


def floor_rows(contact: FloorTouch, fallen: Bool[Array, "m *b"]) -> FloorRows:
    """Rows of every box with the floor, whose normal points up and whose tangent to the right."""
    (left_x, left_y), (right_x, right_y) = contact.points
    lower = jnp.minimum(left_y, right_y)
    turn = (left_x, right_x, -lower)
    solid = jnp.where(contact.above & ~fallen, 1.0, 0.0)
    return FloorRows(
        turn=turn,
        mass=tuple(solid / (1.0 + INVERSE_INERTIA * row * row) for row in turn),
        gap=contact.gaps,
    )


def push(a: Motion, b: Motion, rows: PairRows, impulse: tuple[Rows, ...]) -> tuple[Motion, Motion]:
    """Apply impulses to both boxes: the two normal ones, or all three."""
    nx, ny = rows.normal
    along = impulse[0] + impulse[1]
    fx, fy = along * nx, along * ny
    if len(impulse) == 3:
        fx, fy = fx - impulse[2] * ny, fy + impulse[2] * nx
    turn_a = sum(row * part for row, part in zip(rows.turn_a, impulse, strict=False))
    turn_b = sum(row * part for row, part in zip(rows.turn_b, impulse, strict=False))
    return (
        Motion(a.x - fx, a.y - fy, a.turn + INVERSE_INERTIA * turn_a),
        Motion(b.x + fx, b.y + fy, b.turn + INVERSE_INERTIA * turn_b),
    )


def push_from_floor(v: Motion, rows: FloorRows, impulse: tuple[Rows, ...]) -> Motion:
    """Apply the floor's impulses: the two normal ones, or all three."""
    turn = sum(row * part for row, part in zip(rows.turn, impulse, strict=False))
    x = v.x + impulse[2] if len(impulse) == 3 else v.x
    return Motion(x, v.y + impulse[0] + impulse[1], v.turn + INVERSE_INERTIA * turn)


def solve_pair(
    a: Motion, b: Motion, rows: PairRows, impulse: Three, friction: float
) -> tuple[Motion, Motion, Three]:
    """One visit of the velocity solver."""
    nx, ny = rows.normal
    dx, dy = b.x - a.x, b.y - a.y
    speed = nx * dy - ny * dx + rows.turn_a[2] * a.turn + rows.turn_b[2] * b.turn
    most = friction * (impulse[0] + impulse[1])
    tangent = jnp.clip(impulse[2] - rows.mass[2] * speed, -most, most) - impulse[2]
    # A tangential impulse changes the speed along the normal only through the boxes' turning.
    a_turn = a.turn + INVERSE_INERTIA * rows.turn_a[2] * tangent
    b_turn = b.turn + INVERSE_INERTIA * rows.turn_b[2] * tangent
    along = nx * dx + ny * dy
    normal = []
    for i in (0, 1):
        speed = along + rows.turn_a[i] * a_turn + rows.turn_b[i] * b_turn
        normal.append(jnp.maximum(-rows.mass[i] * speed, -impulse[i]))
    change = (*normal, tangent)
    a, b = push(a, b, rows, change)
    return in_one_pass((a, b, tuple(old + new for old, new in zip(impulse, change, strict=True))))


def solve_floor(
    v: Motion, rows: FloorRows, impulse: Three, friction: float, time_step: float
) -> tuple[Motion, Three]:
    """One visit of the velocity solver to every box's contact with the floor.

    A box above the floor may approach it as fast as closes the gap in this step: no box can pass
    through, however fast. It comes to rest where Box2D's boxes do, `SLOP` within the skin.
    """
    most = friction * (impulse[0] + impulse[1])
    speed = v.x + rows.turn[2] * v.turn
    tangent = jnp.clip(impulse[2] - rows.mass[2] * speed, -most, most) - impulse[2]
    turn = v.turn + INVERSE_INERTIA * rows.turn[2] * tangent
    normal = []
    for i in (0, 1):
        speed = v.y + rows.turn[i] * turn + jnp.maximum(rows.gap[i] + SLOP, 0.0) / time_step
        normal.append(jnp.maximum(-rows.mass[i] * speed, -impulse[i]))
    change = (*normal, tangent)
    new = tuple(old + part for old, part in zip(impulse, change, strict=True))
    return in_one_pass((push_from_floor(v, rows, change), new))


def correction(gap: Rows, mass: Rows) -> Rows:
    """The distance to push apart if the overlap exceeds the slop."""
    return mass * jnp.clip(-BAUMGARTE * (gap + SLOP), 0.0, MAX_CORRECTION)


def separate_pair(a: Motion, b: Motion, rows: PairRows) -> tuple[Motion, Motion]:
    """One visit of the position solver: the boxes' displacements change, their speeds do not."""
    nx, ny = rows.normal
    along = nx * (b.x - a.x) + ny * (b.y - a.y)
    apart = []
    for i in (0, 1):
        gap = rows.gap[i] + along + rows.turn_a[i] * a.turn + rows.turn_b[i] * b.turn
        apart.append(correction(gap, rows.mass[i]))
    return in_one_pass(push(a, b, rows, tuple(apart)))


def separate_floor(move: Motion, rows: FloorRows) -> Motion:
    """One visit of the position solver to every box's contact with the floor."""
    apart = tuple(
        correction(rows.gap[i] + move.y + rows.turn[i] * move.turn, rows.mass[i]) for i in (0, 1)
    )
    return in_one_pass(push_from_floor(move, rows, apart))


def warm_start(
    a: Motion, b: Motion, row: tuple[PairRows, Three], kept: tuple[()]
) -> tuple[Motion, Motion, tuple[()]]:
    """Start from the impulses of the last step."""
    return *in_one_pass(push(a, b, *row)), kept


def solve(
    sweep: Sweep,
    place: Place,
    velocity: Motion,
    fallen: Bool[Array, "m *b"],
    impulses: Impulses,
    settings: SolverSettings,
) -> tuple[Motion, Motion, Impulses]:
    """Velocities after the contacts acted, displacements of this step, and the impulses."""
    rows, pair, side = find_contacts(meet(sweep, place), impulses)
    velocity, _ = run(sweep, warm_start, velocity, (rows, pair), ())
    ground = in_one_pass(floor_rows(touch_floor(place, *settings.floor), fallen))
    floor = tuple(
        jnp.where((ground.mass[0] > 0) & (jnp.minimum(*ground.gap) < 0), old, 0.0)
        for old in impulses.floor
    )
    velocity = push_from_floor(velocity, ground, floor)

    def velocity_iteration(_: Any, carry: Any) -> Any:
        velocity, pair, floor = carry

        def visit(a: Motion, b: Motion, row: PairRows, impulse: Three) -> Any:
            return solve_pair(a, b, row, impulse, settings.box_friction)

        velocity, pair = run(sweep, visit, velocity, rows, pair)
        velocity, floor = solve_floor(
            velocity, ground, floor, settings.floor_friction, settings.time_step
        )
        return velocity, pair, floor

    velocity, pair, floor = jax.lax.fori_loop(
        0, settings.velocity_iterations, velocity_iteration, (velocity, pair, floor)
    )

    def position_iteration(_: Any, move: Motion) -> Motion:
        def visit(a: Motion, b: Motion, row: PairRows, kept: tuple[()]) -> Any:
            return *separate_pair(a, b, row), kept

        move, _ = run(sweep, visit, move, rows, ())
        return separate_floor(move, ground)

    move = jax.lax.fori_loop(
        0,
        settings.position_iterations,
        position_iteration,
        jax.tree.map(lambda v: settings.time_step * v, velocity),
    )
    return velocity, move, Impulses(pair, side, floor)


def find_contacts(
    pairs: tuple[Place, Place], last: Impulses
) -> tuple[PairRows, Three, Int8[Array, "*shape"]]:
    """The rows of all pairs, the impulses of the last step that still hold, and the sides."""
    contact = touch(*pairs)
    rows = pair_rows(contact, *pairs)
    same = contact.side == last.pair_side
    impulse = tuple(
        jnp.where(same & near, old, 0.0)
        for old, near in zip(last.pair, holds(contact), strict=True)
    )
    return in_one_pass((rows, impulse, contact.side))
