"""Heads with symmetric tables: utilities and payoffs of one network, run once for each agent."""

import abc
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
from pairvdn.values.layout import OFFSET_SIZE
from pairvdn.values.networks import GroupNetwork, HeadArguments, Mlp
from pairvdn.values.rows import rows_at, rows_product

PRODUCTS = 3.0  # brings the initial size of products near that of sums
FAR = 1e6  # in units of the scale of offsets; finite, because `entries` multiplies by 0


class Hidden(eqx.Module):
    """What tables need of each agent: the outputs of its network, and where it is, if shown."""

    units: Float[Array, "n j"]
    places: Float[Array, "n 2"] | None  # in units of the scale of offsets


class SymmetricHead(eqx.Module):
    """Q_i(x), and Q_ij(x, y) = (f_ij(x, y) + f_ji(y, x)) / 2 with f from numbers of both agents.

    With `rank` r, f is Σ_r f_r(x) g_r(y): 2ra outputs instead of a². With separate parameters each
    agent has its own network; layers that read pairs are always shared.
    """

    agents: eqx.AbstractVar[GroupNetwork]
    num_actions: eqx.AbstractVar[int]
    rank: eqx.AbstractVar[int | None]
    offset_scale: eqx.AbstractVar[float | None]

    @abc.abstractmethod
    def utilities(self, hidden: Hidden) -> Float[Array, "n a"]:
        """The utility of every action of every agent."""

    @abc.abstractmethod
    def swapped(self, units: Float[Array, "n j"]) -> Float[Array, "n j"]:
        """The outputs as those of the second agents of pairs: (r, p) instead of (p, r)."""

    @abc.abstractmethod
    def of_pairs(
        self,
        first: Float[Array, "e j"],
        second: Float[Array, "e j"],
        apart: Float[Array, "e 2"] | None,
    ) -> Float[Array, "e a a"]:
        """The tables of pairs, from outputs, `swapped` ones, and the offset to the second agent.

        The table of (j, i) is the transposed one of (i, j).
        """

    def hidden(self, inputs: Inputs) -> Hidden:
        """The network of every agent: the input of the other methods."""
        everyone = jnp.arange(inputs.features.shape[0], dtype=jnp.int32)
        units = self.agents(inputs.features, everyone[:, None])
        if self.offset_scale is None:
            return Hidden(units, None)
        places = inputs.require_positions()[:, :OFFSET_SIZE] / self.offset_scale
        return Hidden(units, jnp.clip(jnp.where(jnp.isnan(places), FAR, places), -FAR, FAR))

    def tables(self, hidden: Hidden, edges: Int32[np.ndarray, "e 2"]) -> Float[Array, "e a a"]:
        """The tables of these pairs, which must be known before tracing."""
        i, j = edges[:, 0], edges[:, 1]
        # Swapped before the look-up: once for each agent, not for each pair.
        first, second = rows_at(hidden.units, i), rows_at(self.swapped(hidden.units), j)
        if hidden.places is None:
            return self.of_pairs(first, second, None)
        apart = jnp.tanh(rows_at(hidden.places, j) - rows_at(hidden.places, i))
        return self.of_pairs(first, second, apart)

    def entries(
        self,
        hidden: Hidden,
        others: Int32[Array, "n k"],
        actions: Int32[Array, " n"],
    ) -> Float[Array, "n k"]:
        """Q_ij(a_i, a_j) for some others j of each agent i.

        By products with 0 and 1: the gradient of a look-up would be a slow scatter.
        """
        n, k = others.shape
        agents = jnp.arange(n, dtype=jnp.int32)
        is_other = (others.reshape(-1, 1) == agents[None]).astype(hidden.units.dtype)

        def own(x: Float[Array, "n j"]) -> Float[Array, "nk j"]:
            return jnp.broadcast_to(x[:, None], (n, k, x.shape[1])).reshape(n * k, -1)

        apart = None
        if hidden.places is not None:
            apart = jnp.tanh(is_other @ hidden.places - own(hidden.places))
        theirs = is_other @ self.swapped(hidden.units)
        tables = self.of_pairs(own(hidden.units), theirs, apart)
        choices = jnp.arange(self.num_actions, dtype=jnp.int32)
        row = jnp.repeat(actions, k)[:, None] == choices[None]
        column = actions[others.reshape(-1)][:, None] == choices[None]
        chosen = row[:, :, None] & column[:, None, :]
        return jnp.where(chosen, tables, 0).sum(axis=(1, 2)).reshape(n, k)

    def all_tables(self, hidden: Hidden) -> Float[Array, "n n a a"]:
        """The tables of all ordered pairs, symmetric to the bit; those of (i, i) are 0."""
        n = hidden.units.shape[0]
        edges = np.stack(np.triu_indices(n, k=1), axis=1).astype(np.int32)
        tables = self.tables(hidden, edges)
        nothing = jnp.zeros((1, *tables.shape[1:]), tables.dtype)
        where = np.full((n, n), 2 * len(edges))
        where[edges[:, 0], edges[:, 1]] = np.arange(len(edges))
        where[edges[:, 1], edges[:, 0]] = len(edges) + np.arange(len(edges))
        return jnp.concatenate([tables, tables.mT, nothing])[where]


def _factors(outputs: Float[Array, "e k"], rank: int, num_actions: int) -> Float[Array, "e a a"]:
    """The table of each ordered pair from the factors of its rows and columns."""
    factors = outputs.reshape(-1, 2, rank, num_actions)
    return jnp.einsum("era,erb->eab", factors[:, 0], factors[:, 1])


class SymmetricPairHead(SymmetricHead):
    """Tables of a hidden layer that reads pairs; they cost little more than those of agents.

    (p_i, r_i)  = network(h_i)            all hidden layers but the last, once for each agent
    Q_i         = activation(p_i, r_i) U + c
    z_ij        = activation(p_i + r_j + V c_ij) + 3 p_i r_j       element by element
    f_ij        = z_ij W + b

    The last hidden layer is z, half of its units for each order of a pair. Sums compare two agents;
    products single out pairs, which sums hardly learn from identifiers. With an `offset_scale`,
    c_ij = tanh((x_j - x_i) / `offset_scale`) shows where the other agent is; without it V c is 0.
    """

    agents: GroupNetwork
    own: Mlp
    output: Mlp
    offset: Mlp | None
    num_actions: int = eqx.field(static=True)
    rank: int | None = eqx.field(static=True)
    products: bool = eqx.field(static=True)
    offset_scale: float | None = eqx.field(static=True)

    def __init__(
        self,
        encoder: Encoder[Any],
        *,
        rank: int | None = None,
        products: bool = True,
        offset_scale: float | None = None,
        key: PRNGKey,
        **network: Unpack[HeadArguments],
    ) -> None:
        *before, width = network["hidden_sizes"] or (0,)
        require_at_least(1, last_hidden_size=width)
        half = (width + 1) // 2
        self.num_actions, self.rank = encoder.spec.num_actions, rank
        self.products, self.offset_scale = products, offset_scale
        agent_key, own_key, output_key = jax.random.split(key, 3)
        hidden: HeadArguments = {**network, "hidden_sizes": tuple(before), "final_scale": 1.0}
        self.agents = _per_agent(encoder, 2 * half, agent_key, hidden)

        def layer(inputs: int, outputs: int, key: PRNGKey) -> Mlp:
            scale = network["final_scale"]
            return Mlp(inputs, outputs, hidden_sizes=(), final_scale=scale, key=key)

        self.own = layer(2 * half, self.num_actions, own_key)
        self.output = layer(half, _table_size(self.num_actions, rank), output_key)
        self.offset = None
        if offset_scale is not None:
            require_above(0, offset_scale=offset_scale)
            offset_key = jax.random.fold_in(key, 3)
            self.offset = Mlp(OFFSET_SIZE, half, hidden_sizes=(), key=offset_key)

    def utilities(self, hidden: Hidden) -> Float[Array, "n a"]:
        """A linear layer on the activated hidden layer."""
        return self.own(self.agents.mlp.activate(hidden.units))

    def swapped(self, units: Float[Array, "n j"]) -> Float[Array, "n j"]:
        """Both halves exchanged."""
        return jnp.roll(units, units.shape[1] // 2, axis=1)

    def of_pairs(
        self,
        first: Float[Array, "e j"],
        second: Float[Array, "e j"],
        apart: Float[Array, "e 2"] | None,
    ) -> Float[Array, "e a a"]:
        """One product with the units of both orders: Q_ij = z_ij W / 2 + (z_ji W)ᵀ / 2."""
        sums = first + second
        if self.offset is not None and apart is not None:
            # tanh is odd: the two orders of a pair see opposite offsets. Two columns are added one
            # by one, in the loop that adds the rest; a product would store its result first.
            (weight,), (bias,) = self.offset.weights, self.offset.biases
            for k in range(OFFSET_SIZE):
                sums = sums + apart[:, k, None] * jnp.concatenate([weight[k], -weight[k]])[None]
            sums = sums + jnp.concatenate([bias, bias])[None]
        units = self.agents.mlp.activate(sums)
        if self.products:
            units = units + PRODUCTS * first * second
        a, weights, bias = self.num_actions, self.output.weights[0], self.output.biases[0]
        if self.rank is not None:
            both = units.reshape(2 * len(units), units.shape[1] // 2)
            outputs = rows_product(both, weights) + bias[None]
            tables = _factors(outputs, self.rank, a)
            return 0.5 * (tables[::2] + tables[1::2].mT)
        transposed = weights.reshape(-1, a, a).mT.reshape(weights.shape)
        symmetric = 0.5 * jnp.concatenate([weights, transposed])
        square = bias.reshape(a, a)
        tables = rows_product(units, symmetric).reshape(-1, a, a)
        return tables + 0.5 * (square + square.T)[None]


class LinearPairHead(SymmetricHead):
    """Q_i = h'_i U + c and f_ij = (h'_i, h'_j) W + b: linear in the hidden layers of both agents.

    The form of Deep Coordination Graphs, of which SOP-CG and CASEC have relatives. What agent i
    adds to the table of a pair does not depend on who the other one is.
    """

    agents: GroupNetwork
    num_actions: int = eqx.field(static=True)
    rank: int | None = eqx.field(static=True)
    offset_scale = None

    def __init__(
        self,
        encoder: Encoder[Any],
        *,
        rank: int | None = None,
        key: PRNGKey,
        **network: Unpack[HeadArguments],
    ) -> None:
        self.num_actions, self.rank = encoder.spec.num_actions, rank
        size = self.num_actions + 2 * _table_size(self.num_actions, rank)
        self.agents = _per_agent(encoder, size, key, network)

    def utilities(self, hidden: Hidden) -> Float[Array, "n a"]:
        """The first outputs of the network."""
        return hidden.units[:, : self.num_actions]

    def swapped(self, units: Float[Array, "n j"]) -> Float[Array, "n j"]:
        """Both halves behind the utilities exchanged."""
        own, p, r = self._split(units)
        return jnp.concatenate([own, r, p], axis=1)

    def of_pairs(
        self,
        first: Float[Array, "e j"],
        second: Float[Array, "e j"],
        apart: Float[Array, "e 2"] | None,
    ) -> Float[Array, "e a a"]:
        """The sum of what both agents add, p_i + r_j; p = h' W_1 and r = h' W_2 + b are outputs."""
        _, one_way, other_way = self._split(first + second)  # p_i + r_j, r_i + p_j
        return 0.5 * (self._tables(one_way) + self._tables(other_way).mT)

    def _split(self, hidden: Float[Array, "m j"]) -> list[Array]:
        half = (hidden.shape[1] - self.num_actions) // 2
        return jnp.split(hidden, [self.num_actions, self.num_actions + half], axis=1)

    def _tables(self, outputs: Float[Array, "e k"]) -> Float[Array, "e a a"]:
        if self.rank is None:
            return outputs.reshape(-1, self.num_actions, self.num_actions)
        return _factors(outputs, self.rank, self.num_actions)


def _table_size(num_actions: int, rank: int | None) -> int:
    if rank is None:
        return num_actions**2
    require_at_least(1, rank=rank)
    return 2 * rank * num_actions


def _per_agent(
    encoder: Encoder[Any], output_size: int, key: PRNGKey, network: HeadArguments
) -> GroupNetwork:
    n = encoder.spec.num_agents
    return GroupNetwork(
        num_agents=n,
        feature_size=encoder.feature_size,
        num_groups=n,
        group_size=1,
        output_size=output_size,
        key=key,
        **network,
    )
