"""Records of learning. `_tm1` means before an agent step, `_t` after it."""

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int32


class Transition(eqx.Module):
    """One agent step: everything that a temporal-difference target needs.

    `reward_t` is the discounted sum of the rewards within the step. `discount_t` is the weight of
    the next value: γ to the power of the environment steps taken, or 0 if the episode terminated. A
    truncated episode keeps its discount, since its final observation still has a value. Agent
    identifiers are never stored; values append them.
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
    """The metrics of one epoch, always finite.

    `mean_return` averages the undiscounted team returns of the episodes that finished in this epoch
    and is 0 without any. `loss`, `td_error` and `greedy_value` are means over the epoch's updates
    and 0 without any, as in a run that has diverged.
    """

    epoch: Int32[Array, ""]  # of this epoch, from 1
    env_steps: Int32[Array, ""]  # since the start, random ones included
    updates: Int32[Array, ""]  # since the start
    episodes: Int32[Array, ""]  # finished in this epoch
    mean_return: Float[Array, ""]
    loss: Float[Array, ""]
    td_error: Float[Array, ""]  # mean |TD error| over batch and heads
    epsilon: Float[Array, ""]  # mean over the environments
    greedy_value: Float[Array, ""]  # mean max Q of the target network
    diverged: Bool[Array, ""]
