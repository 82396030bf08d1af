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
from pairvdn.values.product import rows_product


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


PRODUCTS = 3.0  # brings the initial size of products near that of sums


class SymmetricPairHead(eqx.Module):
    """Utilities and symmetric tables of one network, in which pairs cost little more than agents.

    (p_i, r_i)  = network(h_i)            all hidden layers but the last, once for each agent
    Q_i(x)      = activation(p_i, r_i) U + c
    z_ij        = activation(p_i + r_j) + 3 p_i r_j       element by element
    Q_ij(x, y)  = (f_ij(x, y) + f_ji(y, x)) / 2,   f_ij = z_ij W + b

    The last hidden layer is z, half of its units for each order of a pair. Sums compare two agents;
    products single out pairs, which sums hardly learn from identifiers. With `rank` r, f is
    Σ_r f_r(x) g_r(y): 2ra outputs instead of a². With separate parameters each agent has its own
    network; the output layers are always shared.
    """

    agents: GroupNetwork
    own: Mlp
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
        half = (width + 1) // 2
        n, a = encoder.spec.num_agents, encoder.spec.num_actions
        self.num_actions, self.rank = a, rank
        agent_key, own_key, output_key = jax.random.split(key, 3)
        hidden: HeadArguments = {**network, "hidden_sizes": tuple(before), "final_scale": 1.0}
        self.agents = GroupNetwork(
            num_agents=n,
            feature_size=encoder.feature_size,
            num_groups=n,
            group_size=1,
            output_size=2 * half,
            key=agent_key,
            **hidden,
        )

        def layer(inputs: int, outputs: int, key: PRNGKey) -> Mlp:
            scale = network["final_scale"]
            return Mlp(inputs, outputs, hidden_sizes=(), final_scale=scale, key=key)

        self.own = layer(2 * half, a, own_key)
        self.output = layer(half, a * (a if rank is None else 2 * rank), output_key)

    def hidden(self, inputs: Inputs) -> Float[Array, "n j"]:
        """(p_i, r_i) of every agent: the input of the other methods."""
        everyone = jnp.arange(inputs.features.shape[0], dtype=jnp.int32)
        return self.agents(inputs.features, everyone[:, None])

    def utilities(self, hidden: Float[Array, "n j"]) -> Float[Array, "n a"]:
        """The utility of every action of every agent."""
        return self.own(self.agents.mlp.activate(hidden))

    def tables(
        self, hidden: Float[Array, "n j"], edges: Int32[np.ndarray, "e 2"]
    ) -> Float[Array, "e a a"]:
        """The tables of these pairs, which must be known before tracing."""
        if 4 * len(edges) > hidden.shape[0] ** 2:
            # So dense that all pairs cost no more, and their sums p_i + r_j need no look-up.
            return self.all_tables(hidden)[edges[:, 0], edges[:, 1]]
        sources, targets = jnp.split(hidden, 2, axis=1)
        both = np.concatenate([edges, edges[:, ::-1]])
        pairs = self._units(sources[both[:, 0]], targets[both[:, 1]])
        one_way, other_way = jnp.split(self._outputs(pairs), 2)
        return 0.5 * (one_way + other_way.mT)

    def all_tables(self, hidden: Float[Array, "n j"]) -> Float[Array, "n n a a"]:
        """The tables of all ordered pairs."""
        sources, targets = jnp.split(hidden, 2, axis=1)
        n, width = sources.shape
        pairs = self._units(sources[:, None], targets[None]).reshape(n * n, width)
        one_way = self._outputs(pairs).reshape(n, n, self.num_actions, self.num_actions)
        return 0.5 * (one_way + jnp.swapaxes(one_way, 0, 1).mT)

    def _units(self, sources: Float[Array, "*s j"], targets: Float[Array, "*t j"]) -> Array:
        """The hidden layer z of each ordered pair."""
        return self.agents.mlp.activate(sources + targets) + PRODUCTS * sources * targets

    def _outputs(self, rows: Float[Array, "e j"]) -> Float[Array, "e a a"]:
        """The output f of each ordered pair."""
        layer = self.output
        outputs = rows_product(rows, layer.weights[0], narrow=True) + layer.biases[0][None]
        if self.rank is None:
            return outputs.reshape(-1, self.num_actions, self.num_actions)
        factors = outputs.reshape(-1, 2, self.rank, self.num_actions)
        return jnp.einsum("era,erb->eab", factors[:, 0], factors[:, 1])
