"""VDN whose agents see what their neighbours see: the information of pairs without their tables."""

from typing import Unpack

import jax.numpy as jnp
from jaxtyping import Array, Float

from pairvdn.types import PRNGKey
from pairvdn.values.agents import SumOfUtilities
from pairvdn.values.networks import GroupNetwork, NetworkArguments
from pairvdn.values.ordering import Ordering, required


class NeighbourVdn(SumOfUtilities):
    """Q(o, a) = Σ_i Q_i((o_i, o_h, o_j), a_i), h and j the agents on either side of i.

    The agents stand on the ring of `pairvdn-sorted`, with the same `column_gap` and
    `offset_scale`. Each sees more than in `pairvdn-sorted`, both neighbours, and still chooses
    alone: where the ring does better, it is the joint tables, not what is seen.
    """

    network: GroupNetwork
    ordering: Ordering

    def __init__(
        self,
        *,
        num_agents: int,
        num_actions: int,
        observation_size: int,
        state_size: int,
        column_gap: float | None = None,
        offset_scale: float | None = None,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        self.ordering = Ordering(column_gap, offset_scale)
        self.network = GroupNetwork(
            num_agents=num_agents,
            observation_size=observation_size,
            num_groups=num_agents,
            group_size=3,
            output_size=num_actions,
            context_size=self.ordering.context_size(others=2),
            key=key,
            **network,
        )

    def tables(
        self,
        observation: Float[Array, "n o"],
        state: Float[Array, " s"],
        positions: Float[Array, "n k"] | None = None,
    ) -> Float[Array, "n a"]:
        """Q_i((o_i, o_h, o_j), ·)."""
        positions = required(positions, "vdn-neighbours", "'vdn'")
        order = self.ordering.order(positions)
        sides = [order, jnp.roll(order, 1), jnp.roll(order, -1)]
        groups = jnp.stack(sides, axis=1)[jnp.argsort(order)]  # the i-th is agent i's
        return self.network(observation, groups, self.ordering.context(positions, groups))
