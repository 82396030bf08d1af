"""The classes of things in a kitchen, by the names that level files use."""

import enum


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
