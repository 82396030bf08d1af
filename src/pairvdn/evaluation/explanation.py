"""Explanations: the numbers behind a joint action, and its gain over the additive baseline.

A pair-wise value Q(a) = Σ_e P_e(a_i, a_j) + Σ_i u_i(a_i) has a nearest additive value: the sum over
agents f_i(a_i) + constant with the least squared error over all allowed joint actions. It has the
form of VDN's value, and averaging over all other agents gives it in closed form,

    f_i(a_i) = u_i(a_i) + Σ_(e with i) mean over the partner's allowed actions of P_e(a_i, ·).

In the additive baseline agent i takes argmax f_i. If all tables are additive, this is the best
joint action; where the chosen action differs and has a larger value, the agents coordinate. The
whole value is projected, not one table: an agent has several tables, and judged by one of them it
would seem to coordinate whenever another table outweighs it.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, PyTree

from pairvdn import maximise
from pairvdn.acting.policy import run_networks
from pairvdn.envs import Task
from pairvdn.types import TimeStep
from pairvdn.values import HasMaximiser, HasPairs, HasUtilities, Pairs, Value
from pairvdn.values.utilities import best

ROUNDING = 1e-5  # a smaller gain, relative to the summed tables, is rounding in float32


class AdditiveBaseline(eqx.Module):
    """The additive baseline of one agent step: f, its best actions, and their joint value."""

    utilities: Float[Array, "n a"]
    actions: Int32[Array, " n"]
    value: Float[Array, ""]  # Q of the baseline's actions
    coordinated: Bool[Array, " n"]  # agents that deviate from the baseline, to the team's gain


class Explanation(eqx.Module):
    """The numbers behind the greedy joint action; None where a method has no such numbers.

    `value` is that of the chosen joint action, for each head. Pair-wise methods have `edges` and
    their tables `payoffs`, in which edge (i, j) contributes payoffs[e, a_i, a_j], and `additive`;
    `utilities` belong to single agents. `bound` is an upper bound on the value of every joint
    action, for methods whose greedy actions are approximate.
    """

    value: Float[Array, " h"]
    mask: Bool[Array, "n a"]
    utilities: Float[Array, "n a"] | None = None
    edges: Int32[Array, "e 2"] | None = None
    payoffs: Float[Array, "e a a"] | None = None
    additive: AdditiveBaseline | None = None
    bound: Float[Array, ""] | None = None


def explain(env: Task, value: Value[Any], carry: PyTree[Array], timestep: TimeStep) -> Explanation:
    """Explain the greedy choice of `value` with this memory at this time step.

    Compiled together with the policy, the networks run once for both.
    """
    tables, _ = run_networks(env, value, carry, timestep.observation, timestep.state)
    actions, best_value = value.greedy(tables, timestep.mask)
    if isinstance(value, HasPairs):
        pairs = value.pairs(tables, actions)
        return Explanation(
            best_value,
            timestep.mask,
            pairs.utilities,
            pairs.edges,
            pairs.payoffs,
            additive_baseline(pairs, timestep.mask, actions),
            _bound(value, tables, timestep.mask),
        )
    if isinstance(value, HasUtilities):
        return Explanation(best_value, timestep.mask, value.utilities(tables))
    return Explanation(best_value, timestep.mask)


def _bound(value: Value[Any], tables: Any, mask: Bool[Array, "n a"]) -> Float[Array, ""] | None:
    """An upper bound on all joint actions, if the greedy one is approximate."""
    if isinstance(value, HasMaximiser) and not value.maximiser.exact:
        return value.bound(tables, mask)
    return None


def additive_baseline(
    pairs: Pairs, mask: Bool[Array, "n a"], chosen: Int32[Array, " n"]
) -> AdditiveBaseline:
    """Compare the chosen joint action with the baseline's."""
    utilities = additive_part(pairs, mask)
    actions, _ = best(utilities, mask)
    decided = (actions >= 0).all() & (chosen >= 0).all()
    baseline, value = (
        maximise.evaluate(
            pairs.payoffs, pairs.edges, jnp.maximum(joint, 0), utilities=pairs.utilities
        )
        for joint in (actions, chosen)
    )
    scale = jnp.abs(pairs.payoffs).max(axis=(1, 2)).sum()
    gains = decided & (value - baseline > ROUNDING * scale)
    return AdditiveBaseline(
        utilities=utilities,
        actions=actions,
        value=jnp.where(decided, baseline, jnp.nan),
        coordinated=gains & (actions != chosen),
    )


def additive_part(pairs: Pairs, mask: Bool[Array, "n a"]) -> Float[Array, "n a"]:
    """The utilities f of the nearest additive value, up to constants."""
    first, second = pairs.edges[:, 0], pairs.edges[:, 1]
    itself = (first == second)[:, None]  # a single agent is its own partner

    def mean(table: Float[Array, "a a"], allowed: Bool[Array, " a"]) -> Float[Array, " a"]:
        """The mean over the allowed columns."""
        count = jnp.maximum(jnp.sum(allowed), 1).astype(jnp.float32)
        return jnp.sum(jnp.where(allowed[None], table, 0.0), axis=1) / count

    utilities = jnp.zeros(mask.shape) if pairs.utilities is None else pairs.utilities
    rows = jax.vmap(mean)(pairs.payoffs, mask[second])
    columns = jax.vmap(mean)(jnp.swapaxes(pairs.payoffs, 1, 2), mask[first])
    diagonal = jnp.diagonal(pairs.payoffs, axis1=1, axis2=2)
    utilities = utilities.at[first].add(jnp.where(itself, diagonal, rows))
    return utilities.at[second].add(jnp.where(itself, 0.0, columns))
