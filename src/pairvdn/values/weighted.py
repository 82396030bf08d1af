"""PairVDN with a weight for each pair that depends on the global state."""

from collections.abc import Sequence
from typing import Unpack

import jax
from jaxtyping import Array, Float

from pairvdn.types import PRNGKey
from pairvdn.values.networks import Mlp, NetworkArguments, bounded
from pairvdn.values.pairs import Pairs, RingValue
from pairvdn.values.pairvdn import PairVdn


class WeightedPairVdn(RingValue):
    """Q(o, s, a) = Σ_k w_k(s) Q_ij((o_i, o_j), (a_i, a_j)); the paper, appendix A.1.

    The weights may be negative: the maximum does not need monotonicity. They are
    w(s) = 1 + f(s), where f is a network with one hidden layer of `weight_size` whose last layer
    starts at 0, so that learning starts from PairVDN. Utilities, if any, have no weight.
    """

    ring: PairVdn
    weights: Mlp

    def __init__(
        self,
        *,
        num_agents: int,
        num_actions: int,
        observation_size: int,
        state_size: int,
        order: str | Sequence[int] = "index",
        utilities: bool = False,
        weight_size: int = 64,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        ring_key, weight_key = jax.random.split(key)
        self.ring = PairVdn(
            num_agents=num_agents,
            num_actions=num_actions,
            observation_size=observation_size,
            state_size=state_size,
            order=order,
            utilities=utilities,
            key=ring_key,
            **network,
        )
        self.weights = Mlp(
            state_size, num_agents, hidden_sizes=(weight_size,), final_scale=0.0, key=weight_key
        )

    def tables(
        self,
        observation: Float[Array, "n o"],
        state: Float[Array, " s"],
        positions: Float[Array, "n k"] | None = None,
    ) -> Pairs:
        """The tables of the ring, each times its weight."""
        pairs = self.ring.tables(observation, state)
        weights = 1.0 + self.weights(bounded(state)[None])[0]
        payoffs = weights[:, None, None] * pairs.payoffs
        return Pairs(edges=pairs.edges, payoffs=payoffs, utilities=pairs.utilities)
