"""Heads: from the agents' features to utilities of agents and payoff tables of pairs."""

from typing import Any, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.checks import require_above
from pairvdn.types import PRNGKey
from pairvdn.values.base import Inputs
from pairvdn.values.encoders import Encoder
from pairvdn.values.graphs import Graph, Pairs
from pairvdn.values.layout import OFFSET_SIZE, offsets
from pairvdn.values.networks import GroupNetwork, HeadArguments


class GroupHead(eqx.Module):
    """A vector for each group of m agents, from their features and, optionally, their offsets.

    With an `offset_scale` the network sees the offsets from the first member to the others, along
    both axes, as tanh(offset / `offset_scale`).
    """

    network: GroupNetwork
    offset_scale: float | None = eqx.field(static=True)

    def __init__(
        self,
        encoder: Encoder[Any],
        *,
        num_groups: int,
        group_size: int,
        output_size: int,
        offset_scale: float | None = None,
        key: PRNGKey,
        **network: Unpack[HeadArguments],
    ) -> None:
        if offset_scale is not None:
            require_above(0, offset_scale=offset_scale)
        self.offset_scale = offset_scale
        self.network = GroupNetwork(
            num_agents=encoder.spec.num_agents,
            feature_size=encoder.feature_size,
            num_groups=num_groups,
            group_size=group_size,
            output_size=output_size,
            context_size=0 if offset_scale is None else (group_size - 1) * OFFSET_SIZE,
            key=key,
            **network,
        )

    def __call__(self, inputs: Inputs, groups: Int32[Array, "g m"]) -> Float[Array, "g j"]:
        """Run the network on each group."""
        if self.offset_scale is None:
            return self.network(inputs.features, groups)
        context = offsets(inputs.require_positions(), groups, self.offset_scale)
        return self.network(inputs.features, groups, context)


class UtilityHead(eqx.Module):
    """Q_i(h_i, ·) for every agent i."""

    head: GroupHead

    def __init__(
        self, encoder: Encoder[Any], *, key: PRNGKey, **network: Unpack[HeadArguments]
    ) -> None:
        self.head = GroupHead(
            encoder,
            num_groups=encoder.spec.num_agents,
            group_size=1,
            output_size=encoder.spec.num_actions,
            key=key,
            **network,
        )

    def __call__(self, inputs: Inputs) -> Float[Array, "n a"]:
        """The utility of every action of every agent."""
        everyone = jnp.arange(inputs.features.shape[0], dtype=jnp.int32)
        return self.head(inputs, everyone[:, None])


class PairHead(eqx.Module):
    """Q_ij(h_i, h_j, ·, ·) for the pairs of any graph and, optionally, Q_i(h_i, ·).

    With separate parameters the k-th of `num_pairs` pairs has the k-th network; the default is one
    pair per agent.
    """

    payoffs: GroupHead
    utilities: UtilityHead | None
    num_actions: int = eqx.field(static=True)

    def __init__(
        self,
        encoder: Encoder[Any],
        *,
        num_pairs: int | None = None,
        utilities: bool = False,
        offset_scale: float | None = None,
        key: PRNGKey,
        **network: Unpack[HeadArguments],
    ) -> None:
        self.num_actions = encoder.spec.num_actions
        pair_key, agent_key = jax.random.split(key)
        self.payoffs = GroupHead(
            encoder,
            num_groups=num_pairs or encoder.spec.num_agents,
            group_size=2,
            output_size=self.num_actions**2,
            offset_scale=offset_scale,
            key=pair_key,
            **network,
        )
        self.utilities = UtilityHead(encoder, key=agent_key, **network) if utilities else None

    def __call__(self, graph: Graph, inputs: Inputs) -> Pairs:
        """The tables of the pairs of this graph, and the utilities."""
        edges = graph.edges(inputs, lambda: self.all_tables(inputs))
        return Pairs(
            edges=edges,
            payoffs=self.tables(inputs, edges),
            utilities=None if self.utilities is None else self.utilities(inputs),
        )

    def tables(self, inputs: Inputs, edges: Int32[Array, "e 2"]) -> Float[Array, "e a a"]:
        """The tables of these pairs."""
        return self.payoffs(inputs, edges).reshape(-1, self.num_actions, self.num_actions)

    def all_tables(self, inputs: Inputs) -> Float[Array, "n n a a"]:
        """The tables of all ordered pairs (i, j); separate parameters use the i-th network."""
        n = inputs.features.shape[0]
        edges = jnp.stack(jnp.indices((n, n), dtype=jnp.int32), axis=2)
        if self.payoffs.network.shared:
            return self.tables(inputs, edges.reshape(n * n, 2)).reshape(
                n, n, *[self.num_actions] * 2
            )
        return jax.vmap(self.tables, in_axes=(None, 1), out_axes=1)(inputs, edges)
