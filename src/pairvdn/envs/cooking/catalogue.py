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

# How many numbers one thing of a class has in an observation.
FEATURES = {
    **dict.fromkeys((*STATICS, "Plate"), 3),  # x, y, 1
    **dict.fromkeys(CHOPPED_ONLY, 5),  # x, y, fresh, chopped, 1
    **dict.fromkeys(BLENDABLE, 6),  # x, y, not done, chopped, mashed, 1
    "Agent": 7,  # x, y, one-hot of left, right, down, up, 1
    # Not in this kitchen, but a meta file may leave room for them.
    "Switch": 4,
    "Block": 4,
    "Floor": 0,
}

MAX_AGENTS = 4
