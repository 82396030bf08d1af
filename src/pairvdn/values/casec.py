"""CASEC: all pairs are trained, and only those whose payoffs vary are maximised over."""

from typing import Any, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_at_least, require_within
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.all_pairs import (
    AllPairs,
    AllPairsValue,
    complete_graph,
    off_diagonal,
    on_edges,
    upper,
)
from pairvdn.values.base import Inputs
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.graphs import FixedGraph, Maximiser
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.symmetric import SymmetricPairHead


class Casec(AllPairsValue):
    """Q(o, a) = Σ_i Q_i + 2/(n-1) Σ_(i<j) Q_ij, maximised on few pairs; Q_ij = Q_i + Q_j + δ_ij.

    Wang et al., arXiv 2106.04404. The utilities in Q_ij have no gradient, so that Q is
    Σ_i 3 Q_i(h_i, a_i), with the gradient of Σ_i Q_i, and the sum of the tables of δ. A pair counts
    for the maximum if its variance over the other's actions, max_x Var_y δ_ij(x, y), is among the
    largest; the loss has a term that makes variances small.

    Args:
        kept: share of the pairs that count for the maximum.
        variance_weight: weight of the mean variance in the loss.
        exact: maximise exactly over these pairs where their number allows it, instead of by
            max-plus.
        normalise: divide by the number of agents (the original); without it the network computes
            2/(n-1) δ_ij, so that tables are of the size of the rewards.
    """

    encoder: Encoder[Any]
    heads: SymmetricPairHead
    graph: FixedGraph
    kept: float = eqx.field(static=True)
    variance_weight: float = eqx.field(static=True)
    normalise: bool = eqx.field(static=True)

    def __init__(
        self,
        spec: EnvSpec,
        *,
        kept: float = 0.4,
        variance_weight: float = 1e-4,
        exact: bool = True,
        normalise: bool = False,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        require_within(0, 1, kept=kept)
        require_at_least(0, variance_weight=variance_weight)
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.heads = SymmetricPairHead(self.encoder, key=key, **heads)
        self.graph = complete_graph(spec.num_agents, exact=exact)
        self.kept, self.variance_weight, self.normalise = kept, variance_weight, normalise

    def compute_tables(self, inputs: Inputs) -> AllPairs:
        """The utilities with those of the pairs, and the tables of all δ."""
        hidden = self.heads.hidden(inputs)
        utilities, payoffs = self.heads.utilities(hidden), self.heads.all_tables(hidden)
        n = utilities.shape[0]
        if n > 1:
            utilities = utilities + 2 * jax.lax.stop_gradient(utilities)
        if self.normalise:
            return AllPairs(utilities / n, payoffs * self._share / n)
        return AllPairs(utilities, payoffs)

    @property
    def _share(self) -> float:
        """2/(n-1): the weight of a pair beside that of an agent."""
        return 2 / max(1, self.spec.num_agents - 1)

    def penalty(self, tables: AllPairs) -> Float[Array, ""]:
        """The mean over pairs and actions x of Var_y δ_ij(x, y), weighted."""
        n = self.spec.num_agents
        scale = n / self._share if self.normalise else 1 / self._share
        variances = (scale * tables.payoffs).var(axis=3).mean(axis=2)
        pairs = jnp.where(off_diagonal(n), variances, 0).sum() / max(1, n * (n - 1))
        return self.variance_weight * pairs

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
        pairs = on_edges(tables, self.graph)
        first, second = np.array(self.graph.known).T
        variances = jax.vmap(variance)(pairs.payoffs, mask[first], mask[second])
        keep = max(1, round(self.kept * len(first)))
        smallest = jnp.sort(variances)[len(first) - keep]
        best = self.graph.maximum(pairs.scaled((variances >= smallest).astype(jnp.float32)), mask)
        value = self.evaluate(tables, jnp.maximum(best.actions, 0))
        decided = best.actions[0] >= 0
        return best.actions, jnp.where(decided, value, best.value)

    @property
    def maximiser(self) -> Maximiser:
        """Never exact if pairs are left out."""
        found = self.graph.maximiser(self.spec.num_actions)
        return Maximiser(
            f"{found.name}, on pairs of large variance", found.exact and self.kept == 1
        )

    def bound(self, tables: AllPairs, mask: Bool[Array, "n a"]) -> Float[Array, ""]:
        """The bound of the maximum over all pairs."""
        return self.graph.maximum(on_edges(tables, self.graph), mask).bound


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
