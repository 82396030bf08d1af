"""Deep coordination graphs: utilities and pair-wise payoffs on any fixed graph."""

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import equinox as eqx

from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.base import Inputs
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.graphs import FixedGraph, Pairs
from pairvdn.values.heads import PairHead
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.pairs import SumOverPairs


class Dcg(SumOverPairs):
    """Q(o, a) = 1/n Σ_i Q_i(h_i, a_i) + 1/e Σ_(i,j) Q_ij(h_i, h_j, a_i, a_j).

    Böhmer et al., arXiv 1910.00091. The maximum is exact where no component of the graph has more
    than one cycle; elsewhere it is the best joint action that max-plus finds.

    Args:
        graph: the graph by name (the star is centred on agent 0), or a list of edges.
        rank: rank of the payoff tables; none for full tables.
        exact: maximise exactly where the graph allows it, instead of by max-plus.
        iterations: rounds of max-plus.
        utilities: whether each agent also has a utility of its own.
        normalise: take means over agents and edges (the factors 1/n and 1/e) instead of sums.
    """

    encoder: Encoder[Any]
    heads: PairHead
    graph: FixedGraph
    normalise: bool = eqx.field(static=True)

    def __init__(
        self,
        spec: EnvSpec,
        *,
        graph: Literal["ring", "path", "star", "complete"] | Sequence[Sequence[int]] = "complete",
        rank: int | None = None,
        exact: bool = True,
        iterations: int = 8,
        utilities: bool = True,
        normalise: bool = True,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.graph = FixedGraph(graph, spec.num_agents, exact=exact, iterations=iterations)
        self.normalise = normalise
        self.heads = PairHead(
            self.encoder,
            num_pairs=self.graph.fixed_edges.shape[0],
            utilities=utilities,
            rank=rank,
            key=key,
            **heads,
        )

    def compute_tables(self, inputs: Inputs) -> Pairs:
        """The tables of all edges and the utilities, with their factors."""
        pairs = self.heads(self.graph, inputs)
        return pairs.mean() if self.normalise else pairs
