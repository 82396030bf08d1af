"""PairVDN: the joint value is a sum over the pairs of neighbours on a ring of agents."""

from collections.abc import Sequence
from typing import Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32

from pairvdn.types import PRNGKey
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.pairs import PairNetwork, Pairs, RingValue, ring_through


class PairVdn(RingValue):
    """Q(o, a) = Σ_k Q_ij((o_i, o_j), (a_i, a_j)), i and j the k-th and next agent on a ring.

    The paper, eq. 2. `order` says which agent has which place: "index" (agent k at place k),
    "random" (drawn from `key`), or the agents themselves, one for each place. It is an array of the
    model: saved with it, never trained.
    """

    network: PairNetwork
    order: Int32[Array, " n"]

    def __init__(
        self,
        *,
        num_agents: int,
        num_actions: int,
        observation_size: int,
        state_size: int,
        order: str | Sequence[int] = "index",
        utilities: bool = False,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        network_key, order_key = jax.random.split(key)
        self.order = ring_order(order, num_agents, key=order_key)
        self.network = PairNetwork(
            num_agents=num_agents,
            num_actions=num_actions,
            observation_size=observation_size,
            num_pairs=num_agents,
            utilities=utilities,
            key=network_key,
            **network,
        )

    def tables(
        self,
        observation: Float[Array, "n o"],
        state: Float[Array, " s"],
        positions: Float[Array, "n k"] | None = None,
    ) -> Pairs:
        """The tables of all neighbours, in the order of the ring."""
        return self.network(observation, ring_through(self.order))


def ring_order(
    order: str | Sequence[int], num_agents: int, *, key: PRNGKey
) -> Int32[Array, " {num_agents}"]:
    """The agents in the order of the ring: "index", "random" by key, or given."""
    everyone = jnp.arange(num_agents, dtype=jnp.int32)
    named = {"index": lambda: everyone, "random": lambda: jax.random.permutation(key, everyone)}
    if isinstance(order, str):
        if order not in named:
            raise ValueError(
                f"order must be 'index', 'random' or a permutation of the agents, not {order!r}."
            )
        return named[order]()
    given = np.asarray(order)
    if not np.array_equal(np.sort(given), np.arange(num_agents)):
        raise ValueError(
            f"order must name each of the {num_agents} agents 0 to {num_agents - 1} once, "
            f"but is {given.tolist()}."
        )
    return jnp.asarray(given, dtype=jnp.int32)
