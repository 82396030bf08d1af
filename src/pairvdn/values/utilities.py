"""Methods in which each agent maximises its own utility: IQL and VDN."""

from typing import Any, Protocol, Unpack, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.base import Inputs, Value
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.graphs import SortedRing
from pairvdn.values.heads import GroupHead, UtilityHead
from pairvdn.values.layout import require_locatable
from pairvdn.values.networks import NetworkArguments


@runtime_checkable
class HasUtilities(Protocol):
    """A value whose utilities, one per agent and action, can be inspected."""

    def utilities(self, tables: Any) -> Float[Array, "n a"]:
        """Q_i(h_i, ·) for every agent i."""
        ...


def chosen(utilities: Float[Array, "n a"], actions: Int32[Array, " n"]) -> Float[Array, " n"]:
    """Q_i(a_i) for every agent i."""
    return jnp.take_along_axis(utilities, actions[:, None], axis=1)[:, 0]


def best(
    utilities: Float[Array, "n a"], mask: Bool[Array, "n a"]
) -> tuple[Int32[Array, " n"], Float[Array, " n"]]:
    """Each agent's best allowed action and its utility; ties go to the smallest action.

    As for `Maximum`: an agent without an allowed action has value -inf, one with NaN in an allowed
    entry has NaN, and both have action -1.
    """
    allowed = jnp.where(mask, utilities, -jnp.inf)
    actions = jnp.argmax(allowed, axis=1).astype(jnp.int32)  # NaN counts as the largest
    values = chosen(allowed, actions)
    decided = mask.any(axis=1) & ~jnp.isnan(values)
    return jnp.where(decided, actions, -1), values


class Iql(Value[Float[Array, "n a"]]):
    """Independent Q-learning: Q_i(h_i, a_i) with a temporal-difference error for each agent i."""

    encoder: Encoder[Any]
    agents: UtilityHead
    num_heads: int = eqx.field(static=True)

    def __init__(self, spec: EnvSpec, *, key: PRNGKey, **network: Unpack[NetworkArguments]) -> None:
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.agents = UtilityHead(self.encoder, key=key, **heads)
        self.num_heads = spec.num_agents

    def compute_tables(self, inputs: Inputs) -> Float[Array, "n a"]:
        """Q_i(h_i, ·)."""
        return self.agents(inputs)

    def evaluate(
        self, tables: Float[Array, "n a"], actions: Int32[Array, " n"]
    ) -> Float[Array, " h"]:
        """Q_i(h_i, a_i) for every agent."""
        return chosen(tables, actions)

    def greedy(
        self, tables: Float[Array, "n a"], mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " h"]]:
        """Each agent's best allowed action, independent of the other agents."""
        return best(tables, mask)

    def utilities(self, tables: Float[Array, "n a"]) -> Float[Array, "n a"]:
        """The tables are the utilities."""
        return tables


class SumOfUtilities(Value[Float[Array, "n a"]]):
    """A joint value that is the sum of the agents' utilities, which are its tables."""

    num_heads = 1

    def evaluate(
        self, tables: Float[Array, "n a"], actions: Int32[Array, " n"]
    ) -> Float[Array, " 1"]:
        """Σ_i Q_i(a_i)."""
        return chosen(tables, actions).sum(keepdims=True)

    def greedy(
        self, tables: Float[Array, "n a"], mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """Each agent's best action, which maximises the sum."""
        actions, values = best(tables, mask)
        return jnp.where((actions >= 0).all(), actions, -1), values.sum(keepdims=True)

    def utilities(self, tables: Float[Array, "n a"]) -> Float[Array, "n a"]:
        """The tables are the utilities."""
        return tables


class Vdn(SumOfUtilities):
    """Q(o, a) = Σ_i Q_i(h_i, a_i); the paper, section 1 (Sunehag et al., arXiv 1706.05296)."""

    encoder: Encoder[Any]
    agents: UtilityHead

    def __init__(self, spec: EnvSpec, *, key: PRNGKey, **network: Unpack[NetworkArguments]) -> None:
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.agents = UtilityHead(self.encoder, key=key, **heads)

    def compute_tables(self, inputs: Inputs) -> Float[Array, "n a"]:
        """Q_i(h_i, ·)."""
        return self.agents(inputs)


class NeighbourVdn(SumOfUtilities):
    """VDN with wider inputs: Q(o, a) = Σ_i Q_i((h_i, h_l, h_r), a_i), l and r the neighbours of i.

    The neighbours are those on the ring of `pairvdn-sorted`. Each agent sees more than a pair of
    `pairvdn-sorted` does, but its utility depends on its own action only: if the ring performs
    better, the reason is the joint tables, not the information.

    Args:
        column_gap: agents closer than this from left to right form a column and are ordered from
            bottom to top; without it they are ordered from left to right only.
        offset_scale: show the network how far the neighbours are, as tanh(distance / offset_scale);
            without it the network sees features only.
    """

    encoder: Encoder[Any]
    neighbours: GroupHead
    ring: SortedRing

    def __init__(
        self,
        spec: EnvSpec,
        *,
        column_gap: float | None = None,
        offset_scale: float | None = None,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        require_locatable(spec, "vdn-neighbours", instead="'vdn'")
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        self.ring = SortedRing(column_gap)
        self.neighbours = GroupHead(
            self.encoder,
            num_groups=spec.num_agents,
            group_size=3,
            output_size=spec.num_actions,
            offset_scale=offset_scale,
            key=key,
            **heads,
        )

    def compute_tables(self, inputs: Inputs) -> Float[Array, "n a"]:
        """Q_i((h_i, h_l, h_r), ·)."""
        order = self.ring.order(inputs)
        sides = [order, jnp.roll(order, 1), jnp.roll(order, -1)]
        groups = jnp.stack(sides, axis=1)[jnp.argsort(order)]  # row i belongs to agent i
        return self.neighbours(inputs, groups)
