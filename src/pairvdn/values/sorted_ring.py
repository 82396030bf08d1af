"""PairVDN on a ring through the agents as they stand now, from left to right."""

from typing import Unpack

from jaxtyping import Array, Float

from pairvdn.types import PRNGKey
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.ordering import Ordering, required
from pairvdn.values.pairs import PairNetwork, Pairs, RingValue, ring_through


class SortedPairVdn(RingValue):
    """Q(o, a) = Σ_k Q_ij((o_i, o_j), (a_i, a_j)), i and j the k-th and next agent from the left.

    The agents are sorted by their first coordinate at every step (equal ones by index), so that
    physical neighbours are partners; the rightmost agent is the partner of the leftmost. With
    separate parameters the k-th network belongs to the k-th place from the left.

    With `column_gap` agents that stand on each other are taken from bottom to top, column by
    column. With `offset_scale` the network sees how far to the side and above j stands of i, as
    tanh(distance / `offset_scale`).
    """

    network: PairNetwork
    ordering: Ordering

    def __init__(
        self,
        *,
        num_agents: int,
        num_actions: int,
        observation_size: int,
        state_size: int,
        utilities: bool = False,
        column_gap: float | None = None,
        offset_scale: float | None = None,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
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
        """The tables of all neighbours, from left to right."""
        positions = required(positions, "pairvdn-sorted", "'pairvdn', whose ring has a fixed order")
        edges = ring_through(self.ordering.order(positions))
        return self.network(observation, edges, self.ordering.context(positions, edges))
