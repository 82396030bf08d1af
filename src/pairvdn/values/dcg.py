"""Deep coordination graphs: utilities and pair-wise payoffs on any fixed graph."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Unpack

import equinox as eqx
import numpy as np

from pairvdn.checks import require_one_of
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.base import Inputs
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.graphs import FixedGraph, Pairs
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.pairs import SumOverPairs
from pairvdn.values.symmetric import LinearPairHead, SymmetricHead, SymmetricPairHead

HEADS: dict[str, Callable[..., SymmetricHead]] = {
    "products": SymmetricPairHead,
    "original": LinearPairHead,
}


class Dcg(SumOverPairs):
    """Q(o, a) = Σ_i Q_i(h_i, a_i) + Σ_(i,j) Q_ij(h_i, h_j, a_i, a_j) over the edges of a graph.

    Böhmer et al., arXiv 1910.00091. Tables are symmetric, Q_ij(x, y) = Q_ji(y, x). The maximum is
    exact where no component of the graph has more than one cycle or the graph is narrow; elsewhere
    it is the best joint action that max-plus and coordinate ascent find.

    Args:
        graph: the graph by name (the star is centred on agent 0), or a list of edges.
        rank: rank of the payoff tables before they are made symmetric; none for full tables.
        head: how tables are computed: a hidden layer with the `products` of both agents' units, or
            the `original`, linear in the last hidden layers of both agents.
        exact: maximise exactly where the graph allows it, instead of by max-plus.
        iterations: rounds of max-plus.
        utilities: whether each agent also has a utility of its own.
        normalise: take means over agents and edges (factors 1/n and 1/e, the original) instead of
            sums.
    """

    encoder: Encoder[Any]
    heads: SymmetricHead
    graph: FixedGraph
    has_utilities: bool = eqx.field(static=True)
    normalise: bool = eqx.field(static=True)

    def __init__(
        self,
        spec: EnvSpec,
        *,
        graph: Literal["ring", "path", "star", "complete"] | Sequence[Sequence[int]] = "complete",
        rank: int | None = None,
        head: Literal["products", "original"] = "products",
        exact: bool = True,
        iterations: int = 8,
        utilities: bool = True,
        normalise: bool = False,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.graph = FixedGraph(graph, spec.num_agents, exact=exact, iterations=iterations)
        self.has_utilities, self.normalise = utilities, normalise
        require_one_of(HEADS, head=head)
        self.heads = HEADS[head](self.encoder, rank=rank, key=key, **heads)

    def compute_tables(self, inputs: Inputs) -> Pairs:
        """The tables of all edges and the utilities."""
        hidden = self.heads.hidden(inputs)
        pairs = Pairs(
            edges=self.graph.fixed_edges,
            payoffs=self.heads.tables(hidden, np.array(self.graph.known, np.int32)),
            utilities=self.heads.utilities(hidden) if self.has_utilities else None,
        )
        return pairs.mean() if self.normalise else pairs
