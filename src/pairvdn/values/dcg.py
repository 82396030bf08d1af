"""Deep coordination graphs: utilities and pair-wise payoffs on any graph."""

from collections.abc import Sequence
from typing import Unpack

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn import maximise
from pairvdn.types import PRNGKey
from pairvdn.values.graphs import Orientation, graph_edges, orient
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.pairs import PairNetwork, Pairs, PairwiseValue


class Dcg(PairwiseValue):
    """Q(o, a) = 1/n Σ_i Q_i(o_i, a_i) + 1/e Σ_(i,j) Q_ij((o_i, o_j), (a_i, a_j)).

    Böhmer et al., arXiv 1910.00091. `graph` is "ring", "path", "star" (around agent 0),
    "complete" or a list of edges; `rank` makes the payoffs low-rank, `normalise=False`
    leaves out the factors 1/n and 1/e. Maximised exactly where no component of the graph has more
    than one cycle, unless `exact=False`; otherwise by `iterations` of max-plus.
    """

    network: PairNetwork
    edges: Int32[Array, "e 2"]
    orientation: Orientation | None
    iterations: int = eqx.field(static=True)
    normalise: bool = eqx.field(static=True)

    def __init__(
        self,
        *,
        num_agents: int,
        num_actions: int,
        observation_size: int,
        state_size: int,
        graph: str | Sequence[Sequence[int]] = "complete",
        rank: int | None = None,
        exact: bool = True,
        iterations: int = 8,
        utilities: bool = True,
        normalise: bool = True,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        if iterations < 1:
            raise ValueError(f"iterations must be at least 1, but is {iterations}.")
        edges = graph_edges(graph, num_agents)
        self.edges = jnp.asarray(edges)
        self.orientation = orient(edges, num_agents) if exact else None
        self.iterations, self.normalise = iterations, normalise
        self.network = PairNetwork(
            num_agents=num_agents,
            num_actions=num_actions,
            observation_size=observation_size,
            num_pairs=len(edges),
            utilities=utilities,
            rank=rank,
            key=key,
            **network,
        )

    def tables(
        self,
        observation: Float[Array, "n o"],
        state: Float[Array, " s"],
        positions: Float[Array, "n k"] | None = None,
    ) -> Pairs:
        """The tables of all edges and the utilities, with their factors."""
        pairs = self.network(observation, self.edges)
        if not self.normalise:
            return pairs
        return Pairs(
            edges=pairs.edges,
            payoffs=pairs.payoffs / pairs.payoffs.shape[0],
            utilities=None if pairs.utilities is None else pairs.utilities / observation.shape[0],
        )

    def greedy(
        self, tables: Pairs, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """The maximum where it is exact, else the best joint action that max-plus came across."""
        if self.orientation is not None:
            best = maximise.successor(
                self.orientation.tables(tables.payoffs),
                self.orientation.successors,
                utilities=tables.utilities,
                mask=mask,
            )
        else:
            best = maximise.max_plus(
                tables.payoffs,
                tables.edges,
                iterations=self.iterations,
                utilities=tables.utilities,
                mask=mask,
            )
        return best.actions, best.value[None]
