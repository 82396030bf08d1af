"""PairVDN with partners that nobody gives: each agent counts those that matter for its actions."""

from typing import Any, Literal, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_at_least, require_one_of
from pairvdn.maximise.partners import best_partners
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.all_pairs import (
    AllPairs,
    LinkedPairsValue,
    Links,
    allowed_only,
    complete_graph,
    decided,
    largest_in_row,
    off_diagonal,
)
from pairvdn.values.base import Inputs
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.graphs import FixedGraph, Maximiser, Pairs
from pairvdn.values.layout import require_locatable
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.pairs import SumOverPairs
from pairvdn.values.symmetric import SymmetricPairHead

COUNTED = ("best", "friends-and-foes")


def learned_pair_vdn(
    spec: EnvSpec,
    *,
    counted: Literal["best", "friends-and-foes"] = "best",
    partners: int = 1,
    products: bool = True,
    offset_scale: float | None = None,
    key: PRNGKey,
    **network: Unpack[NetworkArguments],
) -> "LearnedPairVdn | AllPartners":
    """Q(o, a) = Σ_i Q_i(h_i, a_i) + Σ_i max_j Q_ij(h_i, h_j, a_i, a_j), j any other agent.

    Args:
        spec: sizes of the environment.
        counted: the partners that an agent counts: those with its `best` entries, or its best
            friends and worst foes, Σ max(0, largest) + Σ min(0, smallest).
        partners: number of partners, or of friends and of foes; with n - 1 all pairs count.
        products: whether tables see products of the units of both agents, which single out pairs,
            besides sums, which compare them.
        offset_scale: show the tables how far the other agent is to the side and above, as
            tanh(distance / offset_scale); without it they see features only.
        key: for the parameters.
        network: the arguments of all networks.
    """
    require_one_of(COUNTED, counted=counted)
    require_at_least(1, partners=partners)
    encoder, key, arguments = make_encoder(spec, key=key, **network)
    if offset_scale is not None:
        require_locatable(spec, "offset_scale", instead="no offset_scale")
    heads = SymmetricPairHead(
        encoder, products=products, offset_scale=offset_scale, key=key, **arguments
    )
    if partners >= spec.num_agents - 1:
        return AllPartners(encoder, heads)
    return LearnedPairVdn(encoder, heads, partners, foes=counted == "friends-and-foes")


class AllPartners(SumOverPairs):
    """Q(o, a) = Σ_i Q_i(h_i, a_i) + Σ_i Σ_(j ≠ i) Q_ij(h_i, h_j, a_i, a_j): all others count.

    The sum of `dcg` over the complete graph, with every pair counted by both of its agents.
    """

    encoder: Encoder[Any]
    heads: SymmetricPairHead
    graph: FixedGraph

    def __init__(self, encoder: Encoder[Any], heads: SymmetricPairHead) -> None:
        self.encoder, self.heads = encoder, heads
        self.graph = complete_graph(encoder.spec.num_agents)

    def compute_tables(self, inputs: Inputs) -> Pairs:
        """Each pair once; its table counts twice, or not at all for a single agent's own edge."""
        hidden = self.heads.hidden(inputs)
        edges = np.array(self.graph.known, np.int32)
        factors = 2.0 * (edges[:, 0] != edges[:, 1]).astype(np.float32)
        tables = self.heads.tables(hidden, edges)
        pairs = Pairs(self.graph.fixed_edges, tables, self.heads.utilities(hidden))
        return pairs.scaled(jnp.asarray(factors))


class LearnedPairVdn(LinkedPairsValue):
    """Q(o, a) = Σ_i Q_i(h_i, a_i) + Σ_i max_j Q_ij(h_i, h_j, a_i, a_j), j any other agent.

    A self-organised graph: no positions and no fixed edges. Tables are symmetric. The choice of
    partners is part of the value and has no gradient of its own. Greedy actions are approximate:
    partners and exact maxima of their successor graph in turn, from two starts, then coordinate
    ascent.
    """

    encoder: Encoder[Any]
    heads: SymmetricPairHead
    partners: int = eqx.field(static=True)
    foes: bool = eqx.field(static=True)

    def __init__(
        self, encoder: Encoder[Any], heads: SymmetricPairHead, partners: int, *, foes: bool
    ) -> None:
        self.encoder, self.heads, self.partners, self.foes = encoder, heads, partners, foes

    @property
    def most_pairs(self) -> int:
        """The partners of every agent."""
        n = self.spec.num_agents
        return n * min(self.partners * (2 if self.foes else 1), n - 1)

    def links(self, entries: Float[Array, "n n"]) -> Links:
        """The partners of each agent; friends count if positive, foes if negative."""
        others = off_diagonal(entries.shape[0])
        friends = largest_in_row(jnp.where(others, entries, -jnp.inf), self.partners)
        if not self.foes:
            return Links(friends, jnp.ones_like(friends, bool))
        foes = largest_in_row(jnp.where(others, -entries, -jnp.inf), self.partners)
        good, bad = (jnp.take_along_axis(entries, x, axis=1) for x in (friends, foes))
        return Links(
            jnp.concatenate([friends, foes], axis=1), jnp.concatenate([good > 0, bad < 0], axis=1)
        )

    def greedy(
        self, tables: AllPairs, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """The best joint action that the search finds, and its value."""
        clean = allowed_only(tables, mask)
        actions = best_partners(
            clean.payoffs, clean.utilities, mask, partners=self.partners, foes=self.foes
        )
        return decided(actions, self.evaluate(clean, actions), tables, mask)

    @property
    def maximiser(self) -> Maximiser:
        """A search for partners."""
        name = "successor graphs of the best partners, 2 starts and 2 sweeps"
        return Maximiser(name, exact=False)

    def bound(self, tables: AllPairs, mask: Bool[Array, "n a"]) -> Float[Array, ""]:
        """Every agent with the partners' best replies to its action, as if these could differ."""
        clean = allowed_only(tables, mask)
        replies = jnp.where(mask[None, :, None], clean.payoffs, -jnp.inf).max(axis=3)

        def counted(entries: Float[Array, "n n"]) -> Float[Array, " n"]:
            return jnp.where(self.counted(entries), entries, 0).sum(axis=1)

        sums = jax.vmap(counted, in_axes=2, out_axes=1)(replies)
        return jnp.where(mask, clean.utilities + sums, -jnp.inf).max(axis=1).sum()
