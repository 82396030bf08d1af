"""Deep Q-learning on the joint action, for a single agent or for very few."""

import math
from typing import Unpack

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.types import PRNGKey
from pairvdn.values.base import Value
from pairvdn.values.networks import GroupNetwork, NetworkArguments

MAX_JOINT_ACTIONS = 2**14


class Dqn(Value[Float[Array, " joint"]]):
    """Q(o_1, ..., o_n, ·) as one table of all aⁿ joint actions (Mnih et al., arXiv 1312.5602).

    The joint action (a_1, ..., a_n) is entry Σ_i a_i a^(n-i). There is one network, so `shared`
    changes nothing but that it sees (constant) identifiers.
    """

    network: GroupNetwork
    num_agents: int = eqx.field(static=True)
    num_actions: int = eqx.field(static=True)

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
        size = math.prod([num_actions] * num_agents)
        if size > MAX_JOINT_ACTIONS:
            raise ValueError(
                f"dqn needs a table of num_actions ** num_agents = {num_actions} ** {num_agents} "
                f"= {size} joint actions; at most {MAX_JOINT_ACTIONS} are allowed. Use 'vdn', "
                "'qmix' or 'pairvdn'."
            )
        self.num_agents, self.num_actions = num_agents, num_actions
        self.network = GroupNetwork(
            num_agents=num_agents,
            observation_size=observation_size,
            num_groups=1,
            group_size=num_agents,
            output_size=size,
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
    ) -> Float[Array, " joint"]:
        """The value of every joint action."""
        everyone = jnp.arange(self.num_agents, dtype=jnp.int32)
        return self.network(observation, everyone[None])[0]

    def evaluate(
        self, tables: Float[Array, " joint"], actions: Int32[Array, " n"]
    ) -> Float[Array, " 1"]:
        """Q(o, a)."""
        place = self.num_actions ** np.arange(self.num_agents - 1, -1, -1, dtype=np.int32)
        return tables[(actions * place).sum(keepdims=True)]

    def greedy(
        self, tables: Float[Array, " joint"], mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """Look at every joint action; of equal ones the first, as `Maximum` without one."""
        shape = (self.num_actions,) * self.num_agents
        joint = np.indices(shape, dtype=np.int32).reshape(self.num_agents, -1)
        allowed = jnp.take_along_axis(mask, joint, axis=1).all(axis=0)
        values = jnp.where(allowed, tables, -jnp.inf)
        best = jnp.argmax(values, keepdims=True)
        value = values[best]
        decided = allowed.any() & ~jnp.isnan(value)
        return jnp.where(decided, jnp.asarray(joint)[:, best[0]], -1), value
