"""CASEC: all pairs are trained, and only those whose payoffs vary are maximised over."""

from typing import Any, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_within
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.all_pairs import AllPairs, AllPairsValue, upper
from pairvdn.values.base import Inputs
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.graphs import FixedGraph, Maximiser, Pairs
from pairvdn.values.heads import SymmetricPairHead
from pairvdn.values.networks import NetworkArguments


class Casec(AllPairsValue):
    """Q(o, a) = Σ_i Q_i(h_i, a_i) + Σ_(i<j) Q_ij(h_i, h_j, a_i, a_j), maximised on few pairs.

    Wang et al., arXiv 2106.04404. Q_ij(x, y) = Q_i(x) + Q_j(y) + δ_ij(x, y), without gradient to
    the utilities. A pair counts for the maximum if the variance of its table over the other's
    actions, max_x Var_y Q_ij(x, y), is among the largest.

    Args:
        kept: share of the pairs that count for the maximum.
        exact: maximise exactly over these pairs where their number allows it, instead of by
            max-plus.
        normalise: take means over agents and pairs (the original) instead of sums.
    """

    encoder: Encoder[Any]
    heads: SymmetricPairHead
    graph: FixedGraph
    kept: float = eqx.field(static=True)
    normalise: bool = eqx.field(static=True)

    def __init__(
        self,
        spec: EnvSpec,
        *,
        kept: float = 0.4,
        exact: bool = True,
        normalise: bool = False,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        require_within(0, 1, kept=kept)
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.heads = SymmetricPairHead(self.encoder, key=key, **heads)
        alone = [[0, 0]]  # a single agent has no pairs; this edge has a table of 0
        graph = "complete" if spec.num_agents > 1 else alone
        self.graph = FixedGraph(graph, spec.num_agents, exact=exact)
        self.kept, self.normalise = kept, normalise

    def compute_tables(self, inputs: Inputs) -> AllPairs:
        """The utilities, and the tables of all pairs."""
        hidden = self.heads.hidden(inputs)
        utilities, payoffs = self.heads.utilities(hidden), self.heads.all_tables(hidden)
        fixed = jax.lax.stop_gradient(utilities)
        payoffs = payoffs + fixed[:, None, :, None] + fixed[None, :, None, :]
        n = utilities.shape[0]
        if self.normalise:
            return AllPairs(utilities / n, payoffs / max(1, n * (n - 1) // 2))
        return AllPairs(utilities, payoffs)

    @property
    def most_pairs(self) -> int:
        """All pairs, each once."""
        n = self.spec.num_agents
        return n * (n - 1) // 2

    def counted(self, entries: Float[Array, "n n"]) -> Bool[Array, "n n"]:
        """All pairs, each once."""
        return upper(entries.shape[0])

    def greedy(
        self, tables: AllPairs, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """The maximum over the pairs with the largest variances; its value counts all pairs."""
        pairs = self._all(tables)
        first, second = np.array(self.graph.known).T
        variances = jax.vmap(variance)(pairs.payoffs, mask[first], mask[second])
        keep = max(1, round(self.kept * len(first)))
        smallest = jnp.sort(variances)[len(first) - keep]
        best = self.graph.maximum(pairs.scaled((variances >= smallest).astype(jnp.float32)), mask)
        value = self.evaluate(tables, jnp.maximum(best.actions, 0))
        decided = best.actions[0] >= 0
        return best.actions, jnp.where(decided, value, best.value)

    def _all(self, tables: AllPairs) -> Pairs:
        first, second = np.array(self.graph.known).T
        payoffs = jnp.where((first != second)[:, None, None], tables.payoffs[first, second], 0)
        return Pairs(self.graph.fixed_edges, payoffs, tables.utilities)

    @property
    def maximiser(self) -> Maximiser:
        """Never exact if pairs are left out."""
        found = self.graph.maximiser(self.spec.num_actions)
        return Maximiser(
            f"{found.name}, on pairs of large variance", found.exact and self.kept == 1
        )

    def bound(self, tables: AllPairs, mask: Bool[Array, "n a"]) -> Float[Array, ""]:
        """The bound of the maximum over all pairs."""
        return self.graph.maximum(self._all(tables), mask).bound


def variance(
    table: Float[Array, "a a"], rows: Bool[Array, " a"], columns: Bool[Array, " a"]
) -> Float[Array, ""]:
    """The largest variance of an allowed row or column over the other agent's allowed actions."""

    def of_rows(table: Float[Array, "a a"], rows: Array, columns: Array) -> Float[Array, ""]:
        count = jnp.maximum(columns.sum(), 1).astype(table.dtype)
        mean = jnp.where(columns[None], table, 0).sum(axis=1, keepdims=True) / count
        squares = jnp.where(columns[None], (table - mean) ** 2, 0).sum(axis=1) / count
        return jnp.where(rows, squares, 0).max()

    return jnp.maximum(of_rows(table, rows, columns), of_rows(table.T, columns, rows))
