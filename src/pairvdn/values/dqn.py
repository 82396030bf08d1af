"""Deep Q-learning on the joint action, for a single agent or for very few."""

import math
from typing import Any, Unpack

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.base import Inputs, Value
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.heads import GroupHead
from pairvdn.values.networks import NetworkArguments

MAX_JOINT_ACTIONS = 2**14


class Dqn(Value[Float[Array, " joint"]]):
    """Q(h_1, ..., h_n, ·) as one table of all aⁿ joint actions (Mnih et al., arXiv 1312.5602).

    The joint action (a_1, ..., a_n) is entry Σ_i a_i a^(n-i). There is only one network: `shared`
    merely decides whether it sees the (constant) identifiers.
    """

    encoder: Encoder[Any]
    joint: GroupHead
    num_heads = 1

    def __init__(self, spec: EnvSpec, *, key: PRNGKey, **network: Unpack[NetworkArguments]) -> None:
        size = math.prod([spec.num_actions] * spec.num_agents)
        if size > MAX_JOINT_ACTIONS:
            raise ValueError(
                "dqn needs a table of num_actions ** num_agents = "
                f"{spec.num_actions} ** {spec.num_agents} = {size} joint actions; "
                f"at most {MAX_JOINT_ACTIONS} are allowed. Use 'vdn', 'qmix' or 'pairvdn'."
            )
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.joint = GroupHead(
            self.encoder,
            num_groups=1,
            group_size=spec.num_agents,
            output_size=size,
            key=key,
            **heads,
        )

    def compute_tables(self, inputs: Inputs) -> Float[Array, " joint"]:
        """The value of every joint action."""
        everyone = jnp.arange(self.spec.num_agents, dtype=jnp.int32)
        return self.joint(inputs, everyone[None])[0]

    def evaluate(
        self, tables: Float[Array, " joint"], actions: Int32[Array, " n"]
    ) -> Float[Array, " 1"]:
        """Q(o, a)."""
        digits = self.spec.num_actions ** np.arange(actions.shape[0] - 1, -1, -1, dtype=np.int32)
        return tables[(actions * digits).sum(keepdims=True)]

    def greedy(
        self, tables: Float[Array, " joint"], mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """The first of the best joint actions; -1 and -inf or NaN as for `Maximum`."""
        num_agents, num_actions = mask.shape
        joint = np.indices((num_actions,) * num_agents, dtype=np.int32).reshape(num_agents, -1)
        allowed = jnp.take_along_axis(mask, joint, axis=1).all(axis=0)
        values = jnp.where(allowed, tables, -jnp.inf)
        best = jnp.argmax(values, keepdims=True)
        value = values[best]
        decided = allowed.any() & ~jnp.isnan(value)
        return jnp.where(decided, jnp.asarray(joint)[:, best[0]], -1), value
