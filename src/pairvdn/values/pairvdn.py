"""PairVDN: the joint value is a sum over pairs of agents, on a ring or with chosen partners."""

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import jax

from pairvdn.checks import require_one_of
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.base import Inputs
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.graphs import (
    Below,
    FixedRing,
    Nearest,
    Pairs,
    PartnerGraph,
    SortedRing,
    WidestSpread,
)
from pairvdn.values.heads import PairHead
from pairvdn.values.layout import require_locatable
from pairvdn.values.networks import Mlp, NetworkArguments, bounded
from pairvdn.values.pairs import SumOverPairs

PARTNERS = ("positions", "below", "spread")


class PairHeadsOnGraph(SumOverPairs):
    """A pair-wise value whose tables are those of its heads on its graph."""

    encoder: Encoder[Any]
    heads: PairHead

    def compute_tables(self, inputs: Inputs) -> Pairs:
        """The tables of all pairs of the graph."""
        return self.heads(self.graph, inputs)


class PairVdn(PairHeadsOnGraph):
    """Q(o, a) = Σ_k Q_ij(h_i, h_j, a_i, a_j), i and j the k-th and next agent on a ring; eq. 2.

    Args:
        order: order of the agents on the ring: by index, drawn at random once, or a list that
            names every agent once.
        utilities: whether each agent also has a utility of its own.
    """

    graph: FixedRing

    def __init__(
        self,
        spec: EnvSpec,
        *,
        order: Literal["index", "random"] | Sequence[int] = "index",
        utilities: bool = False,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        head_key, order_key = jax.random.split(key)
        self.graph = FixedRing(order, spec.num_agents, key=order_key)
        self.heads = PairHead(self.encoder, utilities=utilities, key=head_key, **heads)


class SortedPairVdn(PairHeadsOnGraph):
    """PairVDN on a ring through the agents from left to right, sorted anew at every step.

    The agents are sorted by their first coordinate (ties by index), so that neighbours in space are
    partners; the rightmost agent is the partner of the leftmost. With separate parameters the k-th
    network belongs to the k-th agent from the left.

    Args:
        utilities: whether each agent also has a utility of its own.
        column_gap: agents closer than this from left to right form a column and are ordered from
            bottom to top; without it they are ordered from left to right only.
        offset_scale: show the network how far the partner is to the side and above, as
            tanh(distance / offset_scale); without it the network sees features only.
    """

    graph: SortedRing

    def __init__(
        self,
        spec: EnvSpec,
        *,
        utilities: bool = False,
        column_gap: float | None = None,
        offset_scale: float | None = None,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        require_locatable(spec, "pairvdn-sorted", instead="'pairvdn', whose ring has a fixed order")
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.graph = SortedRing(column_gap)
        self.heads = PairHead(
            self.encoder, utilities=utilities, offset_scale=offset_scale, key=key, **heads
        )


class NearestPairVdn(PairHeadsOnGraph):
    """Q(o, a) = Σ_i Q_ij(h_i, h_j, a_i, a_j), j the current partner of i; appendix A.1.

    Args:
        partner: how an agent chooses its partner: the nearest by `positions`; the agent `below` it,
            or the foot of the next column; or the agent whose action makes the widest `spread` in
            their table, which costs a pass over all pairs and needs no positions.
        utilities: whether each agent also has a utility of its own.
        column_gap: for partner `below`: agents closer than this from left to right form a column.
        offset_scale: show the network how far the partner is to the side and above, as
            tanh(distance / offset_scale); without it the network sees features only.
    """

    graph: PartnerGraph

    def __init__(
        self,
        spec: EnvSpec,
        *,
        partner: Literal["positions", "below", "spread"] = "positions",
        utilities: bool = False,
        column_gap: float | None = None,
        offset_scale: float | None = None,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        self.graph = partner_graph(partner, column_gap)
        if partner == "spread":
            if offset_scale is not None:
                raise ValueError("partner='spread' does not use positions: omit offset_scale.")
        else:
            instead = "partner='spread' to choose partners by their tables"
            require_locatable(spec, "pairvdn-nearest", instead=instead)
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.heads = PairHead(
            self.encoder, utilities=utilities, offset_scale=offset_scale, key=key, **heads
        )


def partner_graph(partner: str, column_gap: float | None) -> PartnerGraph:
    """The graph of `NearestPairVdn` for these arguments."""
    require_one_of(PARTNERS, partner=partner)
    if partner == "below":
        if column_gap is None:
            raise ValueError(
                "partner='below' needs column_gap, for example half the width of an agent."
            )
        return Below(column_gap)
    if column_gap is not None:
        raise ValueError(f"column_gap is for partner='below', but partner is {partner!r}.")
    return Nearest() if partner == "positions" else WidestSpread()


class WeightedPairVdn(SumOverPairs):
    """Q(o, s, a) = Σ_k w_k(s) Q_ij(h_i, h_j, a_i, a_j) on the ring of PairVDN; appendix A.1.

    The weights w(s) = 1 + f(s) may be negative: the maximum does not need monotonicity. The last
    layer of the network f starts at 0, so learning starts from PairVDN. Utilities have no weight.

    Args:
        order: order of the agents on the ring: by index, drawn at random once, or a list that
            names every agent once.
        utilities: whether each agent also has a utility of its own.
        weight_size: width of the hidden layer of the network that computes the weights.
    """

    encoder: Encoder[Any]
    heads: PairHead
    graph: FixedRing
    weights: Mlp

    def __init__(
        self,
        spec: EnvSpec,
        *,
        order: Literal["index", "random"] | Sequence[int] = "index",
        utilities: bool = False,
        weight_size: int = 64,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        ring_key, weight_key = jax.random.split(key)
        ring = PairVdn(spec, order=order, utilities=utilities, key=ring_key, **network)
        self.encoder, self.heads, self.graph = ring.encoder, ring.heads, ring.graph
        self.weights = Mlp(
            spec.state_size,
            spec.num_agents,
            hidden_sizes=(weight_size,),
            final_scale=0.0,
            key=weight_key,
        )

    def compute_tables(self, inputs: Inputs) -> Pairs:
        """The tables of the ring, each times its weight."""
        weights = 1.0 + self.weights(bounded(inputs.state)[None])[0]
        return self.heads(self.graph, inputs).scaled(weights)
