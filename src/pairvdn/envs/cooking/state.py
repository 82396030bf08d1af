"""The things in a kitchen, by the names that level files use, and the records of its state.

A place is the number of its cell, y * width + x, with x to the right and y DOWN as in level files.
Dynamic things have one slot each, m in all, in the order in which a tile is searched: by class as
in the level, then by age. A slot whose thing does not exist is at cell -1.
"""

import enum

import equinox as eqx
from jaxtyping import Array, Bool, Int32


class Tile(enum.IntEnum):
    """What stands on a cell."""

    FLOOR = 0
    COUNTER = 1
    CUTBOARD = 2
    BLENDER = 3
    DELIVERY = 4


# Statics that a level file may place; counters and floor are drawn in its layout.
PLACED_TILES = {
    "Cutboard": Tile.CUTBOARD,
    "Blender": Tile.BLENDER,
    "Deliversquare": Tile.DELIVERY,
}
STATICS = {"Counter": Tile.COUNTER, **PLACED_TILES}

BLENDABLE = ("Carrot", "Banana")
CHOPPED_ONLY = ("Tomato", "Lettuce", "Onion", "Cucumber", "Apple", "Watermelon", "Bread")
FOODS = (*CHOPPED_ONLY, *BLENDABLE)
DYNAMICS = ("Plate", *FOODS)

# The numbers that one thing of a class has in an observation.
_PLACE = ("x", "y")
FEATURE_NAMES = {
    **dict.fromkeys((*STATICS, "Plate"), (*_PLACE, "exists")),
    **dict.fromkeys(CHOPPED_ONLY, (*_PLACE, "fresh", "chopped", "exists")),
    **dict.fromkeys(BLENDABLE, (*_PLACE, "not done", "chopped", "mashed", "exists")),
    "Agent": (*_PLACE, "left", "right", "down", "up", "exists"),
    # Not in this kitchen, but a meta file may leave room for them.
    **dict.fromkeys(("Switch", "Block"), ("1", "2", "3", "4")),
    "Floor": (),
}
FEATURES = {kind: len(names) for kind, names in FEATURE_NAMES.items()}

MAX_AGENTS = 4


class Objects(eqx.Module):
    """Plates and foods."""

    cell: Int32[Array, " m"]  # where it is, also on a plate or in a hand
    plate: Int32[Array, " m"]  # slot of the plate that it lies on, or -1
    stuck: Bool[Array, " m"]  # a plate whose top food precedes it: it cannot be lifted
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
