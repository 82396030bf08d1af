"""PairVDN in which every agent chooses its partner anew at every step."""

from typing import Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn import maximise
from pairvdn.types import PRNGKey
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.ordering import Ordering, below_or_beside, required
from pairvdn.values.pairs import PairNetwork, Pairs, PairwiseValue

PARTNERS = ("positions", "below", "spread")


class NearestPairVdn(PairwiseValue):
    """Q(o, a) = Σ_i Q_ij((o_i, o_j), (a_i, a_j)) with j = j(i) chosen now; appendix A.1.

    `partner` says how: "positions" takes the agent nearest to i; "below" the agent on which i
    stands, and for one on the ground the next on the ground to its right, see `below_or_beside`;
    "spread" the agent whose action matters most for the table,
    argmax_j max_(a_i) [max_(a_j) Q_ij - min_(a_j) Q_ij], which costs a pass over all pairs and has
    no gradient. Equal ones: the smaller index. An agent that is alone is its own partner.

    With `offset_scale` the network sees how far to the side and above j stands of i, as in
    `pairvdn-sorted`. Environments without positions give a ValueError unless partners are chosen
    by "spread".
    """

    network: PairNetwork
    partner: str = eqx.field(static=True)
    ordering: Ordering

    def __init__(
        self,
        *,
        num_agents: int,
        num_actions: int,
        observation_size: int,
        state_size: int,
        partner: str = "positions",
        utilities: bool = False,
        column_gap: float | None = None,
        offset_scale: float | None = None,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        if partner not in PARTNERS:
            known = ", ".join(map(repr, PARTNERS))
            raise ValueError(f"partner must be one of {known}, but is {partner!r}.")
        if partner == "below" and column_gap is None:
            raise ValueError("partner='below' needs column_gap, half the width of an agent say.")
        if partner != "below" and column_gap is not None:
            raise ValueError(f"column_gap is for partner='below', but partner is {partner!r}.")
        if partner == "spread" and offset_scale is not None:
            raise ValueError("partner='spread' chooses without positions: give no offset_scale.")
        self.partner = partner
        self.ordering = Ordering(column_gap, offset_scale)
        self.network = PairNetwork(
            num_agents=num_agents,
            num_actions=num_actions,
            observation_size=observation_size,
            num_pairs=num_agents,
            utilities=utilities,
            context_size=self.ordering.context_size(others=1),
            key=key,
            **network,
        )

    def tables(
        self,
        observation: Float[Array, "n o"],
        state: Float[Array, " s"],
        positions: Float[Array, "n k"] | None = None,
    ) -> Pairs:
        """The tables of every agent and its partner."""
        if self.partner == "spread":
            partners = widest_spread(self.network, observation)
        else:
            instead = "partner='spread' to choose partners by what was learned"
            positions = required(positions, "pairvdn-nearest", instead)
            partners = self._by_place(positions)
        everyone = jnp.arange(observation.shape[0], dtype=jnp.int32)
        edges = jnp.stack([everyone, partners], axis=1)
        return self.network(observation, edges, self.ordering.context(positions, edges))

    def _by_place(self, positions: Float[Array, "n k"]) -> Int32[Array, " n"]:
        if self.ordering.column_gap is not None:
            return below_or_beside(positions, self.ordering.column_gap)
        return nearest(positions)

    def greedy(
        self, tables: Pairs, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """The exact maximum over all allowed joint actions."""
        best = maximise.successor(
            tables.payoffs, tables.edges[:, 1], utilities=tables.utilities, mask=mask
        )
        return best.actions, best.value[None]


def nearest(positions: Float[Array, "n k"]) -> Int32[Array, " n"]:
    """For every agent the other agent at the smallest distance; of equal ones the smaller index."""
    squares = ((positions[:, None] - positions[None]) ** 2).sum(axis=-1)
    alone = jnp.eye(positions.shape[0], dtype=bool)
    return jnp.argmin(jnp.where(alone, jnp.inf, squares), axis=1).astype(jnp.int32)


def widest_spread(network: PairNetwork, observation: Float[Array, "n o"]) -> Int32[Array, " n"]:
    """For every agent the other agent whose action moves their table most."""
    everyone = jnp.arange(observation.shape[0], dtype=jnp.int32)

    def spread(partner: Int32[Array, ""]) -> Float[Array, " n"]:
        edges = jnp.stack([everyone, jnp.full_like(everyone, partner)], axis=1)
        payoffs = network.payoffs(observation, edges)
        return (payoffs.max(axis=2) - payoffs.min(axis=2)).max(axis=1)

    spreads = jax.lax.stop_gradient(jax.vmap(spread, out_axes=1)(everyone))
    alone = jnp.eye(observation.shape[0], dtype=bool)
    return jnp.argmax(jnp.where(alone, -jnp.inf, spreads), axis=1).astype(jnp.int32)
