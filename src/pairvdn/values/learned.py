"""PairVDN with partners that nobody gives: each agent counts those that matter for its actions."""

from typing import Any, Literal, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_at_least, require_one_of
from pairvdn.maximise.partners import best_partners
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.all_pairs import (
    AllPairs,
    AllPairsValue,
    LinkedPairsValue,
    Links,
    allowed_only,
    complete_graph,
    decided,
    largest_in_row,
    off_diagonal,
    on_edges,
)
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.graphs import FixedGraph, Maximiser
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.symmetric import SymmetricPairHead

COUNTED = ("best", "friends-and-foes")


class LearnedPairVdn(LinkedPairsValue):
    """Q(o, a) = Σ_i Q_i(h_i, a_i) + Σ_i max_j Q_ij(h_i, h_j, a_i, a_j), j any other agent.

    A self-organised graph: no positions and no fixed edges. Tables are symmetric. The choice of
    partners is part of the value and has no gradient of its own. Greedy actions are approximate:
    partners and exact maxima of their successor graph in turn, from two starts, then coordinate
    ascent. If all pairs count they are those of `dcg` on the complete graph.

    Args:
        counted: the partners that an agent counts: those with its `best` entries, or its best
            friends and worst foes, Σ max(0, largest) + Σ min(0, smallest).
        partners: number of partners, or of friends and of foes; with n - 1 all pairs count.
    """

    encoder: Encoder[Any]
    heads: SymmetricPairHead
    foes: bool = eqx.field(static=True)
    partners: int = eqx.field(static=True)
    complete: FixedGraph | None  # if all pairs count

    def __init__(
        self,
        spec: EnvSpec,
        *,
        counted: Literal["best", "friends-and-foes"] = "best",
        partners: int = 1,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        require_one_of(COUNTED, counted=counted)
        require_at_least(1, partners=partners)
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.heads = SymmetricPairHead(self.encoder, key=key, **heads)
        self.foes, self.partners = counted == "friends-and-foes", partners
        n = spec.num_agents
        self.complete = complete_graph(n) if partners >= n - 1 else None

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

    def counted(self, entries: Float[Array, "n n"]) -> Bool[Array, "n n"]:
        """The partners of each agent, in its row."""
        if self.complete is not None:
            return off_diagonal(entries.shape[0])
        return super().counted(entries)

    def evaluate_on(
        self, tables: AllPairs, actions: Int32[Array, " n"], choosing: AllPairs
    ) -> Float[Array, " 1"]:
        """The sum over the partners; if all count, that over all pairs."""
        if self.complete is None:
            return super().evaluate_on(tables, actions, choosing)
        return AllPairsValue.evaluate_on(self, tables, actions, choosing)

    def greedy(
        self, tables: AllPairs, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """The best joint action that the search finds, and its value."""
        if self.complete is not None:
            best = self.complete.maximum(on_edges(tables, self.complete, 2.0), mask)
            return best.actions, best.value[None]
        clean = allowed_only(tables, mask)
        others = off_diagonal(mask.shape[0])
        strengths = jnp.where(others[None], clean.strengths(mask), -jnp.inf)
        actions = best_partners(
            clean.payoffs,
            clean.utilities,
            mask,
            jnp.argmax(strengths, axis=2).astype(jnp.int32),
            partners=self.partners,
            foes=self.foes,
        )
        return decided(actions, self.evaluate(clean, actions), tables, mask)

    @property
    def maximiser(self) -> Maximiser:
        """A search for partners, unless all pairs count."""
        if self.complete is not None:
            return self.complete.maximiser(self.spec.num_actions)
        name = "successor graphs of the best partners, 2 starts and 2 sweeps"
        return Maximiser(name, exact=False)

    def bound(self, tables: AllPairs, mask: Bool[Array, "n a"]) -> Float[Array, ""]:
        """Every agent with the partners' best replies to its action, as if these could differ."""
        if self.complete is not None:
            return self.complete.maximum(on_edges(tables, self.complete, 2.0), mask).bound
        clean = allowed_only(tables, mask)
        replies = jnp.where(mask[None, :, None], clean.payoffs, -jnp.inf).max(axis=3)

        def counted(entries: Float[Array, "n n"]) -> Float[Array, " n"]:
            return jnp.where(self.counted(entries), entries, 0).sum(axis=1)

        sums = jax.vmap(counted, in_axes=2, out_axes=1)(replies)
        return jnp.where(mask, clean.utilities + sums, -jnp.inf).max(axis=1).sum()
