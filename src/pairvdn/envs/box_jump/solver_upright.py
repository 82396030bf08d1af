"""The contact solver for boxes that do not turn: one point per contact, sequential impulses.

Boxes of mass 1 whose sides stay parallel to the axes. A contact has a normal row, with impulse
l >= 0 so that the boxes do not approach, and a tangential row, |l| <= friction times the normal
one, that prevents sliding; each changes the relative speed by 2 l. `solver_rotating` explains the
method; here its two points would get the same impulse twice.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int8

from pairvdn.envs.box_jump.contacts import (
    BAUMGARTE,
    MAX_CORRECTION,
    SKIN,
    SLOP,
    Place,
    side_of,
)
from pairvdn.envs.box_jump.one_pass import in_one_pass
from pairvdn.envs.box_jump.pair_sweeps import Sweep, meet, run
from pairvdn.envs.box_jump.types import Impulses, Motion, Rows, SolverSettings

Two = tuple[Rows, Rows]  # along x and y, or: normal, tangent
# Box2D has two points per contact and removes its share of the overlap at one after the other.
SHARE = 1 - (1 - BAUMGARTE) ** 2


class PairRows(NamedTuple):
    """Both rows of each pair."""

    normal: Two
    mass: Rows  # 1/2, or 0 where boxes do not touch
    gap: Rows


class FloorRows(NamedTuple):
    """Both rows of each box with the floor."""

    mass: Rows
    gap: Rows


def pair_rows(a: Two, b: Two) -> PairRows:
    """Rows of the pairs (a, b), given their places."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    far, near = jnp.maximum(jnp.abs(dx), jnp.abs(dy)), jnp.minimum(jnp.abs(dx), jnp.abs(dy))
    beside = jnp.abs(dx) >= jnp.abs(dy)
    normal = jnp.where(beside, jnp.sign(dx), 0.0), jnp.where(beside, 0.0, jnp.sign(dy))
    gap = far - 1.0 - SKIN
    mass = jnp.where((gap < 0) & (near <= 1.0), 0.5, 0.0)
    return PairRows(normal, mass, gap)


def floor_rows(place: Place, fallen: Bool[Array, "m *b"], settings: SolverSettings) -> FloorRows:
    """Rows of every box with the floor."""
    left, right = settings.floor
    above = (place.x > left - 0.5) & (place.x < right + 0.5)
    return FloorRows(jnp.where(above & ~fallen, 1.0, 0.0), place.y - 0.5 - SKIN)


def push(a: Two, b: Two, normal: Two, along: Rows, across: Rows) -> tuple[Two, Two]:
    """Apply a normal and a tangential impulse to both boxes."""
    nx, ny = normal
    fx, fy = along * nx - across * ny, along * ny + across * nx
    return (a[0] - fx, a[1] - fy), (b[0] + fx, b[1] + fy)


def solve_pair(
    a: Two, b: Two, rows: PairRows, impulse: Two, friction: float
) -> tuple[Two, Two, Two]:
    """One visit of the velocity solver; the rows are orthogonal and independent."""
    nx, ny = rows.normal
    dx, dy = b[0] - a[0], b[1] - a[1]
    most = friction * impulse[0]
    across = jnp.clip(impulse[1] - rows.mass * (nx * dy - ny * dx), -most, most)
    along = jnp.maximum(impulse[0] - rows.mass * (nx * dx + ny * dy), 0.0)
    along, across = along - impulse[0], across - impulse[1]
    a, b = push(a, b, rows.normal, along, across)
    return in_one_pass((a, b, (impulse[0] + along, impulse[1] + across)))


def solve_floor(v: Two, rows: FloorRows, impulse: Two, settings: SolverSettings) -> tuple[Two, Two]:
    """One visit to the floor, which may be approached as fast as closes the gap in this step."""
    most = settings.floor_friction * impulse[0]
    across = jnp.clip(impulse[1] - rows.mass * v[0], -most, most)
    approach = v[1] + jnp.maximum(rows.gap + SLOP, 0.0) / settings.time_step
    along = jnp.maximum(impulse[0] - rows.mass * approach, 0.0)
    speeds = v[0] + across - impulse[1], v[1] + along - impulse[0]
    return in_one_pass((speeds, (along, across)))


def correction(gap: Rows, mass: Rows) -> Rows:
    """The distance to push apart if the overlap exceeds the slop."""
    return mass * jnp.clip(-SHARE * (gap + SLOP), 0.0, MAX_CORRECTION)


def separate_pair(a: Two, b: Two, rows: PairRows) -> tuple[Two, Two]:
    """One visit of the position solver: the boxes' displacements change, their speeds do not."""
    nx, ny = rows.normal
    gap = rows.gap + nx * (b[0] - a[0]) + ny * (b[1] - a[1])
    return in_one_pass(push(a, b, rows.normal, correction(gap, rows.mass), jnp.zeros_like(gap)))


def warm_start(
    a: Two, b: Two, row: tuple[PairRows, Two], kept: tuple[()]
) -> tuple[Two, Two, tuple[()]]:
    """Start from the impulses of the last step."""
    rows, impulse = row
    return *in_one_pass(push(a, b, rows.normal, *impulse)), kept


def solve(
    sweep: Sweep,
    place: Place,
    velocity: Motion,
    fallen: Bool[Array, "m *b"],
    impulses: Impulses,
    settings: SolverSettings,
) -> tuple[Motion, Motion, Impulses]:
    """Velocities after the contacts acted, displacements of this step, and the impulses."""
    rows, pair, side = find_contacts(meet(sweep, (place.x, place.y)), impulses)
    speeds, _ = run(sweep, warm_start, (velocity.x, velocity.y), (rows, pair), ())
    ground = in_one_pass(floor_rows(place, fallen, settings))
    held = (ground.mass > 0) & (ground.gap < 0)
    along, across = (jnp.where(held, old, 0.0) for old in impulses.floor)
    speeds = (speeds[0] + across, speeds[1] + along)

    def velocity_iteration(_: Any, carry: Any) -> Any:
        speeds, pair, floor = carry

        def visit(a: Two, b: Two, row: PairRows, impulse: Two) -> tuple[Two, Two, Two]:
            return solve_pair(a, b, row, impulse, settings.box_friction)

        speeds, pair = run(sweep, visit, speeds, rows, pair)
        speeds, floor = solve_floor(speeds, ground, floor, settings)
        return speeds, pair, floor

    def position_iteration(_: Any, move: Two) -> Two:
        def visit(a: Two, b: Two, row: PairRows, kept: tuple[()]) -> Any:
            return *separate_pair(a, b, row), kept

        (x, y), _ = run(sweep, visit, move, rows, ())
        return x, y + correction(ground.gap + y, ground.mass)

    speeds, pair, floor = jax.lax.fori_loop(
        0, settings.velocity_iterations, velocity_iteration, (speeds, pair, (along, across))
    )
    move = jax.lax.fori_loop(
        0,
        settings.position_iterations,
        position_iteration,
        (settings.time_step * speeds[0], settings.time_step * speeds[1]),
    )
    still = jnp.zeros_like(velocity.turn)
    return (
        Motion(speeds[0], speeds[1], still),
        Motion(move[0], move[1], still),
        Impulses(pair, side, floor),
    )


def find_contacts(
    pairs: tuple[Two, Two], last: Impulses
) -> tuple[PairRows, Two, Int8[Array, "*shape"]]:
    """The rows of all pairs, the impulses of the last step that still hold, and the sides."""
    a, b = pairs
    rows = pair_rows(a, b)
    side = side_of(b[0] - a[0], b[1] - a[1])
    held = (side == last.pair_side) & (rows.mass > 0)
    along, across = (jnp.where(held, old, 0.0) for old in last.pair)
    return in_one_pass((rows, (along, across), side))
