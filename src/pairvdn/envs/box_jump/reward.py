"""Team rewards of Box Jump, by name, and its other measures.

With n boxes, T steps, h_i the height of box i above the floor (0 once fallen), H the greatest h_i
now and H_s the same over boxes that can jump in the next step (0 if there is none).
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.base import Share
from pairvdn.envs.box_jump.observe import can_jump
from pairvdn.envs.box_jump.types import BoxJumpState
from pairvdn.envs.box_jump.variants import Parameters, RewardName


class Climb(NamedTuple):
    """The quantities from which rewards are computed."""

    heights: Float[Array, "n *b"]
    standing: Bool[Array, "n *b"]  # can jump
    gained: Float[Array, "*b"]  # counted gain of the best height, over `best_divisor`
    gained_stable: Float[Array, "*b"]  # the same for boxes that can jump
    max_steps: int

    @property
    def mean_square(self) -> Float[Array, "*b"]:
        """Mean of h_i^2."""
        return jnp.mean(self.heights**2, axis=0)

    @property
    def mean_square_standing(self) -> Float[Array, "*b"]:
        """Sum of h_i^2 over boxes that can jump, over n."""
        return jnp.mean(jnp.where(self.standing, self.heights**2, 0.0), axis=0)

    @property
    def top(self) -> Float[Array, "*b"]:
        """H."""
        return jnp.max(self.heights, axis=0)

    @property
    def top_standing(self) -> Float[Array, "*b"]:
        """H_s."""
        return jnp.max(jnp.where(self.standing, self.heights, 0.0), axis=0)


REWARDS: dict[RewardName, Callable[[Climb], Float[Array, "*b"]]] = {
    "highest": lambda climb: climb.gained,
    "highest_stable": lambda climb: climb.gained_stable,
    "height_sq": lambda climb: climb.mean_square / climb.max_steps,
    "stable_sum": lambda climb: 50 * climb.mean_square_standing / climb.max_steps,
    "dense_height": lambda climb: 50 * climb.top / climb.max_steps,
    "dense_height_sq": lambda climb: 10 * climb.top**2 / climb.max_steps,
    "dense_height_cube": lambda climb: 10 * climb.top**3 / climb.max_steps,
    "dense_height_stable": lambda climb: 50 * climb.top_standing / climb.max_steps,
    "dense_height_stable_sq": lambda climb: 10 * climb.top_standing**2 / climb.max_steps,
    "dense_height_stable_cube": lambda climb: 10 * climb.top_standing**3 / climb.max_steps,
}


def heights(state: BoxJumpState) -> Float[Array, "n *b"]:
    """The height of each box above the floor; 0 once it fell."""
    return jnp.where(state.fallen, 0.0, jnp.maximum(state.bodies.y - 0.5, 0.0))


def count_best(state: BoxJumpState, standing: Bool[Array, "n *b"]) -> BoxJumpState:
    """The state with updated best heights."""
    now = heights(state)
    now_stable = jnp.where(standing, now, -jnp.inf)
    return dataclasses.replace(
        state,
        best=jnp.maximum(state.best, jnp.max(now, axis=0)),
        best_stable=jnp.maximum(state.best_stable, jnp.max(now_stable, axis=0)),
    )


def stacking(state: BoxJumpState) -> Float[Array, "*b"]:
    """The mean over boxes of the number of boxes in their column, less than half a width aside.

    1 if all boxes stand apart, n if all are in one tower.
    """
    x = jnp.where(state.fallen, jnp.nan, state.bodies.x)  # fallen boxes are in no column
    together = jnp.abs(x[:, None] - x[None]) < 0.5
    return jnp.mean(jnp.sum(together, axis=1, dtype=jnp.float32), axis=0)


def spread(state: BoxJumpState, parameters: Parameters) -> Float[Array, "*b"]:
    """The mean distance along x of two boxes; a fallen box stays where it left the floor."""
    x = jnp.clip(state.bodies.x, parameters.floor_left, parameters.width)
    return jnp.mean(jnp.mean(jnp.abs(x[:, None] - x[None]), axis=1), axis=0)


def agent_rewards(
    before: BoxJumpState,
    after: BoxJumpState,
    standing: Bool[Array, "n *b"],
    ended_by_fall: Bool[Array, "*b"],
    parameters: Parameters,
) -> Float[Array, "n *b"]:
    """The reward of each box: an even share of the team's, less the penalty for its own fall."""
    climb = Climb(
        heights=heights(after),
        standing=standing,
        gained=(after.counted - before.counted) / parameters.best_divisor,
        gained_stable=(after.best_stable - before.best_stable) / parameters.best_divisor,
        max_steps=parameters.max_steps,
    )
    team = REWARDS[parameters.reward](climb)
    if parameters.stacking_reward:
        team = team + parameters.stacking_reward * (stacking(after) - stacking(before))
    if parameters.gathering_reward:
        closer = spread(before, parameters) - spread(after, parameters)
        team = team + parameters.gathering_reward * closer
    team = team - jnp.where(ended_by_fall, parameters.fall_end_penalty, 0.0)
    share = jnp.broadcast_to(team / parameters.num_boxes, climb.heights.shape)
    return share - jnp.where(after.fallen, parameters.fall_penalty / parameters.max_steps, 0.0)


PAPER_UNIT = 15.0  # the paper's score of a height h is 1 + h / 15
JUMP = 3
RESTS = 0.9  # the largest horizontal offset of a load from its carrier
TOUCHES = 1.1  # the largest vertical offset: one box and some slack


MEASURE_MEANINGS = {
    "best_height": "Greatest height that any box has reached, in boxes, as far as it counts.",
    "paper_score": "The best height in the unit of the paper's table 1.",
    "nearest_neighbour": "Mean distance of a box to its nearest box, in box widths.",
    "fallen": "Number of boxes that have fallen off the floor.",
}


def measures(state: BoxJumpState, parameters: Parameters) -> dict[str, Float[Array, ""]]:
    """Counted best height, in boxes and in the paper's unit; distances of boxes; number of falls.

    `nearest_neighbour` is the mean over standing boxes of the distance to the nearest other one,
    centre to centre in box widths. It quantifies the paper's claim that boxes group with PairVDN. A
    single remaining box counts the map's width.
    """
    best = jnp.maximum(state.counted, 0.0)
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
    """The share of jumps under a load in which the load jumps at the same time."""
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
