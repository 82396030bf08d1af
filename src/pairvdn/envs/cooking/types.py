"""Records of the kitchen.

A place is the number of its cell, y * width + x, with x to the right and y DOWN as in level files.
Dynamic things have one slot each, m in all, in the order in which a tile is searched: by class as
in the level, then by age. A slot whose thing does not exist is at cell -1.
"""

import equinox as eqx
from jaxtyping import Array, Bool, Int32


class Objects(eqx.Module):
    """Plates and foods."""

    cell: Int32[Array, " m"]  # where it is, in whatever it lies or whoever holds it
    plate: Int32[Array, " m"]  # slot of the plate that it lies on, or -1
    stuck: Bool[Array, " m"]  # a plate whose top food precedes it: nobody can lift it
    chopped: Bool[Array, " m"]
    mashed: Bool[Array, " m"]


class Cooks(eqx.Module):
    """The agents."""

    cell: Int32[Array, " n"]
    facing: Int32[Array, " n"]  # 1 left, 2 right, 3 down, 4 up
    held: Int32[Array, " n"]  # slot of what is in the hand, or -1


class Progress(eqx.Module):
    """How far each agent's recipe is."""

    nodes: Int32[Array, " n"]  # how many of its nodes are marked
    plated: Int32[Array, " n"]  # how many of its ingredients lie ready on one plate
    done: Bool[Array, " n"]


class CookingState(eqx.Module):
    """Everything that the next step depends on.

    `tiles` and `fixtures` do not change during an episode, but a level may draw them at its start.
    """

    tiles: Int32[Array, " cells"]  # a `Tile` each
    fixtures: Int32[Array, " f"]  # cell of each static that is observed, in that order, or -1
    objects: Objects
    cooks: Cooks
    progress: Progress
    steps: Int32[Array, ""]
