"""Records of learning. `_tm1` means before an agent step, `_t` after it."""

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int32, PyTree


class Transition(eqx.Module):
    """One agent step: everything that a temporal-difference target needs.

    `reward_t` is the discounted sum of the rewards within the step. `discount_t` is the weight of
    the next value: γ to the power of the environment steps taken, or 0 if the episode terminated. A
    truncated episode keeps its discount, since its final observation still has a value. Agent
    identifiers are never stored; values append them. `mask_tm1` is stored for values that read it.
    """

    observation_tm1: Float[Array, "n o"]
    state_tm1: Float[Array, " s"]
    actions_tm1: Int32[Array, " n"]
    reward_t: Float[Array, ""]
    discount_t: Float[Array, ""]
    observation_t: Float[Array, "n o"]
    state_t: Float[Array, " s"]
    mask_t: Bool[Array, "n a"]
    mask_tm1: Bool[Array, "n a"] | None = None


class Frame(eqx.Module):
    """One time of a stream: what the agents see, and the agent step that they take there.

    The next frame shows what the step led to, so that nothing is stored twice. After a termination
    the next frame is the start of the next episode: `discount_t` is 0 and `ended` is set. A
    truncated episode has one frame more, its final observation, at which no step is taken: `acted`
    is False there, and `ended` is set.
    """

    observation: Float[Array, "n o"]
    state: Float[Array, " s"]
    mask: Bool[Array, "n a"]
    actions: Int32[Array, " n"]
    reward_t: Float[Array, ""]
    discount_t: Float[Array, ""]
    acted: Bool[Array, ""]
    ended: Bool[Array, ""]  # the next frame belongs to another episode


class Sequence(eqx.Module):
    """Consecutive frames of one environment, and the carry with which the first was seen."""

    carry: PyTree[Array]
    frames: Frame  # every leaf has a leading time axis


class Metrics(eqx.Module):
    """The metrics of one epoch, always finite.

    `mean_return` averages the undiscounted team returns of the episodes that finished in this epoch
    and is 0 without any. `loss`, `td_error` and `greedy_value` are means over the epoch's updates
    and 0 without any, as in a run that has diverged. `gap` is None for methods whose greedy actions
    are exact, and without a replay.
    """

    epoch: Int32[Array, ""]  # of this epoch, from 1
    env_steps: Int32[Array, ""]  # since the start, random ones included
    updates: Int32[Array, ""]  # since the start
    episodes: Int32[Array, ""]  # finished in this epoch
    mean_return: Float[Array, ""]
    loss: Float[Array, ""]
    td_error: Float[Array, ""]  # mean |TD error| over batch and heads
    epsilon: Float[Array, ""]  # mean over the environments
    greedy_value: Float[Array, ""]  # mean Q of the target network for the next actions
    diverged: Bool[Array, ""]
    gap: Float[Array, ""] | None = None  # mean upper bound of max Q less Q of the greedy actions
