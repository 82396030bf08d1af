"""Records of learning. `_tm1` is before an agent step, `_t` after it; nothing is called done."""

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int32


class Transition(eqx.Module):
    """One agent step: all that a temporal-difference target needs.

    `reward_t` is the discounted sum of the rewards on the way and `discount_t` the weight of the
    value at the end: γ to the power of the environment steps taken, or 0 where the episode was
    terminated. A truncated episode is cut here but keeps its discount: its final observation
    still has a value. Identifiers of agents are never stored; values append them.
    """

    observation_tm1: Float[Array, "n o"]
    state_tm1: Float[Array, " s"]
    actions_tm1: Int32[Array, " n"]
    reward_t: Float[Array, ""]
    discount_t: Float[Array, ""]
    observation_t: Float[Array, "n o"]
    state_t: Float[Array, " s"]
    mask_t: Bool[Array, "n a"]


class Metrics(eqx.Module):
    """The numbers of one epoch. Everything is finite, always.

    `mean_return` is over the episodes that finished in this epoch (undiscounted sums of the team
    reward) and 0 where `episodes` is 0. `loss`, `td_error` and `greedy_value` are means over the
    epoch's updates and 0 where there was none, which is also what a diverged run shows.
    """

    epoch: Int32[Array, ""]  # of this epoch, from 0
    env_steps: Int32[Array, ""]  # since the start, random ones included
    updates: Int32[Array, ""]  # since the start
    episodes: Int32[Array, ""]  # finished in this epoch
    mean_return: Float[Array, ""]
    loss: Float[Array, ""]
    td_error: Float[Array, ""]  # mean |TD error| over batch and heads
    epsilon: Float[Array, ""]  # mean over the environments
    greedy_value: Float[Array, ""]  # mean max Q of the target network
    diverged: Bool[Array, ""]
