"""Observations: eleven numbers of each box, then numbers that all boxes share."""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pairvdn.envs.box_jump.one_pass import in_one_pass, over_boxes
from pairvdn.envs.box_jump.types import Bodies, BoxJumpState
from pairvdn.envs.box_jump.variants import Parameters, ScalingName, SharedNumber

OVERLAP = 0.1  # boxes see each other along x only if they overlap along y by more than this
NOBODY = jnp.inf
MANY = 128  # from this number of boxes on, `by_row` is faster


class Distances(NamedTuple):
    """Distances of centres to the nearest box on each side; infinite if there is none."""

    left: Float[Array, "n *b"]
    right: Float[Array, "n *b"]
    above: Float[Array, "n *b"]
    below: Float[Array, "n *b"]


def by_all_pairs(x: Float[Array, "n *b"], y: Float[Array, "n *b"]) -> Distances:
    """Compare all n^2 pairs. A box at x = inf is ignored."""
    x, y = in_one_pass((x, y))

    def look_at(nearest: Distances, other: tuple[Array, Array], _: int) -> Distances:
        dx, dy = other[0] - x, other[1] - y
        level = jnp.abs(dy) < 1.0 - OVERLAP
        stacked = jnp.abs(dx) < 1.0 - OVERLAP
        ahead = Distances(
            left=jnp.where(level & (dx < 0), -dx, NOBODY),
            right=jnp.where(level & (dx > 0), dx, NOBODY),
            above=jnp.where(stacked & (dy > 0), dy, NOBODY),
            below=jnp.where(stacked & (dy < 0), -dy, NOBODY),
        )
        return Distances(*map(jnp.minimum, nearest, ahead))

    nobody = Distances(*(jnp.full_like(x, NOBODY),) * 4)
    return over_boxes(look_at, nobody, (x, y), x.shape[0])


def by_row(x: Float[Array, "n *b"], y: Float[Array, "n *b"]) -> Distances:
    """The same for many boxes: sort them by x and search along the row.

    The first level box along the row is the nearest one, and boxes above or below are at most 0.9
    away in x. So the search compares boxes k positions apart, k = 1, 2, ..., until no box can find
    a nearer one; it needs memory for n numbers instead of n^2.
    """
    boxes = jax.lax.broadcasted_iota(jnp.int32, x.shape, 0)
    row, height, box = jax.lax.sort((x, y, boxes), dimension=0, num_keys=1)
    count = x.shape[0]
    nobody = jnp.full_like(row, NOBODY)
    rows = jnp.concatenate([-nobody, row, nobody])
    heights = jnp.concatenate([nobody, height, nobody])

    def neighbour(k: Array) -> tuple[Array, Array]:
        """The offset to the box k positions along the row; infinite if there is none."""
        dx = jax.lax.dynamic_slice_in_dim(rows, count + k, count) - row
        dy = jax.lax.dynamic_slice_in_dim(heights, count + k, count) - height
        return jnp.where(jnp.isfinite(row), dx, NOBODY), dy

    def look(carry: tuple[Array, Distances]) -> tuple[Array, Distances]:
        k, near = carry
        left, right, above, below = near
        beside = []
        for sign, so_far in ((-1, left), (1, right)):
            dx, dy = neighbour(sign * k)
            level = (jnp.abs(dy) < 1.0 - OVERLAP) & (sign * dx > 0)
            stacked = jnp.abs(dx) < 1.0 - OVERLAP
            beside.append(jnp.minimum(so_far, jnp.where(level, sign * dx, NOBODY)))
            above = jnp.minimum(above, jnp.where(stacked & (dy > 0), dy, NOBODY))
            below = jnp.minimum(below, jnp.where(stacked & (dy < 0), -dy, NOBODY))
        return k + 1, Distances(beside[0], beside[1], above, below)

    def anything_left(carry: tuple[Array, Distances]) -> Bool[Array, ""]:
        k, near = carry
        left, right = jnp.abs(neighbour(-k)[0]), jnp.abs(neighbour(k)[0])
        return jnp.any(
            (jnp.isfinite(left) & (jnp.isinf(near.left) | (left < 1.0 - OVERLAP)))
            | (jnp.isfinite(right) & (jnp.isinf(near.right) | (right < 1.0 - OVERLAP)))
        )

    start = (jnp.int32(1), Distances(nobody, nobody, nobody, nobody))
    _, near = jax.lax.while_loop(anything_left, look, start)
    return Distances(
        *(jnp.put_along_axis(nobody, box, part, axis=0, inplace=False) for part in near)
    )


def distances(bodies: Bodies, hidden: Bool[Array, "n *b"]) -> Distances:
    """Distances between boxes that are not hidden, by the faster method for this number."""
    x = jnp.where(hidden, jnp.inf, bodies.x)
    return (by_row if x.shape[0] >= MANY else by_all_pairs)(x, bodies.y)


OWN_NAMES = (
    *("x", "y", "horizontal speed", "vertical speed", "angle", "turning"),
    *("box to the left", "box to the right", "box above", "box below", "could jump"),
)
OWN_NUMBERS = len(OWN_NAMES)
SHARED_NAMES: dict[SharedNumber, str] = {
    "best": "best height",
    "time": "elapsed time",
    "num_boxes": "number of boxes",
    "top": "x of the highest box",
}
WINDOW = 20.0  # the height of the window, the unit of vertical distances
WINDOW_TOP = 15.0  # the height of its top above the floor


class Scaling(NamedTuple):
    """Maps positions and speeds to numbers near 1, and positions back."""

    x: Callable[[Array, float], Array]  # position, width of the map
    y: Callable[[Array, Array], Array]  # position, fallen
    vx: float
    vy: float
    sideways: Callable[[Array, float], Array]  # distance to the side, width of the map
    upward: Callable[[Array], Array]  # distance up or down
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
    # In box widths, with a high resolution nearby: 0 for touching boxes, 0.76 one width apart.
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
    "best": lambda state, parameters: state.shown / parameters.best_divisor,
    "time": lambda state, parameters: state.steps.astype(jnp.float32) / parameters.max_steps,
    "num_boxes": lambda state, parameters: jnp.full_like(state.best, parameters.num_boxes),
    "top": lambda state, parameters: _top(state, parameters),
}


def _top(state: BoxJumpState, parameters: Parameters) -> Float[Array, "*b"]:
    """The scaled x of the highest box; ties go to the rightmost."""
    heights = jnp.where(state.fallen, -jnp.inf, state.bodies.y)
    highest = heights == jnp.max(heights, axis=0, keepdims=True)
    x = jnp.max(jnp.where(highest, state.bodies.x, -jnp.inf), axis=0)
    return SCALINGS[parameters.scaling].x(x, parameters.width)


def can_jump(state: BoxJumpState, parameters: Parameters) -> Bool[Array, "n *b"]:
    """Whether each box stood still during the whole look-back, counted since the reset."""
    return (state.calm >= parameters.look_back) & ~state.fallen


def observation_names(parameters: Parameters) -> tuple[str, ...]:
    """The name of each number of `observe`."""
    shared = [SHARED_NAMES[name] for name in parameters.shared_numbers]
    ids = [f"is box {box}" for box in range(parameters.num_boxes)] if parameters.agent_ids else []
    return (*OWN_NAMES, *shared, *ids)


def own_numbers(state: BoxJumpState, parameters: Parameters) -> Float[Array, "n 11 *b"]:
    """The numbers about each box and its surroundings."""
    scaling, width = SCALINGS[parameters.scaling], parameters.width
    bodies = state.bodies
    turns = bodies.angle * (2 / math.pi)
    hidden = state.fallen & (not parameters.fallen_seen)
    near = distances(bodies, hidden)
    floor = jnp.where(hidden, 0.0, bodies.y)
    jump_flag = state.could_jump if parameters.jump_flag_lags else can_jump(state, parameters)
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
            jump_flag.astype(jnp.float32),
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
