"""Values with a table for every pair, of which the actions decide the pairs that count."""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.values.base import Inputs, Value
from pairvdn.values.encoders import Encoder
from pairvdn.values.graphs import Pairs
from pairvdn.values.heads import SymmetricPairHead
from pairvdn.values.utilities import chosen


class AllPairs(eqx.Module):
    """Utilities, and a table for each ordered pair: payoffs[i, j, x, y] = payoffs[j, i, y, x]."""

    utilities: Float[Array, "n a"]
    payoffs: Float[Array, "n n a a"]

    def at(self, actions: Int32[Array, " n"]) -> Float[Array, "n n"]:
        """The entry of each pair for these actions.

        Selected by comparison: the gradient of a look-up would be a slow scatter.
        """
        own = actions[:, None] == jnp.arange(self.utilities.shape[1])[None]
        both = own[:, None, :, None] & own[None, :, None, :]
        return jnp.where(both, self.payoffs, 0).sum(axis=(2, 3))

    def between(self, first: Int32[Array, " e"], second: Int32[Array, " e"]) -> Array:
        """The tables [e, a, a] of some pairs; not for learning, see `at`."""
        return self.payoffs[first, second]

    def strengths(self, mask: Bool[Array, "n a"]) -> Float[Array, "2 n n"]:
        """Two guesses at which pairs matter, from their allowed entries.

        The largest entry of each table, and the largest entry of its interaction: the table less
        its means over rows and columns.
        """
        allowed = mask[:, None, :, None] & mask[None, :, None, :]
        tables = jnp.where(allowed, self.payoffs, 0)
        means = tables.mean(axis=2, keepdims=True) + tables.mean(axis=3, keepdims=True)
        guesses = jnp.stack([tables, tables - means])
        return jnp.where(allowed[None], guesses, -jnp.inf).max(axis=(3, 4))


class AllPairsValue(Value[AllPairs]):
    """Q(o, a) = Σ_i Q_i(h_i, a_i) + Σ Q_ij(h_i, h_j, a_i, a_j) over the pairs that a method counts.

    A method chooses the pairs (`counted`) from the entries for the actions, and maximises.
    """

    encoder: eqx.AbstractVar[Encoder[Any]]
    heads: eqx.AbstractVar[SymmetricPairHead]
    num_heads = 1

    @abc.abstractmethod
    def counted(self, entries: Float[Array, "n n"]) -> Bool[Array, "n n"]:
        """The ordered pairs (i, j) that count, never (i, i); the choice has no gradient."""

    @property
    @abc.abstractmethod
    def most_pairs(self) -> int:
        """The largest number of ordered pairs that count."""

    def compute_tables(self, inputs: Inputs) -> AllPairs:
        """The utilities, and the tables of all pairs."""
        hidden = self.heads.hidden(inputs)
        return AllPairs(self.heads.utilities(hidden), self.heads.all_tables(hidden))

    def evaluate(self, tables: AllPairs, actions: Int32[Array, " n"]) -> Float[Array, " 1"]:
        """The utilities, and the entries of the pairs that count."""
        entries = tables.at(actions)
        counted = self.counted(jax.lax.stop_gradient(entries))
        pairs = jnp.where(counted, entries, 0).sum()
        return (pairs + chosen(tables.utilities, actions).sum())[None]

    def pairs(self, tables: AllPairs, actions: Int32[Array, " n"]) -> Pairs:
        """The pairs that count, filled up with tables of 0."""
        counted = self.counted(tables.at(actions))
        size = self.most_pairs
        first, second = jnp.nonzero(counted, size=size, fill_value=0)
        real = jnp.arange(size) < counted.sum()
        payoffs = jnp.where(real[:, None, None], tables.between(first, second), 0)
        edges = jnp.stack([first, second], axis=1).astype(jnp.int32)
        return Pairs(edges, payoffs, tables.utilities)


def off_diagonal(num_agents: int) -> Bool[Array, "n n"]:
    """Pairs of different agents."""
    return ~jnp.eye(num_agents, dtype=bool)


def upper(num_agents: int) -> Bool[Array, "n n"]:
    """Each pair of different agents once."""
    return jnp.triu(jnp.ones((num_agents, num_agents), bool), k=1)


def rank_in_row(scores: Float[Array, "n n"]) -> Int32[Array, "n n"]:
    """How many agents of the row have a larger score; equal ones are ranked by index."""
    index = jnp.arange(scores.shape[0])
    larger = scores[:, None, :] > scores[:, :, None]
    equal = (scores[:, None, :] == scores[:, :, None]) & (index[None, :] < index[:, None])[None]
    return (larger | equal).sum(axis=2, dtype=jnp.int32)


def decided(
    actions: Int32[Array, " n"],
    value: Float[Array, " 1"],
    tables: AllPairs,
    mask: Bool[Array, "n a"],
) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
    """Actions of -1 and -inf where an agent has no allowed action, and NaN where an entry has."""
    allowed = mask[:, None, :, None] & mask[None, :, None, :]
    allowed &= off_diagonal(mask.shape[0])[:, :, None, None]
    nan = (jnp.isnan(tables.payoffs) & allowed).any() | (jnp.isnan(tables.utilities) & mask).any()
    value = jnp.where(nan, jnp.nan, value)
    can_act = mask.any(axis=1).all()
    value = jnp.where(can_act, value, -jnp.inf)
    return jnp.where(can_act & ~nan, actions, -1), value


def allowed_only(tables: AllPairs, mask: Bool[Array, "n a"]) -> AllPairs:
    """Entries that no allowed joint action reads become 0, whatever they hold; no gradient."""
    tables = jax.lax.stop_gradient(tables)
    allowed = mask[:, None, :, None] & mask[None, :, None, :]
    allowed &= off_diagonal(mask.shape[0])[:, :, None, None]
    utilities = jnp.where(mask, tables.utilities, 0)
    return AllPairs(utilities, jnp.where(allowed, tables.payoffs, 0))
