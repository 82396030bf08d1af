"""Value decomposition networks: the joint value is the sum of the agents' utilities."""

from typing import Unpack

from jaxtyping import Array, Float

from pairvdn.types import PRNGKey
from pairvdn.values.agents import AgentNetwork, SumOfUtilities
from pairvdn.values.networks import NetworkArguments


class Vdn(SumOfUtilities):
    """Q(o, a) = Σ_i Q_i(o_i, a_i); the paper, section 1 (Sunehag et al., arXiv 1706.05296)."""

    agents: AgentNetwork

    def __init__(
        self,
        *,
        num_agents: int,
        num_actions: int,
        observation_size: int,
        state_size: int,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        self.agents = AgentNetwork(
            num_agents=num_agents,
            num_actions=num_actions,
            observation_size=observation_size,
            key=key,
            **network,
        )

    def tables(
        self,
        observation: Float[Array, "n o"],
        state: Float[Array, " s"],
        positions: Float[Array, "n k"] | None = None,
    ) -> Float[Array, "n a"]:
        """Q_i(o_i, ·)."""
        return self.agents(observation)
