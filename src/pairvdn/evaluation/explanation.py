"""Why a value chose a joint action, as numbers to look at."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int32, PyTree

from pairvdn.acting.policy import run_networks
from pairvdn.envs import Environment
from pairvdn.evaluation.additive import AdditiveBaseline, additive_baseline
from pairvdn.types import TimeStep
from pairvdn.values import HasPairs, HasUtilities, Value


class Explanation(eqx.Module):
    """The numbers behind the greedy joint action; None where a method has no such numbers.

    `value` is that of the chosen joint action, for each head. Pair-wise methods have `edges` and
    their tables `payoffs`, in which edge (i, j) contributes payoffs[e, a_i, a_j], and `additive`;
    `utilities` belong to single agents.
    """

    value: Float[Array, " h"]
    mask: Bool[Array, "n a"]
    utilities: Float[Array, "n a"] | None = None
    edges: Int32[Array, "e 2"] | None = None
    payoffs: Float[Array, "e a a"] | None = None
    additive: AdditiveBaseline | None = None


def explain(
    env: Environment[Any], value: Value[Any], carry: PyTree[Array], timestep: TimeStep
) -> Explanation:
    """Explain the greedy choice of `value` with this memory at this time step.

    Compiled together with the policy, the networks run once for both.
    """
    tables, _ = run_networks(env, value, carry, timestep.observation, timestep.state)
    actions, worth = value.greedy(tables, timestep.mask)
    if isinstance(value, HasPairs):
        pairs = value.pairs(tables)
        return Explanation(
            worth,
            timestep.mask,
            pairs.utilities,
            pairs.edges,
            pairs.payoffs,
            additive_baseline(pairs, timestep.mask, actions),
        )
    if isinstance(value, HasUtilities):
        return Explanation(worth, timestep.mask, value.utilities(tables))
    return Explanation(worth, timestep.mask)
