"""Team rewards of Box Jump, by name.

With n boxes, T steps, h_i the height of box i above the floor (0 once fallen), "can jump" as
observed, H the greatest h_i now and H_s the same over boxes that can jump (0 if there is none).
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pairvdn.envs.box_jump.types import BoxJumpState
from pairvdn.envs.box_jump.variants import Parameters, RewardName


class Climb(NamedTuple):
    """What a reward is made of."""

    heights: Float[Array, "n *b"]
    standing: Bool[Array, "n *b"]  # can jump
    gained: Float[Array, "*b"]  # by the best height, in this step, over `best_divisor`
    gained_stable: Float[Array, "*b"]  # by the best height of boxes that can jump
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
    """How far each box is above its place on the floor; 0 once it fell."""
    return jnp.where(state.fallen, 0.0, jnp.maximum(state.bodies.y - 0.5, 0.0))


def count_best(state: BoxJumpState, standing: Bool[Array, "n *b"]) -> BoxJumpState:
    """The state with its best heights brought up to date."""
    now = heights(state)
    now_stable = jnp.where(standing, now, -jnp.inf)
    updated: BoxJumpState = eqx.tree_at(
        lambda s: (s.best, s.best_stable),
        state,
        (
            jnp.maximum(state.best, jnp.max(now, axis=0)),
            jnp.maximum(state.best_stable, jnp.max(now_stable, axis=0)),
        ),
    )
    return updated


def stacking(state: BoxJumpState) -> Float[Array, "*b"]:
    """How many boxes there are, on average over boxes, where a box is: it, above it, and below it.

    1 if all stand apart, n if all stand on each other. Above means less than half a width aside.
    """
    x = jnp.where(state.fallen, jnp.nan, state.bodies.x)  # no box is where a fallen box is
    together = jnp.abs(x[:, None] - x[None]) < 0.5
    return jnp.mean(jnp.sum(together, axis=1, dtype=jnp.float32), axis=0)


def agent_rewards(
    before: BoxJumpState,
    after: BoxJumpState,
    standing: Bool[Array, "n *b"],
    ended_by_fall: Bool[Array, "*b"],
    parameters: Parameters,
) -> Float[Array, "n *b"]:
    """Each box's reward: an even share of the team's, less what its own fall costs."""
    climb = Climb(
        heights=heights(after),
        standing=standing,
        gained=(after.best - before.best) / parameters.best_divisor,
        gained_stable=(after.best_stable - before.best_stable) / parameters.best_divisor,
        max_steps=parameters.max_steps,
    )
    team = REWARDS[parameters.reward](climb)
    if parameters.stacking_reward:
        team = team + parameters.stacking_reward * (stacking(after) - stacking(before))
    team = team - jnp.where(ended_by_fall, parameters.fall_end_penalty, 0.0)
    share = jnp.broadcast_to(team / parameters.num_boxes, climb.heights.shape)
    return share - jnp.where(after.fallen, parameters.fall_penalty / parameters.max_steps, 0.0)
