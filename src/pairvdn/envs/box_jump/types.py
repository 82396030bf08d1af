"""Records of Box Jump.

Every array may carry batch axes AFTER its own (`*b`): the physics keeps the batch last, see
`pairvdn.lanes`. Lengths are in box widths, x to the right, y up, the floor's surface at y = 0,
angles counter-clockwise. Places and speeds are those of a box's centre.
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
    """What the contact solvers need to know of the world."""

    floor: tuple[float, float]  # where it begins and ends
    box_friction: float  # between boxes
    floor_friction: float  # between a box and the floor
    time_step: float
    velocity_iterations: int
    position_iterations: int


class Bodies(eqx.Module):
    """Where the boxes are and how they move."""

    x: Float[Array, "n *b"]
    y: Float[Array, "n *b"]
    angle: Float[Array, "n *b"]
    velocity: Motion


class Impulses(eqx.Module):
    """What held contacts apart in the last physics step: the start of the next solution.

    One entry per row of a contact: with rotation a pair touches in two points (normal 1, normal 2,
    tangent); without, one is enough (normal, tangent). `pair_side` says on which side of the first
    box the second one was, see `contacts`: on another side the old impulses mean nothing.
    """

    pair: tuple[PerPair, ...]
    pair_side: PerPair
    floor: tuple[Float[Array, "m *b"], ...]


class RowMemory(eqx.Module):
    """Impulses of boxes that stand in a row, see `nearby_pairs`, and where each box stood."""

    impulses: Impulses
    place_of: Int32[Array, "m *b"]


class BoxJumpState(eqx.Module):
    """Everything that the next step depends on."""

    bodies: Bodies
    memory: Impulses | RowMemory
    calm: Int32[Array, "n *b"]  # physics steps in a row, since the reset, at low vertical speed
    fallen: Bool[Array, "n *b"]
    best: Float[Array, "*b"]  # greatest height of any box so far
    best_stable: Float[Array, "*b"]  # greatest height so far of any box that could jump there
    steps: Int32[Array, "*b"]
