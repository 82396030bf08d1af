"""SOP-CG: a tree or a matching, chosen together with the actions."""

from typing import Any, Literal, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn import maximise
from pairvdn.checks import require_one_of
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.all_pairs import (
    AllPairs,
    LinkedPairsValue,
    Links,
    allowed_only,
    decided,
    upper,
)
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.graphs import Maximiser
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.symmetric import SymmetricPairHead

CLASSES = ("tree", "matching")
ROUNDS = 2


class SopCg(LinkedPairsValue):
    """Q(o, a) = Σ_i Q_i(h_i, a_i) + max over graphs G of Σ_(i,j) in G Q_ij(h_i, h_j, a_i, a_j).

    Yang et al., arXiv 2112.03547. The maximum over actions is exact given the graph, and the best
    tree is exact given the actions; in turn, from three starts, they are approximate.

    Args:
        graphs: the class of graphs: spanning trees, or matchings, in which every agent has one
            partner.
    """

    encoder: Encoder[Any]
    heads: SymmetricPairHead
    graphs: str = eqx.field(static=True)

    def __init__(
        self,
        spec: EnvSpec,
        *,
        graphs: Literal["tree", "matching"] = "tree",
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        require_one_of(CLASSES, graphs=graphs)
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.heads = SymmetricPairHead(self.encoder, key=key, **heads)
        self.graphs = graphs

    @property
    def most_pairs(self) -> int:
        """The number of edges of the graph."""
        n = self.spec.num_agents
        return n - 1 if self.graphs == "tree" else n // 2

    def best_graph(self, weights: Float[Array, "n n"]) -> Int32[Array, " n"]:
        """The agent that each agent points to, or itself."""
        return spanning_tree(weights) if self.graphs == "tree" else matching(weights)

    def links(self, entries: Float[Array, "n n"]) -> Links:
        """The edges of the best graph, each once."""
        others = self.best_graph(entries)
        agents = jnp.arange(len(others), dtype=jnp.int32)
        count = others > agents if self.graphs == "matching" else others != agents
        return Links(others[:, None], count[:, None])

    def greedy(
        self, tables: AllPairs, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """The best joint action of graphs and maxima in turn, and its value."""
        clean = allowed_only(tables, mask)

        def solve(weights: Float[Array, "n n"]) -> tuple[Array, Array]:
            for _ in range(ROUNDS):
                best = self._given(self.best_graph(weights), clean, mask)
                actions = jnp.maximum(best.actions, 0)
                weights = clean.looked_up(actions)
            return actions, self.evaluate(clean, actions)

        # Strong pairs, and pairs that gain most with their utilities: of these matchings are made.
        starts = jnp.concatenate([clean.strengths(mask), clean.gains(mask)[None]])
        actions, values = jax.vmap(solve)(starts)
        best = jnp.argmax(values[:, 0])
        return decided(actions[best], values[best], tables, mask)

    def _given(
        self, links: Int32[Array, " n"], tables: AllPairs, mask: Bool[Array, "n a"]
    ) -> maximise.Maximum:
        """The exact maximum for this graph."""
        agents = jnp.arange(len(links), dtype=jnp.int32)
        payoffs = tables.between(agents, links)
        if self.graphs == "tree":
            return maximise.tree(payoffs, links, utilities=tables.utilities, mask=mask)
        once = jnp.where((agents < links)[:, None, None], payoffs, 0)
        return maximise.successor(once, links, utilities=tables.utilities, mask=mask)

    @property
    def maximiser(self) -> Maximiser:
        """Exact for one or two agents, which have no choice of graph."""
        name = f"{'tree' if self.graphs == 'tree' else 'successor'} of the best graphs, 3 starts"
        return Maximiser(name, exact=self.spec.num_agents <= 2)

    def bound(self, tables: AllPairs, mask: Bool[Array, "n a"]) -> Float[Array, ""]:
        """The best utilities, and as many of the best edges as the graph has, or fewer."""
        clean = allowed_only(tables, mask)
        own = jnp.where(mask, clean.utilities, -jnp.inf).max(axis=1)
        allowed = mask[:, None, :, None] & mask[None, :, None, :]
        edges = jnp.where(allowed, clean.payoffs, -jnp.inf).max(axis=(2, 3))
        best = jnp.sort(jnp.where(upper(len(own)), edges, -jnp.inf).reshape(-1))
        return own.sum() + best[best.shape[0] - self.most_pairs :].sum()


def spanning_tree(weights: Float[Array, "n n"]) -> Int32[Array, " n"]:
    """The parents of the maximum spanning tree with root 0 (Prim's algorithm)."""
    agents = jnp.arange(weights.shape[0], dtype=jnp.int32)

    def grow(
        _: Array, carry: tuple[Array, Array, Array]
    ) -> tuple[Bool[Array, " n"], Float[Array, " n"], Int32[Array, " n"]]:
        inside, strongest, parents = carry
        new = jnp.argmax(jnp.where(inside, -jnp.inf, strongest)).astype(jnp.int32)
        inside = inside | (agents == new)
        better = ~inside & (weights[new] > strongest)
        return inside, jnp.where(better, weights[new], strongest), jnp.where(better, new, parents)

    start = (agents == 0, weights[0], jnp.zeros_like(agents))
    parents: Array = jax.lax.fori_loop(1, weights.shape[0], grow, start)[2]
    return parents


def matching(weights: Float[Array, "n n"]) -> Int32[Array, " n"]:
    """The partner of each agent: the heaviest pair first, then the heaviest of the others.

    At least half of the weight of the best matching if no weight is negative. With an odd number
    one agent stays alone.
    """
    n = weights.shape[0]
    agents = jnp.arange(n, dtype=jnp.int32)

    def pair(_: Array, partners: Int32[Array, " n"]) -> Int32[Array, " n"]:
        free = partners == agents
        open_pairs = free[:, None] & free[None] & upper(n)
        best = jnp.argmax(jnp.where(open_pairs, weights, -jnp.inf)).astype(jnp.int32)
        first, second = best // n, best % n
        partners = jnp.where(agents == first, second, partners)
        return jnp.where(agents == second, first, partners)

    partners: Array = jax.lax.fori_loop(0, n // 2, pair, agents)
    return partners
