"""What methods with one utility per agent share: the network, each agent's best action, the sum."""

from typing import Any, Protocol, Unpack, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.types import PRNGKey
from pairvdn.values.base import Value
from pairvdn.values.networks import GroupNetwork, NetworkArguments


@runtime_checkable
class HasUtilities(Protocol):
    """What a value offers in which every agent has one of its own: numbers to look at."""

    def utilities(self, tables: Any) -> Float[Array, "n a"]:
        """Q_i(o_i, ·) for every agent i, of which each maximises its own."""
        ...


class AgentNetwork(eqx.Module):
    """Q_i(o_i, ·) for every agent i."""

    network: GroupNetwork

    def __init__(
        self,
        *,
        num_agents: int,
        num_actions: int,
        observation_size: int,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        self.network = GroupNetwork(
            num_agents=num_agents,
            observation_size=observation_size,
            num_groups=num_agents,
            group_size=1,
            output_size=num_actions,
            key=key,
            **network,
        )

    def __call__(self, observation: Float[Array, "n o"]) -> Float[Array, "n a"]:
        """The utility of every action of every agent."""
        everyone = jnp.arange(observation.shape[0], dtype=jnp.int32)
        return self.network(observation, everyone[:, None])


def chosen(utilities: Float[Array, "n a"], actions: Int32[Array, " n"]) -> Float[Array, " n"]:
    """Q_i(a_i) for every agent i."""
    return jnp.take_along_axis(utilities, actions[:, None], axis=1)[:, 0]


def best(
    utilities: Float[Array, "n a"], mask: Bool[Array, "n a"]
) -> tuple[Int32[Array, " n"], Float[Array, " n"]]:
    """Each agent's best allowed action and its utility; of equal ones the smallest action.

    As for `Maximum`: an agent without an allowed action has value -inf, one with NaN in an allowed
    entry has NaN, and both have action -1.
    """
    allowed = jnp.where(mask, utilities, -jnp.inf)
    actions = jnp.argmax(allowed, axis=1).astype(jnp.int32)  # NaN counts as the largest
    values = chosen(allowed, actions)
    return jnp.where(decided(mask, values), actions, -1), values


class SumOfUtilities(Value[Float[Array, "n a"]]):
    """A joint value that is the sum of the agents' utilities, however those are made."""

    @property
    def num_heads(self) -> int:
        """One joint value."""
        return 1

    def evaluate(
        self, tables: Float[Array, "n a"], actions: Int32[Array, " n"]
    ) -> Float[Array, " 1"]:
        """Σ_i Q_i(a_i)."""
        return chosen(tables, actions).sum(keepdims=True)

    def greedy(
        self, tables: Float[Array, "n a"], mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """Each agent's own best action: the sum is largest where every term is."""
        actions, values = best(tables, mask)
        return jnp.where((actions >= 0).all(), actions, -1), values.sum(keepdims=True)

    def utilities(self, tables: Float[Array, "n a"]) -> Float[Array, "n a"]:
        """The tables are the utilities."""
        return tables


def decided(mask: Bool[Array, "n a"], values: Float[Array, " n"]) -> Bool[Array, " n"]:
    """Whether each agent has an allowed action and no NaN among those."""
    return mask.any(axis=1) & ~jnp.isnan(values)
