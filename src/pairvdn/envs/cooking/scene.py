"""The scene of a kitchen. Here y points up, so rows are flipped."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32

from pairvdn.envs.cooking.kitchen import Kitchen
from pairvdn.envs.cooking.state import CookingState
from pairvdn.envs.scene import Circles, Rectangles, Scene

# In the order of `Tile`: floor, counter, cutboard, blender, delivery square.
TILE_COLOURS = np.array(
    [[0.95, 0.93, 0.88], [0.6, 0.5, 0.4], [0.85, 0.75, 0.5], [0.5, 0.65, 0.8], [0.45, 0.75, 0.5]],
    np.float32,
)
COLOURS = {
    "Plate": (1.0, 1.0, 1.0),
    "Tomato": (0.9, 0.2, 0.15),
    "Lettuce": (0.45, 0.8, 0.3),
    "Onion": (0.8, 0.6, 0.8),
    "Cucumber": (0.1, 0.5, 0.2),
    "Apple": (0.75, 0.1, 0.3),
    "Watermelon": (0.2, 0.6, 0.45),
    "Bread": (0.75, 0.5, 0.2),
    "Carrot": (1.0, 0.55, 0.1),
    "Banana": (1.0, 0.9, 0.2),
}
AGENT_COLOURS = np.array(
    [[0.2, 0.35, 0.8], [0.75, 0.25, 0.6], [0.1, 0.6, 0.65], [0.4, 0.4, 0.4]], np.float32
)
AGENT_RADIUS, PLATE_RADIUS, FRESH_RADIUS, DONE_RADIUS = 0.4, 0.33, 0.25, 0.15
REACH = 0.2  # distance of a hand from its agent
GAP = 0.04  # between tiles


def centres(cell: Int32[Array, " k"], width: int, height: int) -> Float[Array, "k 2"]:
    """Middles of cells, in cells, y up."""
    x, y = cell % width, cell // width
    return jnp.stack([x, height - 1 - y], axis=1).astype(jnp.float32) + 0.5


def scene(state: CookingState, kitchen: Kitchen) -> Scene:
    """Tiles, then agents, then plates and foods; chopped and mashed food is smaller."""
    width, height, slots = kitchen.width, kitchen.height, kitchen.slots
    num_tiles, num_agents = state.tiles.size, state.cooks.cell.size
    tiles = Rectangles(
        centre=centres(jnp.arange(num_tiles, dtype=jnp.int32), width, height),
        size=jnp.full((num_tiles, 2), 1 - GAP),
        angle=jnp.zeros(num_tiles),
        colour=jnp.asarray(TILE_COLOURS)[state.tiles],
        agent=jnp.full(num_tiles, -1, jnp.int32),
    )
    ways = jnp.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]], jnp.float32)[state.cooks.facing]
    objects = state.objects
    carrier = jnp.where(objects.plate < 0, slots.numbers, objects.plate)
    in_hand = (state.cooks.held[:, None] == carrier[None]).astype(jnp.float32)
    done = objects.chopped | objects.mashed
    radius = jnp.where(slots.is_plate, PLATE_RADIUS, jnp.where(done, DONE_RADIUS, FRESH_RADIUS)) * (
        objects.cell >= 0
    ).astype(jnp.float32)
    # Draw plates below foods.
    order = np.argsort(~slots.is_plate, kind="stable")
    colour = np.array([COLOURS[kind] for kind in slots.classes], np.float32).reshape(-1, 3)
    place = centres(jnp.maximum(objects.cell, 0), width, height) + REACH * (in_hand.T @ ways)
    circles = Circles(
        centre=jnp.concatenate([centres(state.cooks.cell, width, height), place[order]]),
        radius=jnp.concatenate([jnp.full(num_agents, AGENT_RADIUS), radius[order]]),
        colour=jnp.concatenate(
            [jnp.asarray(AGENT_COLOURS[:num_agents]), jnp.asarray(colour[order])]
        ),
        agent=jnp.concatenate(
            [jnp.arange(num_agents, dtype=jnp.int32), jnp.full(slots.count, -1, jnp.int32)]
        ),
    )
    bounds = jnp.array([0, 0, width, height], jnp.float32)
    return Scene(bounds=bounds, rectangles=tiles, circles=circles)
