"""Measures of Box Jump besides its reward, for one example."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.envs.base import Share
from pairvdn.envs.box_jump.observe import can_jump
from pairvdn.envs.box_jump.types import BoxJumpState
from pairvdn.envs.box_jump.variants import Parameters

PAPER_UNIT = 15.0  # the paper's score of a height h is 1 + h / 15
JUMP = 3
RESTS = 0.9  # a load's centre is at most this far to the side of its carrier's ...
TOUCHES = 1.1  # ... and at most this far above: a little play beyond one box


def measures(state: BoxJumpState, parameters: Parameters) -> dict[str, Float[Array, ""]]:
    """Best height so far, in boxes and in the paper's unit; how close together the boxes stay.

    `nearest_neighbour` is the mean over boxes that did not fall of the distance to the nearest
    other one, centre to centre in box widths: the paper's claim that PairVDN groups, as a number.
    A box that is alone counts as the map's width away.
    """
    best = jnp.maximum(state.best, 0.0)
    dx = state.bodies.x[:, None] - state.bodies.x[None]
    dy = state.bodies.y[:, None] - state.bodies.y[None]
    stays = ~state.fallen
    another = stays[:, None] & stays[None] & ~jnp.eye(parameters.num_boxes, dtype=bool)
    nearest = jnp.min(jnp.hypot(dx, dy), axis=1, where=another, initial=parameters.width)
    staying = jnp.maximum(jnp.sum(stays), 1).astype(jnp.float32)
    return {
        "best_height": best,
        "paper_score": 1.0 + best / PAPER_UNIT,
        "nearest_neighbour": jnp.sum(jnp.where(stays, nearest, 0.0)) / staying,
        "fallen": jnp.sum(state.fallen).astype(jnp.float32),
    }


def shares(
    state: BoxJumpState, actions: Int32[Array, " n"], parameters: Parameters
) -> dict[str, Share]:
    """Of the jumps of boxes that carry another one, those in which the load jumps as well."""
    jumps = (actions == JUMP) & can_jump(state, parameters)
    dx = jnp.abs(state.bodies.x[None] - state.bodies.x[:, None])  # [carrier, load]
    dy = state.bodies.y[None] - state.bodies.y[:, None]
    carries = (dx < RESTS) & (dy > 0.5) & (dy < TOUCHES) & ~state.fallen[None]
    loaded = jumps & jnp.any(carries, axis=1)
    together = loaded & jnp.any(carries & jumps[None], axis=1)
    return {
        "synchrony": Share(
            jnp.sum(together).astype(jnp.float32), jnp.sum(loaded).astype(jnp.float32)
        )
    }
