"""Values with a table for every pair, of which the actions decide the pairs that count."""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.maximise.partners import strengths
from pairvdn.values.base import Inputs, Value
from pairvdn.values.encoders import Encoder
from pairvdn.values.graphs import FixedGraph, Pairs
from pairvdn.values.symmetric import Hidden, SymmetricHead
from pairvdn.values.utilities import chosen


class AllPairs(eqx.Module):
    """Utilities, and a table for each ordered pair: payoffs[i, j, x, y] = payoffs[j, i, y, x].

    With the hidden layer of every agent the tables of few pairs can be computed again, which is
    cheaper to differentiate than all of them. Tables that are not used are not computed: the
    compiler drops them.
    """

    utilities: Float[Array, "n a"]
    payoffs: Float[Array, "n n a a"]
    hidden: Hidden | None = None

    def at(self, actions: Int32[Array, " n"]) -> Float[Array, "n n"]:
        """The entry of each pair for these actions.

        Selected by comparison: the gradient of a look-up would be a slow scatter.
        """
        own = actions[:, None] == jnp.arange(self.utilities.shape[1])[None]
        both = own[:, None, :, None] & own[None, :, None, :]
        return jnp.where(both, self.payoffs, 0).sum(axis=(2, 3))

    def looked_up(self, actions: Int32[Array, " n"]) -> Float[Array, "n n"]:
        """The same numbers, faster, but not for learning."""
        agents = jnp.arange(len(actions), dtype=jnp.int32)
        index = agents[:, None], agents[None], actions[:, None], actions[None]
        return jax.lax.stop_gradient(self.payoffs).at[index].get(mode="clip")

    def between(self, first: Any, second: Any) -> Array:
        """The tables [e, a, a] of some pairs; not for learning, see `at`."""
        return self.payoffs[first, second]

    def strengths(self, mask: Bool[Array, "n a"]) -> Float[Array, "2 n n"]:
        """See `maximise.partners.strengths`."""
        return strengths(self.payoffs, mask)

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
        return AllPairs(self.heads.utilities(hidden), self.heads.all_tables(hidden), hidden)

    def evaluate(self, tables: AllPairs, actions: Int32[Array, " n"]) -> Float[Array, " 1"]:
        """The utilities, and the entries of the pairs that count."""
        return self.evaluate_on(tables, actions, tables)

    def evaluate_on(
        self, tables: AllPairs, actions: Int32[Array, " n"], choosing: AllPairs
    ) -> Float[Array, " 1"]:
        """The value of the pairs that count according to other tables."""
        counted = self.counted(choosing.looked_up(actions))
        pairs = jnp.where(counted, tables.at(actions), 0).sum()
        return (pairs + chosen(tables.utilities, actions).sum())[None]

    def pairs(self, tables: AllPairs, actions: Int32[Array, " n"]) -> Pairs:
        """The pairs that count, filled up with tables of 0."""
        counted = self.counted(tables.looked_up(actions))
        size = self.most_pairs
        first, second = jnp.nonzero(counted, size=size, fill_value=0)
        real = jnp.arange(size) < counted.sum()
        payoffs = jnp.where(real[:, None, None], tables.between(first, second), 0)
        edges = jnp.stack([first, second], axis=1).astype(jnp.int32)
        return Pairs(edges, payoffs, tables.utilities)


class Links(eqx.Module):
    """A few others for each agent, of which some may not count."""

    others: Int32[Array, "n k"]
    count: Bool[Array, "n k"]

    def dense(self) -> Bool[Array, "n n"]:
        """Whether agent i counts agent j."""
        agents = jnp.arange(len(self.others), dtype=jnp.int32)
        points = self.others[:, :, None] == agents[None, None]
        return (points & self.count[:, :, None]).any(axis=1)


class LinkedPairsValue(AllPairsValue):
    """A value in which every agent counts a few pairs, so that only their tables are learned."""

    @abc.abstractmethod
    def links(self, entries: Float[Array, "n n"]) -> Links:
        """The agents with which each agent counts its entry."""

    def counted(self, entries: Float[Array, "n n"]) -> Bool[Array, "n n"]:
        """The pairs of each agent, in its row."""
        return self.links(entries).dense()

    def evaluate_on(
        self, tables: AllPairs, actions: Int32[Array, " n"], choosing: AllPairs
    ) -> Float[Array, " 1"]:
        """As for all pairs, but only the tables of those that count have a gradient."""
        if tables.hidden is None:
            return super().evaluate_on(tables, actions, choosing)
        links = self.links(choosing.looked_up(actions))
        entries = self.heads.entries(tables.hidden, links.others, actions)
        pairs = jnp.where(links.count, entries, 0).sum()
        return (pairs + chosen(tables.utilities, actions).sum())[None]


def complete_graph(num_agents: int, *, exact: bool = True) -> FixedGraph:
    """Each pair once; a single agent has an edge with itself, whose table is 0 in `on_edges`."""
    return FixedGraph("complete" if num_agents > 1 else [[0, 0]], num_agents, exact=exact)


def on_edges(tables: AllPairs, graph: FixedGraph) -> Pairs:
    """The utilities, and the tables of the edges of this graph."""
    first, second = np.array(graph.known).T
    between = tables.between(first, second)
    payoffs = jnp.where((first != second)[:, None, None], between, 0)
    return Pairs(graph.fixed_edges, payoffs, tables.utilities)


def off_diagonal(num_agents: int) -> Bool[Array, "n n"]:
    """Pairs of different agents."""
    return ~jnp.eye(num_agents, dtype=bool)


def upper(num_agents: int) -> Bool[Array, "n n"]:
    """Each pair of different agents once."""
    return jnp.triu(jnp.ones((num_agents, num_agents), bool), k=1)


def largest_in_row(scores: Float[Array, "n n"], count: int) -> Int32[Array, "n k"]:
    """Where the `count` largest scores of each row are; of equal ones, those of smaller index."""
    index = jnp.arange(scores.shape[1], dtype=jnp.int32)
    found = []
    for _ in range(count):
        largest = jnp.argmax(scores, axis=1).astype(jnp.int32)
        found.append(largest)
        scores = jnp.where(largest[:, None] == index[None], -jnp.inf, scores)
    return jnp.stack(found, axis=1)


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
