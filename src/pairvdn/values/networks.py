"""Networks that compute a table for every group of agents: one agent, a pair, or all."""

import itertools
import math
from functools import partial
from typing import Literal, TypedDict, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.checks import number_within, require_one_of
from pairvdn.types import PRNGKey
from pairvdn.values.rows import rows_product

ACTIVATIONS = {"relu": jax.nn.relu, "leaky_relu": jax.nn.leaky_relu}
SLOPES = {"relu": 0.0, "leaky_relu": 0.01}  # of the activations below 0


class LayerArguments(TypedDict, total=False):
    """The keyword arguments of every `Mlp`; see `NetworkArguments`."""

    hidden_sizes: tuple[int, ...]
    activation: Literal["relu", "leaky_relu"]
    layer_norm: bool
    final_scale: float


class HeadArguments(LayerArguments, total=False):
    """The keyword arguments of every head; see `NetworkArguments`."""

    shared: bool
    identifiers: bool


class NetworkArguments(HeadArguments, total=False):
    """The keyword arguments that every method passes to its networks.

    Their defaults are those of `encoders.make_encoder`.

    Attributes:
        hidden_sizes: widths of the hidden layers of each head.
        activation: activation function of the hidden layers.
        layer_norm: normalise each hidden layer before its activation.
        final_scale: factor on the initial last layer; with a small one, values start near 0.
        shared: one network for all agents or pairs, or a separate one for each.
        identifiers: whether a shared network sees which agents it is computing for.
        encoder: network that turns each agent's inputs into the features that the heads read: a
            perceptron, or a recurrent unit with a memory; with `none` they read the observation.
        encoder_size: width of the encoder, and number of features per agent.
        inputs: inputs of the encoder: the observation and, if listed, the agent's last action and
            its identifier (which `identifiers` can switch off everywhere).
    """

    encoder: Literal["none", "mlp", "gru"]
    encoder_size: int
    inputs: tuple[Literal["observation", "action", "identifier"], ...]


class Mlp(eqx.Module):
    """A multi-layer perceptron on rows, or a stack of k of them, each with its own rows.

    z_0 = x,  z_l = activation(z_(l-1) W_l + b_l),  y = z_(L-1) W_L + b_L,
    with W and b initially uniform in ±1/√(inputs), and those of the last layer times `final_scale`.
    """

    weights: tuple[Float[Array, "*k i j"], ...]
    biases: tuple[Float[Array, "*k j"], ...]
    activation: str = eqx.field(static=True)
    layer_norm: bool = eqx.field(static=True)

    def __init__(
        self,
        input_size: int,
        output_size: int,
        *,
        hidden_sizes: tuple[int, ...] = (128, 128),
        activation: str = "relu",
        layer_norm: bool = False,
        final_scale: float = 1.0,
        stack: tuple[int, ...] = (),
        key: PRNGKey,
    ) -> None:
        sizes = (input_size, *hidden_sizes, output_size)
        if min(sizes) < 1:
            raise ValueError(f"Layer sizes must be at least 1, not {sizes}.")
        require_one_of(ACTIVATIONS, activation=activation)
        number_within("final_scale", final_scale, 0, math.inf)
        weights, biases = [], []
        for layer, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
            key, weight_key, bias_key = jax.random.split(key, 3)
            bound = inputs**-0.5 * (final_scale if layer == len(hidden_sizes) else 1.0)
            shape = (*stack, inputs, outputs)
            weights.append(jax.random.uniform(weight_key, shape, jnp.float32, -bound, bound))
            shape = (*stack, outputs)
            biases.append(jax.random.uniform(bias_key, shape, jnp.float32, -bound, bound))
        self.weights, self.biases = tuple(weights), tuple(biases)
        self.activation, self.layer_norm = activation, layer_norm

    def __call__(self, x: Float[Array, "*k r i"]) -> Float[Array, "*k r j"]:
        """Map rows of inputs to rows of outputs."""
        return self.after_first_product(rows_product(x, self.weights[0]))

    def after_first_product(self, z: Float[Array, "*k r i"]) -> Float[Array, "*k r j"]:
        """The outputs for z = x W_1, a product that callers may compute in another way."""
        z = z + self.biases[0][..., None, :]
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            z = rows_product(self.activate(z), weight) + bias[..., None, :]
        return z

    def activate(self, z: Float[Array, "*k r j"]) -> Float[Array, "*k r j"]:
        """The activation of a hidden layer, after the optional normalisation."""
        if self.layer_norm:
            return normalised(z, SLOPES[self.activation])
        return ACTIVATIONS[self.activation](z)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def normalised(z: Float[Array, "*k j"], slope: float) -> Float[Array, "*k j"]:
    """max(y, slope y) of y = LayerNorm(z) without parameters: mean 0 and variance 1 of each row.

    The mean of a row is a product with a column, which a CPU computes several times faster than a
    sum along the last axis, and the gradient is written out: two such means instead of many.
    """
    return _normalise(z, slope)[0]


def _normalise(z: Array, slope: float) -> tuple[Array, tuple[Array, Array]]:
    centred = z - _row_means(z)
    scale = jax.lax.rsqrt(_row_means(centred**2) + 1e-5)
    y = centred * scale
    return jnp.where(y >= 0, y, slope * y), (y, scale)


def _normalise_gradient(slope: float, kept: tuple[Array, Array], by: Array) -> tuple[Array]:
    y, scale = kept
    by = jnp.where(y >= 0, by, slope * by)
    return (scale * (by - _row_means(by) - y * _row_means(by * y)),)


def _row_means(z: Array) -> Array:
    size = z.shape[-1]
    column = jnp.full((size, 1), 1 / size, z.dtype)
    return rows_product(z.reshape(-1, size), column).reshape(*z.shape[:-1], 1)


normalised.defvjp(_normalise, _normalise_gradient)


def bounded(state: Float[Array, " s"]) -> Float[Array, " s"]:
    """S / max(1, rms(s)): shrinks large states to size 1 and leaves others unchanged.

    Unlike LayerNorm it preserves a state of one number, and the size of small states.
    """
    return state / jnp.sqrt(jnp.maximum(1.0, jnp.mean(state**2)))


class GroupNetwork(eqx.Module):
    """A vector for each of g groups of m agents, from the features of the group's members.

    The groups are m = 1 (an agent's utilities), m = 2 (a pair's table; the paper, eq. 2) or all
    agents (a joint table). Only this class knows how parameters are shared:

    - shared: one network for all groups, with input (h_1, ..., h_m, context, id_1, ..., id_m),
      where h are the features of the members and id is one-hot over the agents; without
      `identifiers`, agents with the same features are treated the same;
    - separate: one network per group, with input (h_1, ..., h_m, context).

    `context_size` numbers describe the group as a whole, for example the distances in it.

    The first layer of a shared network is W_1 h_1 + ... + W_m h_m + (context and identifiers). If
    there are more groups than agents, W_k h_i is computed once for each agent and looked up by
    each group: the products grow with n, not with g.
    """

    mlp: Mlp
    num_agents: int = eqx.field(static=True)
    shared: bool = eqx.field(static=True)
    identifiers: bool = eqx.field(static=True)

    def __init__(
        self,
        *,
        num_agents: int,
        feature_size: int,
        num_groups: int,
        group_size: int,
        output_size: int,
        context_size: int = 0,
        shared: bool = True,
        identifiers: bool = True,
        key: PRNGKey,
        **layers: Unpack[LayerArguments],
    ) -> None:
        self.num_agents, self.shared = num_agents, shared
        self.identifiers = shared and identifiers
        per_member = feature_size + (num_agents if self.identifiers else 0)
        self.mlp = Mlp(
            group_size * per_member + context_size,
            output_size,
            stack=() if shared else (num_groups,),
            key=key,
            **layers,
        )

    def __call__(
        self,
        features: Float[Array, "n f"],
        groups: Int32[Array, "g m"],
        context: Float[Array, "g c"] | None = None,
    ) -> Float[Array, "g j"]:
        """Run the network on the members of each group."""
        if not self.shared:
            return self.mlp(_joined(features, groups, context)[:, None])[:, 0]
        per_agent = groups.shape[0] > features.shape[0]
        first = self.product_per_agent if per_agent else self.product_per_group
        return self.mlp.after_first_product(first(features, groups, context))

    def product_per_group(
        self,
        features: Float[Array, "n f"],
        groups: Int32[Array, "g m"],
        context: Float[Array, "g c"] | None = None,
    ) -> Float[Array, "g j"]:
        """The first layer of a shared network, before its bias, as one product for each group.

        The rows of W for identifiers are looked up: the same sum as a product with the one-hot
        vectors, at a cost independent of their length.
        """
        x, weight = _joined(features, groups, context), self.mlp.weights[0]
        z = rows_product(x, weight[: x.shape[1]])
        if self.identifiers:
            members = jnp.arange(groups.shape[1], dtype=jnp.int32)
            z = z + weight[groups + (x.shape[1] + self.num_agents * members)[None]].sum(axis=-2)
        return z

    def product_per_agent(
        self,
        features: Float[Array, "n f"],
        groups: Int32[Array, "g m"],
        context: Float[Array, "g c"] | None = None,
    ) -> Float[Array, "g j"]:
        """`product_per_group` up to rounding, with one product for each agent and member k.

        z_g = Σ_k (W_k h_i + U_k id_i) for the members i = groups[g, k], plus V context_g.
        """
        (num_agents, size), members = features.shape, groups.shape[1]
        weight = self.mlp.weights[0]
        context_size = 0 if context is None else context.shape[1]
        seen, about, known = jnp.split(weight, [members * size, members * size + context_size])
        by_member = jnp.moveaxis(seen.reshape(members, size, -1), 0, 1)  # f, m, j
        z = rows_product(features, by_member.reshape(size, -1)).reshape(num_agents, members, -1)
        if self.identifiers:
            z = z + jnp.moveaxis(known.reshape(members, num_agents, -1), 0, 1)
        total = z[groups, jnp.arange(members)[None]].sum(axis=1)
        return total if context is None else total + rows_product(context, about)


def _joined(
    features: Float[Array, "n f"],
    groups: Int32[Array, "g m"],
    context: Float[Array, "g c"] | None,
) -> Float[Array, "g i"]:
    """The features of each group's members side by side, followed by its context."""
    x = features[groups].reshape(groups.shape[0], -1)
    return x if context is None else jnp.concatenate([x, context], axis=1)
