"""Values with a table for every pair, of which the actions decide the pairs that count."""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.values.base import Inputs, Value
from pairvdn.values.encoders import Encoder
from pairvdn.values.graphs import FixedGraph, Pairs
from pairvdn.values.symmetric import SymmetricHead
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

    def between(self, first: Any, second: Any) -> Array:
        """The tables [e, a, a] of some pairs; not for learning, see `at`."""
        return self.payoffs[first, second]

    def strengths(self, mask: Bool[Array, "n a"]) -> Float[Array, "2 n n"]:
        """Two guesses at which pairs matter, from their allowed entries.

        The largest entry of each table, and the largest entry of its interaction: the table less
        its means over rows and columns.
        """
        allowed = mask[:, None, :, None] & mask[None, :, None, :]
        tables = jnp.where(allowed, self.payoffs, 0)
        count = jnp.maximum(mask.sum(axis=1, dtype=tables.dtype), 1)[:, None, None]
        rows = tables.sum(axis=2, keepdims=True) / count[:, None]
        columns = tables.sum(axis=3, keepdims=True) / count[None]
        guesses = jnp.stack([tables, tables - rows - columns])
        return jnp.where(allowed[None], guesses, -jnp.inf).max(axis=(3, 4))

    def gains(self, mask: Bool[Array, "n a"]) -> Float[Array, "n n"]:
        """What each pair gains from its table: its best value less those of the two alone."""
        own = jnp.where(mask, self.utilities, -jnp.inf)
        together = self.payoffs + own[:, None, :, None] + own[None, :, None, :]
        alone = own.max(axis=1)
        gain = together.max(axis=(2, 3)) - alone[:, None] - alone[None]
        return jnp.where(jnp.isnan(gain), -jnp.inf, gain)


class AllPairsValue(Value[AllPairs]):
    """Q(o, a) = Σ_i Q_i(h_i, a_i) + Σ Q_ij(h_i, h_j, a_i, a_j) over the pairs that a method counts.

    A method chooses the pairs (`counted`) from the entries for the actions, and maximises.
    """

    encoder: eqx.AbstractVar[Encoder[Any]]
    heads: eqx.AbstractVar[SymmetricHead]
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
        return self.evaluate_on(tables, actions, tables)

    def evaluate_on(
        self, tables: AllPairs, actions: Int32[Array, " n"], choosing: AllPairs
    ) -> Float[Array, " 1"]:
        """The value of the pairs that count according to other tables."""
        counted = self.counted(jax.lax.stop_gradient(choosing.at(actions)))
        pairs = jnp.where(counted, tables.at(actions), 0).sum()
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


def complete_graph(num_agents: int, *, exact: bool = True) -> FixedGraph:
    """Each pair once; a single agent has an edge with itself, whose table is 0 in `on_edges`."""
    return FixedGraph("complete" if num_agents > 1 else [[0, 0]], num_agents, exact=exact)


def on_edges(tables: AllPairs, graph: FixedGraph, factor: float = 1.0) -> Pairs:
    """The utilities, and the tables of the edges of this graph times a factor."""
    first, second = np.array(graph.known).T
    factors = factor * (first != second).astype(np.float32)
    between = tables.between(first, second)
    payoffs = jnp.where((factors != 0)[:, None, None], factors[:, None, None] * between, 0)
    return Pairs(graph.fixed_edges, payoffs, tables.utilities)


def off_diagonal(num_agents: int) -> Bool[Array, "n n"]:
    """Pairs of different agents."""
    return ~jnp.eye(num_agents, dtype=bool)


def upper(num_agents: int) -> Bool[Array, "n n"]:
    """Each pair of different agents once."""
    return jnp.triu(jnp.ones((num_agents, num_agents), bool), k=1)


def largest_in_row(scores: Float[Array, "n n"], count: int) -> Bool[Array, "n n"]:
    """The `count` largest scores of each row; of equal ones, those of smaller index."""
    index = jnp.arange(scores.shape[0])
    if count == 1:  # n² comparisons instead of n³
        return jnp.argmax(scores, axis=1)[:, None] == index[None]
    larger = scores[:, None, :] > scores[:, :, None]
    equal = (scores[:, None, :] == scores[:, :, None]) & (index[None, :] < index[:, None])[None]
    return (larger | equal).sum(axis=2, dtype=jnp.int32) < count


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
