"""Independent Q-learning: every agent learns alone."""

from typing import Unpack

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.types import PRNGKey
from pairvdn.values.agents import AgentNetwork, best, chosen
from pairvdn.values.base import Value
from pairvdn.values.networks import NetworkArguments


class Iql(Value[Float[Array, "n a"]]):
    """Q_i(o_i, a_i) with a head, and so a temporal-difference error, for each agent i."""

    agents: AgentNetwork
    num_agents: int = eqx.field(static=True)

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
        self.num_agents = num_agents
        self.agents = AgentNetwork(
            num_agents=num_agents,
            num_actions=num_actions,
            observation_size=observation_size,
            key=key,
            **network,
        )

    @property
    def num_heads(self) -> int:
        """One for each agent."""
        return self.num_agents

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
    ) -> Float[Array, " h"]:
        """Q_i(o_i, a_i) for every agent."""
        return chosen(tables, actions)

    def greedy(
        self, tables: Float[Array, "n a"], mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " h"]]:
        """Each agent's own best allowed action; an agent that has none does not stop others."""
        return best(tables, mask)

    def utilities(self, tables: Float[Array, "n a"]) -> Float[Array, "n a"]:
        """The tables are the utilities."""
        return tables
