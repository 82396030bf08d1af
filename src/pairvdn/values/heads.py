"""Heads: from the agents' features to utilities of agents and payoff tables of pairs."""

from typing import Any, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32

from pairvdn.checks import require_above, require_at_least
from pairvdn.types import PRNGKey
from pairvdn.values.base import Inputs
from pairvdn.values.encoders import Encoder
from pairvdn.values.graphs import Graph, Pairs
from pairvdn.values.layout import OFFSET_SIZE, offsets
from pairvdn.values.networks import GroupNetwork, HeadArguments, Mlp


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


class SymmetricPairHead(eqx.Module):
    """Symmetric tables, Q_ij(x, y) = Q_ji(y, x), in which pairs cost little more than agents.

    (p_i, r_i) = network(h_i)                all hidden layers but the last, once for each agent
    z_ij       = activation(p_i + r_j)       the last hidden layer
    Q_ij(x, y) = (f_ij(x, y) + f_ji(y, x)) / 2,   f_ij = z_ij W + b

    With `rank` r, f is Σ_r f_r(x) g_r(y): 2ra outputs instead of a². With separate parameters each
    agent has its own network; the output layer W is always shared.
    """

    agents: GroupNetwork
    output: Mlp
    num_actions: int = eqx.field(static=True)
    rank: int | None = eqx.field(static=True)

    def __init__(
        self,
        encoder: Encoder[Any],
        *,
        rank: int | None = None,
        key: PRNGKey,
        **network: Unpack[HeadArguments],
    ) -> None:
        if rank is not None:
            require_at_least(1, rank=rank)
        *before, width = network["hidden_sizes"] or (0,)
        require_at_least(1, last_hidden_size=width)
        self.num_actions, self.rank = encoder.spec.num_actions, rank
        agent_key, output_key = jax.random.split(key)
        own: HeadArguments = {**network, "hidden_sizes": tuple(before), "final_scale": 1.0}
        self.agents = GroupNetwork(
            num_agents=encoder.spec.num_agents,
            feature_size=encoder.feature_size,
            num_groups=encoder.spec.num_agents,
            group_size=1,
            output_size=2 * width,
            key=agent_key,
            **own,
        )
        self.output = Mlp(
            width,
            self.num_actions * (self.num_actions if rank is None else 2 * rank),
            hidden_sizes=(),
            final_scale=network["final_scale"],
            key=output_key,
        )

    def tables(self, inputs: Inputs, edges: Int32[np.ndarray, "e 2"]) -> Float[Array, "e a a"]:
        """The tables of these pairs, which must be known before tracing."""
        if 4 * len(edges) > inputs.features.shape[0] ** 2:
            # So dense that all pairs cost no more, and their sums p_i + r_j need no look-up.
            return self.all_tables(inputs)[edges[:, 0], edges[:, 1]]
        sources, targets = self._parts(inputs)
        both = np.concatenate([edges, edges[:, ::-1]])
        one_way, other_way = jnp.split(self._outputs(sources[both[:, 0]] + targets[both[:, 1]]), 2)
        return 0.5 * (one_way + other_way.mT)

    def all_tables(self, inputs: Inputs) -> Float[Array, "n n a a"]:
        """The tables of all ordered pairs."""
        sources, targets = self._parts(inputs)
        n, width = sources.shape
        sums = (sources[:, None] + targets[None]).reshape(n * n, width)
        one_way = self._outputs(sums).reshape(n, n, self.num_actions, self.num_actions)
        return 0.5 * (one_way + jnp.swapaxes(one_way, 0, 1).mT)

    def _parts(self, inputs: Inputs) -> tuple[Float[Array, "n j"], Float[Array, "n j"]]:
        """The sums p and r of each agent."""
        everyone = jnp.arange(inputs.features.shape[0], dtype=jnp.int32)
        both = self.agents(inputs.features, everyone[:, None])
        sources, targets = jnp.split(both, 2, axis=1)
        return sources, targets

    def _outputs(self, sums: Float[Array, "e j"]) -> Float[Array, "e a a"]:
        """The output f of each ordered pair."""
        return as_tables(self.output(self.agents.mlp.activate(sums)), self.num_actions, self.rank)


def as_tables(
    outputs: Float[Array, "e j"], num_actions: int, rank: int | None
) -> Float[Array, "e a a"]:
    """Outputs of a network as full tables, or as factors of tables of this rank."""
    if rank is None:
        return outputs.reshape(-1, num_actions, num_actions)
    factors = outputs.reshape(-1, 2, rank, num_actions)
    return jnp.einsum("era,erb->eab", factors[:, 0], factors[:, 1])
