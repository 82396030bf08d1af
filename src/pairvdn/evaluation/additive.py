"""The additive baseline: the choice of each agent alone, and the gain of acting together.

A pair-wise value Q(a) = Σ_e P_e(a_i, a_j) + Σ_i u_i(a_i) has a nearest additive one, the sum over
agents f_i(a_i) + constant with the least squared error over all allowed joint actions. It is VDN's
kind of value, and it is known in closed form: every other agent is averaged over,

    f_i(a_i) = u_i(a_i) + Σ_(e with i) mean over the partner's allowed actions of P_e(a_i, ·).

*Alone*, agent i takes argmax f_i. If no table holds more than additive numbers, the best joint
action is the one that all take alone; where it differs, and is worth more, they coordinate. The
projection is that of the whole value and not of one table, because an agent has several: from one
table alone it would seem to coordinate whenever another table outweighs this one.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn import maximise
from pairvdn.values import Pairs
from pairvdn.values.utilities import best

ROUNDING = 1e-5  # a gain below this share of the summed tables is one of float32's


class AdditiveBaseline(eqx.Module):
    """The additive baseline of one agent step: f, its best actions, and their joint value."""

    utilities: Float[Array, "n a"]
    actions: Int32[Array, " n"]
    value: Float[Array, ""]  # Q of the actions that all take alone
    coordinated: Bool[Array, " n"]  # who does something else, to the team's gain


def additive_baseline(
    pairs: Pairs, mask: Bool[Array, "n a"], chosen: Int32[Array, " n"]
) -> AdditiveBaseline:
    """Compare the chosen joint action with what the agents would do alone."""
    utilities = additive_part(pairs, mask)
    actions, _ = best(utilities, mask)
    decided = (actions >= 0).all() & (chosen >= 0).all()
    worth_alone, worth = (_worth(pairs, jnp.maximum(one, 0)) for one in (actions, chosen))
    scale = jnp.abs(pairs.payoffs).max(axis=(1, 2)).sum()
    gains = decided & (worth - worth_alone > ROUNDING * scale)
    return AdditiveBaseline(
        utilities=utilities,
        actions=actions,
        value=jnp.where(decided, worth_alone, jnp.nan),
        coordinated=gains & (actions != chosen),
    )


def additive_part(pairs: Pairs, mask: Bool[Array, "n a"]) -> Float[Array, "n a"]:
    """The utilities f of the nearest additive value, up to constants."""
    first, second = pairs.edges[:, 0], pairs.edges[:, 1]
    itself = (first == second)[:, None]  # an agent without others is its own partner

    def mean(table: Float[Array, "a a"], allowed: Bool[Array, " a"]) -> Float[Array, " a"]:
        """Over the columns that are allowed."""
        count = jnp.maximum(jnp.sum(allowed), 1).astype(jnp.float32)
        return jnp.sum(jnp.where(allowed[None], table, 0.0), axis=1) / count

    utilities = jnp.zeros(mask.shape) if pairs.utilities is None else pairs.utilities
    rows = jax.vmap(mean)(pairs.payoffs, mask[second])
    columns = jax.vmap(mean)(jnp.swapaxes(pairs.payoffs, 1, 2), mask[first])
    diagonal = jnp.diagonal(pairs.payoffs, axis1=1, axis2=2)
    utilities = utilities.at[first].add(jnp.where(itself, diagonal, rows))
    return utilities.at[second].add(jnp.where(itself, 0.0, columns))


def _worth(pairs: Pairs, actions: Int32[Array, " n"]) -> Float[Array, ""]:
    return maximise.evaluate(pairs.payoffs, pairs.edges, actions, utilities=pairs.utilities)
