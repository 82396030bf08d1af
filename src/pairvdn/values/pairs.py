"""What pair-wise methods share: their tables and networks, their sum, the maximum on a ring."""

from typing import Any, Protocol, Unpack, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn import maximise
from pairvdn.types import PRNGKey
from pairvdn.values.agents import AgentNetwork
from pairvdn.values.base import Value
from pairvdn.values.networks import GroupNetwork, NetworkArguments


class Pairs(eqx.Module):
    """Q(a) = Σ_e payoffs[e, a_i, a_j] for edges e = (i, j), plus Σ_i utilities[i, a_i] if any."""

    edges: Int32[Array, "e 2"]
    payoffs: Float[Array, "e a a"]
    utilities: Float[Array, "n a"] | None


@runtime_checkable
class HasPairs(Protocol):
    """What a pair-wise value offers besides the contract: its tables as numbers to look at."""

    def pairs(self, tables: Any) -> Pairs:
        """The sum that `evaluate` computes and `greedy` maximises."""
        ...


class PairNetwork(eqx.Module):
    """Q_ij((o_i, o_j), (·, ·)) for any pairs (i, j), and Q_i(o_i, ·) if asked for.

    With `rank` r a table is Σ_r f_r(a_i) g_r(a_j), and the network gives f and g: 2ra outputs
    instead of a². Which pairs there are is the caller's choice at every call; with separate
    parameters the k-th pair has the k-th network.
    """

    network: GroupNetwork
    agents: AgentNetwork | None
    num_actions: int = eqx.field(static=True)
    rank: int | None = eqx.field(static=True)

    def __init__(
        self,
        *,
        num_agents: int,
        num_actions: int,
        observation_size: int,
        num_pairs: int,
        utilities: bool,
        rank: int | None = None,
        context_size: int = 0,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        if rank is not None and rank < 1:
            raise ValueError(f"rank must be at least 1, or None for full tables, but is {rank}.")
        pair_key, agent_key = jax.random.split(key)
        self.num_actions, self.rank = num_actions, rank
        self.network = GroupNetwork(
            num_agents=num_agents,
            observation_size=observation_size,
            num_groups=num_pairs,
            group_size=2,
            output_size=num_actions * (num_actions if rank is None else 2 * rank),
            context_size=context_size,
            key=pair_key,
            **network,
        )
        self.agents = None
        if utilities:
            self.agents = AgentNetwork(
                num_agents=num_agents,
                num_actions=num_actions,
                observation_size=observation_size,
                key=agent_key,
                **network,
            )

    def __call__(
        self,
        observation: Float[Array, "n o"],
        edges: Int32[Array, "e 2"],
        context: Float[Array, "e c"] | None = None,
    ) -> Pairs:
        """The tables of these pairs, and the utilities."""
        return Pairs(
            edges=edges,
            payoffs=self.payoffs(observation, edges, context),
            utilities=None if self.agents is None else self.agents(observation),
        )

    def payoffs(
        self,
        observation: Float[Array, "n o"],
        edges: Int32[Array, "e 2"],
        context: Float[Array, "e c"] | None = None,
    ) -> Float[Array, "e a a"]:
        """The tables of these pairs."""
        outputs = self.network(observation, edges, context)
        if self.rank is None:
            return outputs.reshape(-1, self.num_actions, self.num_actions)
        factors = outputs.reshape(-1, 2, self.rank, self.num_actions)
        return jnp.einsum("era,erb->eab", factors[:, 0], factors[:, 1])


class PairwiseValue(Value[Pairs]):
    """A joint value that is the sum of its pairs; which pairs, and their maximum, is its own."""

    @property
    def num_heads(self) -> int:
        """One joint value."""
        return 1

    def evaluate(self, tables: Pairs, actions: Int32[Array, " n"]) -> Float[Array, " 1"]:
        """Σ_e payoffs[e, a_i, a_j] + Σ_i utilities[i, a_i]."""
        value = maximise.evaluate(tables.payoffs, tables.edges, actions, utilities=tables.utilities)
        return value[None]

    def pairs(self, tables: Pairs) -> Pairs:
        """The tables are the pairs."""
        return tables


class RingValue(PairwiseValue):
    """A pair-wise value whose edges are those of `ring_through` some order."""

    def greedy(
        self, tables: Pairs, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """The exact maximum over all allowed joint actions; the paper, appendix A."""
        order = tables.edges[:, 0]
        utilities = None if tables.utilities is None else tables.utilities[order]
        best = maximise.ring(tables.payoffs, utilities=utilities, mask=mask[order])
        return jnp.zeros_like(best.actions).at[order].set(best.actions), best.value[None]


def ring_through(order: Int32[Array, " n"]) -> Int32[Array, "n 2"]:
    """The edges from every agent to the next in `order`, and from the last to the first."""
    return jnp.stack([order, jnp.roll(order, -1)], axis=1)
