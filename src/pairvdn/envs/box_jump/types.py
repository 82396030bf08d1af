"""Records of Box Jump.

Every array may carry batch axes AFTER its own (`*b`): the physics keeps the batch last, see
`pairvdn.lanes`. Lengths are in box widths, x to the right, y up, the floor's surface at y = 0,
angles counter-clockwise. Positions and speeds are those of a box's centre.
"""

from typing import Any, NamedTuple

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int32

Rows = Float[Array, "*shape"]  # one number per box, or per pair of boxes, of every example


# One number per round and pair, in the shapes of the sweep: see `pair_sweeps`.
PerPair = Any


class Motion(NamedTuple):
    """A velocity, or a displacement: along x, along y, and the turn."""

    x: Rows
    y: Rows
    turn: Rows


class SolverSettings(NamedTuple):
    """The settings of the contact solvers."""

    floor: tuple[float, float]  # its left and right end
    box_friction: float  # between boxes
    floor_friction: float  # between a box and the floor
    time_step: float
    velocity_iterations: int
    position_iterations: int


class Bodies(eqx.Module):
    """Positions and velocities of the boxes."""

    x: Float[Array, "n *b"]
    y: Float[Array, "n *b"]
    angle: Float[Array, "n *b"]
    velocity: Motion


class Impulses(eqx.Module):
    """The contact impulses of the last physics step, where the next solution starts.

    One entry per row of a contact: with rotation a pair touches in two points (normal 1, normal 2,
    tangent); without, one is enough (normal, tangent). `pair_side` is the side of the first box
    that faced the second, see `contacts`: on another side the old impulses are invalid.
    """

    pair: tuple[PerPair, ...]
    pair_side: PerPair
    floor: tuple[Float[Array, "m *b"], ...]


class RowMemory(eqx.Module):
    """Impulses of boxes sorted into a row, see `nearby_pairs`, and the position of each box."""

    impulses: Impulses
    place_of: Int32[Array, "m *b"]


class BoxJumpState(eqx.Module):
    """Everything that the next step depends on."""

    bodies: Bodies
    memory: Impulses | RowMemory
    calm: Int32[Array, "n *b"]  # physics steps in a row, since the reset, at low vertical speed
    could_jump: Bool[Array, "n *b"]  # in the physics step that led to this state
    fallen: Bool[Array, "n *b"]
    best: Float[Array, "*b"]  # greatest height of any box so far
    counted: Float[Array, "*b"]  # the part of `best` that rewards have counted
    shown: Float[Array, "*b"]  # the best height as observed
    best_stable: Float[Array, "*b"]  # greatest height so far of any box that could jump there
    steps: Int32[Array, "*b"]
