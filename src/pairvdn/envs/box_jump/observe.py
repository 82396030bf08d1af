"""What agents observe: eleven numbers of their own, then numbers that all share."""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pairvdn.envs.box_jump.compute_once import once_by
from pairvdn.envs.box_jump.distances import distances
from pairvdn.envs.box_jump.types import BoxJumpState
from pairvdn.envs.box_jump.variants import Parameters, ScalingName, SharedNumber

OWN_NAMES = (
    *("x", "y", "horizontal speed", "vertical speed", "angle", "turning"),
    *("box to the left", "box to the right", "box above", "box below", "can jump"),
)
OWN_NUMBERS = len(OWN_NAMES)
SHARED_NAMES: dict[SharedNumber, str] = {
    "best": "best height",
    "time": "elapsed time",
    "num_boxes": "number of boxes",
    "top": "x of the highest box",
}
WINDOW = 20.0  # vertical distances are in heights of this window ...
WINDOW_TOP = 15.0  # ... whose top is this far above the floor


class Scaling(NamedTuple):
    """How places and speeds become numbers near 1, and places back."""

    x: Callable[[Array, float], Array]  # place, width of the map
    y: Callable[[Array, Array], Array]  # place, fallen
    vx: float
    vy: float
    sideways: Callable[[Array, float], Array]  # free way to the side, width of the map
    upward: Callable[[Array], Array]  # free way up or down
    place_x: Callable[[Array, float], Array]  # number, width of the map
    place_y: Callable[[Array], Array]


SCALINGS: dict[ScalingName, Scaling] = {
    "paper": Scaling(
        x=lambda x, width: x * (2 / width) - 1,
        y=lambda y, fallen: jnp.where(fallen, -1.0, y - 0.5),
        vx=1 / 2,
        vy=1 / 8,
        sideways=lambda way, width: way / width,
        upward=lambda way: way / WINDOW,
        place_x=lambda number, width: (number + 1) * (width / 2),
        place_y=lambda number: number + 0.5,
    ),
    "table1": Scaling(
        x=lambda x, width: x / width,
        y=lambda y, fallen: (WINDOW_TOP - y) / WINDOW,
        vx=1 / 40,
        vy=-1 / 40,
        sideways=lambda way, width: way / width,
        upward=lambda way: way / WINDOW,
        place_x=lambda number, width: number * width,
        place_y=lambda number: WINDOW_TOP - WINDOW * number,
    ),
    # In box widths, with room for what is near: 0 where boxes touch, 0.76 where one fits between.
    "boxes": Scaling(
        x=lambda x, width: (x - width / 2) / 4,
        y=lambda y, fallen: jnp.where(fallen, -1.0, y - 0.5) / 2,
        vx=1 / 2,
        vy=1 / 4,
        sideways=lambda way, width: jnp.tanh(way - 1),
        upward=lambda way: jnp.tanh(way - 1),
        place_x=lambda number, width: number * 4 + width / 2,
        place_y=lambda number: number * 2 + 0.5,
    ),
}
SHARED_NUMBERS: dict[SharedNumber, Callable[[BoxJumpState, Parameters], Float[Array, "*b"]]] = {
    "best": lambda state, parameters: state.best / parameters.best_divisor,
    "time": lambda state, parameters: state.steps.astype(jnp.float32) / parameters.max_steps,
    "num_boxes": lambda state, parameters: jnp.full_like(state.best, parameters.num_boxes),
    "top": lambda state, parameters: _top(state, parameters),
}


def _top(state: BoxJumpState, parameters: Parameters) -> Float[Array, "*b"]:
    """Where the highest box is, scaled as x is; of equally high ones the rightmost counts."""
    heights = jnp.where(state.fallen, -jnp.inf, state.bodies.y)
    highest = heights == jnp.max(heights, axis=0, keepdims=True)
    place = jnp.max(jnp.where(highest, state.bodies.x, -jnp.inf), axis=0)
    return SCALINGS[parameters.scaling].x(place, parameters.width)


def can_jump(state: BoxJumpState, parameters: Parameters) -> Bool[Array, "n *b"]:
    """Whether each box stood for long enough: all of the look-back, and since the reset."""
    return (state.calm >= parameters.look_back) & ~state.fallen


def observation_names(parameters: Parameters) -> tuple[str, ...]:
    """What each number of `observe` is."""
    shared = [SHARED_NAMES[name] for name in parameters.shared_numbers]
    ids = [f"is box {box}" for box in range(parameters.num_boxes)] if parameters.agent_ids else []
    return (*OWN_NAMES, *shared, *ids)


def own_numbers(state: BoxJumpState, parameters: Parameters) -> Float[Array, "n 11 *b"]:
    """What each box sees of itself and around itself."""
    scaling, width = SCALINGS[parameters.scaling], parameters.width
    bodies = state.bodies
    turns = bodies.angle * (2 / math.pi)
    near = distances(bodies, state.fallen, once_by(state.steps))
    floor = jnp.where(state.fallen, 0.0, bodies.y)
    return jnp.stack(
        [
            scaling.x(bodies.x, width),
            scaling.y(bodies.y, state.fallen),
            bodies.velocity.x * scaling.vx,
            bodies.velocity.y * scaling.vy,
            turns - jnp.ceil(turns - 0.5),
            bodies.velocity.turn / 2,
            jnp.where(jnp.isinf(near.left), 1.0, scaling.sideways(near.left, width)),
            jnp.where(jnp.isinf(near.right), 1.0, scaling.sideways(near.right, width)),
            jnp.where(jnp.isinf(near.above), 1.0, scaling.upward(near.above)),
            scaling.upward(jnp.where(jnp.isinf(near.below), floor, near.below)),
            can_jump(state, parameters).astype(jnp.float32),
        ],
        axis=1,
    )


def observe(
    state: BoxJumpState, parameters: Parameters
) -> tuple[Float[Array, "n o *b"], Float[Array, "s *b"]]:
    """Observations of all agents, and the global state: all own numbers, the shared ones once."""
    own = own_numbers(state, parameters)
    batch = own.shape[2:]
    shared = [SHARED_NUMBERS[name](state, parameters) for name in parameters.shared_numbers]
    numbers = jnp.stack(shared) if shared else jnp.zeros((0, *batch))
    boxes = parameters.num_boxes
    parts = [own, jnp.broadcast_to(numbers[None], (boxes, *numbers.shape))]
    if parameters.agent_ids:
        ids = jnp.eye(boxes)[(...,) + (None,) * len(batch)]
        parts.append(jnp.broadcast_to(ids, (boxes, boxes, *batch)))
    flat = own.reshape(boxes * OWN_NUMBERS, *batch)
    return jnp.concatenate(parts, axis=1), jnp.concatenate([flat, numbers])
