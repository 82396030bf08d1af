"""Value decomposition networks: the joint value is the sum of the agents' utilities."""

from typing import Unpack

from jaxtyping import Array, Bool, Float, Int32

from pairvdn.types import PRNGKey
from pairvdn.values.agents import AgentNetwork, best_sum, chosen_sum
from pairvdn.values.base import Value
from pairvdn.values.networks import NetworkArguments


class Vdn(Value[Float[Array, "n a"]]):
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

    @property
    def num_heads(self) -> int:
        """One joint value."""
        return 1

    def tables(
        self,
        observation: Float[Array, "n o"],
        state: Float[Array, " s"],
        positions: Float[Array, "n k"] | None = None,
    ) -> Float[Array, "n a"]:
        """Q_i(o_i, ·)."""
        return self.agents(observation)

    def evaluate(
        self, tables: Float[Array, "n a"], actions: Int32[Array, " n"]
    ) -> Float[Array, " 1"]:
        """Σ_i Q_i(o_i, a_i)."""
        return chosen_sum(tables, actions)

    def greedy(
        self, tables: Float[Array, "n a"], mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """Each agent's own best action: the sum is largest where every term is."""
        return best_sum(tables, mask)

    def utilities(self, tables: Float[Array, "n a"]) -> Float[Array, "n a"]:
        """The tables are the utilities."""
        return tables
