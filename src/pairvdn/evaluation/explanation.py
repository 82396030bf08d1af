"""What a value held of one decision, as numbers to look at."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.acting.policy import tables
from pairvdn.envs import Environment
from pairvdn.evaluation.additive import AdditiveBaseline, additive_baseline
from pairvdn.types import TimeStep
from pairvdn.values import HasPairs, HasUtilities, Value


class Explanation(eqx.Module):
    """The numbers behind a joint action; None where a method has no such thing.

    `value` is what the chosen joint action is worth, for each head. Pair-wise methods have `edges`
    and their tables `payoffs`, in which edge (i, j) contributes payoffs[e, a_i, a_j], and `alone`;
    `utilities` belong to single agents.
    """

    value: Float[Array, " h"]
    mask: Bool[Array, "n a"]
    utilities: Float[Array, "n a"] | None = None
    edges: Int32[Array, "e 2"] | None = None
    payoffs: Float[Array, "e a a"] | None = None
    additive: AdditiveBaseline | None = None


def explain(
    env: Environment[Any], value: Value[Any], timestep: TimeStep
) -> tuple[Int32[Array, " n"], Explanation]:
    """The joint action that the value thinks best, and why: one pass of the networks for both."""
    held = tables(env, value, timestep.observation, timestep.state)
    actions, worth = value.greedy(held, timestep.mask)
    if isinstance(value, HasPairs):
        pairs = value.pairs(held)
        compared = additive_baseline(pairs, timestep.mask, actions)
        explanation = Explanation(
            worth, timestep.mask, pairs.utilities, pairs.edges, pairs.payoffs, compared
        )
    elif isinstance(value, HasUtilities):
        explanation = Explanation(worth, timestep.mask, value.utilities(held))
    else:
        explanation = Explanation(worth, timestep.mask)
    return actions, explanation
