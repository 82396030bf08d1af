"""A joint value that is a sum over pairs: the common base of pair-wise methods."""

from typing import Any, Protocol, runtime_checkable

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int32

from pairvdn import maximise
from pairvdn.values.base import Value
from pairvdn.values.graphs import Graph, Maximiser, Pairs


@runtime_checkable
class HasPairs(Protocol):
    """A value whose sum over pairs can be inspected."""

    def pairs(self, tables: Any, actions: Int32[Array, " n"]) -> Pairs:
        """The pairs that count for these actions: their sum is the value that `evaluate` gives."""
        ...


@runtime_checkable
class HasMaximiser(Protocol):
    """A value that maximises over all agents at once, exactly or with an upper bound."""

    @property
    def maximiser(self) -> Maximiser:
        """How `greedy` finds the best joint action."""
        ...

    def bound(self, tables: Any, mask: Bool[Array, "n a"]) -> Float[Array, ""]:
        """A number that no allowed joint action exceeds."""
        ...


class SumOverPairs(Value[Pairs]):
    """A joint value that is the sum over the pairs of its `graph`, which also maximises it.

    A method adds its encoder, and the heads that compute the tables:

        def compute_tables(self, inputs):
            return self.heads(self.graph, inputs)
    """

    graph: eqx.AbstractVar[Graph]
    num_heads = 1

    def evaluate(self, tables: Pairs, actions: Int32[Array, " n"]) -> Float[Array, " 1"]:
        """Σ_e payoffs[e, a_i, a_j] + Σ_i utilities[i, a_i]."""
        value = maximise.evaluate(tables.payoffs, tables.edges, actions, utilities=tables.utilities)
        return value[None]

    def greedy(
        self, tables: Pairs, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """The maximum over the graph."""
        best = self.graph.maximum(tables, mask)
        return best.actions, best.value[None]

    def pairs(self, tables: Pairs, actions: Int32[Array, " n"]) -> Pairs:
        """The same pairs for all actions."""
        return tables

    @property
    def maximiser(self) -> Maximiser:
        """That of the graph."""
        return self.graph.maximiser(self.spec.num_actions)

    def bound(self, tables: Pairs, mask: Bool[Array, "n a"]) -> Float[Array, ""]:
        """The maximum itself where it is exact."""
        return self.graph.maximum(tables, mask).bound
