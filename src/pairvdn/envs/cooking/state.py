"""The objects in a kitchen, named as in level files, and the records of its state.

A cell has the number y * width + x, with x to the right and y DOWN as in level files. Dynamic
objects have one slot each, m in all, in search order: by class as in the level, then by age. A slot
without an object is at cell -1.
"""

import enum

import equinox as eqx
from jaxtyping import Array, Bool, Int32


class Tile(enum.IntEnum):
    """The tile of a cell."""

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

# The observed numbers of one object of each class.
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

    cell: Int32[Array, " m"]  # also if on a plate or in a hand
    plate: Int32[Array, " m"]  # slot of the plate beneath it, or -1
    stuck: Bool[Array, " m"]  # a plate whose top food precedes it: it cannot be lifted
    chopped: Bool[Array, " m"]
    mashed: Bool[Array, " m"]


class Cooks(eqx.Module):
    """The agents."""

    cell: Int32[Array, " n"]
    facing: Int32[Array, " n"]  # 1 left, 2 right, 3 down, 4 up
    held: Int32[Array, " n"]  # slot of the held object, or -1


class Progress(eqx.Module):
    """The progress of each agent's recipe."""

    nodes: Int32[Array, " n"]  # number of marked nodes
    plated: Int32[Array, " n"]  # most ingredients ready on one plate
    done: Bool[Array, " n"]


class CookingState(eqx.Module):
    """Everything that the next step depends on.

    `tiles` and `fixtures` are fixed during an episode, but may be random at its start.
    """

    tiles: Int32[Array, " cells"]  # a `Tile` each
    fixtures: Int32[Array, " f"]  # cell of each static that is observed, in that order, or -1
    objects: Objects
    cooks: Cooks
    progress: Progress
    steps: Int32[Array, ""]
