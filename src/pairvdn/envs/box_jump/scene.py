"""The scene of Box Jump."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.envs.box_jump.types import BoxJumpState
from pairvdn.envs.box_jump.variants import Parameters
from pairvdn.envs.scene import Lines, Rectangles, Scene

FLOOR_COLOUR = (0.35, 0.35, 0.35)
BEST_COLOUR = (0.8, 0.2, 0.2)
FLOOR_DEPTH = 1.0
SIDE = 1.0  # visible space beside the map
LEAST_TOP = 10.0


def scene(state: BoxJumpState, parameters: Parameters) -> Scene:
    """Boxes in their colours, the floor, and a line at the upper side of the best height."""
    n, width = parameters.num_boxes, parameters.width
    bodies = state.bodies
    left = min(parameters.floor_left, 0.0)
    floor = jnp.array([[(left + width) / 2, -FLOOR_DEPTH / 2]])
    boxes = Rectangles(
        centre=jnp.concatenate([jnp.stack([bodies.x, bodies.y], axis=1), floor]),
        size=jnp.concatenate([jnp.ones((n, 2)), jnp.array([[width - left, FLOOR_DEPTH]])]),
        angle=jnp.append(bodies.angle, 0.0),
        colour=jnp.concatenate([box_colours(n), jnp.array([FLOOR_COLOUR])]),
        agent=jnp.append(jnp.arange(n, dtype=jnp.int32), jnp.int32(-1)),
    )
    top = jnp.maximum(state.best, 0.0) + 1.0
    best = Lines(
        start=jnp.stack([jnp.float32(left), top])[None],
        end=jnp.stack([jnp.float32(width), top])[None],
        colour=jnp.array([BEST_COLOUR]),
    )
    # The window grows with high towers, and with boxes on a floor wider than the map.
    leftmost = jnp.min(jnp.where(state.fallen, 0.0, bodies.x), initial=0.0)
    rightmost = jnp.max(jnp.where(state.fallen, width, bodies.x), initial=width)
    bounds = jnp.stack(
        [
            leftmost - SIDE,
            jnp.float32(-FLOOR_DEPTH),
            rightmost + SIDE,
            jnp.maximum(LEAST_TOP, top + SIDE),
        ]
    )
    return Scene(bounds=bounds, rectangles=boxes, lines=best)


def box_colours(n: int) -> Float[Array, "n 3"]:
    """Hues evenly around the colour circle, all of one brightness."""
    hue = jnp.arange(n, dtype=jnp.float32) / n
    phase = jnp.array([0.0, 1 / 3, 2 / 3])
    return 0.55 + 0.35 * jnp.cos(2 * jnp.pi * (hue[:, None] - phase[None]))
