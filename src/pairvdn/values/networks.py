"""Networks that give a table to every group of agents: one agent, a pair, or all of them."""

import itertools
import math
from typing import TypedDict

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.types import PRNGKey
from pairvdn.values.product import rows_product

ACTIVATIONS = {"relu": jax.nn.relu, "leaky_relu": jax.nn.leaky_relu}


class NetworkArguments(TypedDict, total=False):
    """The keyword arguments that every method hands on to its networks.

    | argument       | default      | meaning                                                     |
    |----------------|--------------|-------------------------------------------------------------|
    | `hidden_sizes` | (128, 128)   | widths of the hidden layers                                 |
    | `activation`   | "relu"       | or "leaky_relu"                                             |
    | `layer_norm`   | False        | normalise each hidden layer before its activation           |
    | `final_scale`  | 1.0          | factor on the initial last layer; small: values start near 0 |
    | `shared`       | True         | one network for all groups, or one network per group        |
    | `identifiers`  | True         | a shared network sees which agents its group has            |
    """

    hidden_sizes: tuple[int, ...]
    activation: str
    layer_norm: bool
    final_scale: float
    shared: bool
    identifiers: bool


class Mlp(eqx.Module):
    """A multi-layer perceptron on rows, or a stack of k of them, each on rows of its own.

    z_0 = x,  z_l = activation(z_(l-1) W_l + b_l),  y = z_(L-1) W_L + b_L,
    with W and b uniform in ±1/√(inputs) at first, and those of the last layer times `final_scale`.

    Some inputs may be 1 at a few known places and 0 elsewhere (one-hot identifiers). Those come
    as indices, `one_hot`, counted from the first input, and their rows of W_1 are looked up: the
    same sum as a product with the one-hot vectors, at a cost that does not grow with their length.
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
            raise ValueError(f"Layer sizes must be positive, but are {sizes}.")
        if activation not in ACTIVATIONS:
            known = ", ".join(map(repr, ACTIVATIONS))
            raise ValueError(f"activation must be one of {known}, but is {activation!r}.")
        if not (math.isfinite(final_scale) and final_scale >= 0):
            raise ValueError(f"final_scale must be finite and at least 0, but is {final_scale}.")
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

    def __call__(
        self, x: Float[Array, "*k r i"], one_hot: Int32[Array, "r m"] | None = None
    ) -> Float[Array, "*k r j"]:
        """Map rows of inputs to rows of outputs; `one_hot` not for stacked networks."""
        first, *others = self.weights
        z = rows_product(x, first[..., : x.shape[-1], :])
        if one_hot is not None:
            z = z + first[one_hot].sum(axis=-2)
        z = z + self.biases[0][..., None, :]
        for weight, bias in zip(others, self.biases[1:], strict=True):
            if self.layer_norm:
                z = normalise(z)
            z = rows_product(ACTIVATIONS[self.activation](z), weight) + bias[..., None, :]
        return z


def normalise(z: Float[Array, "*k j"]) -> Float[Array, "*k j"]:
    """LayerNorm without parameters: mean 0 and variance 1 over the last axis."""
    return jax.nn.standardize(z, axis=-1, epsilon=1e-5)


def bounded(state: Float[Array, " s"]) -> Float[Array, " s"]:
    """S / max(1, rms(s)): a state of ordinary size as it is, a large one shrunk to size 1.

    Unlike LayerNorm it does not erase a state of one number, or how large small states are.
    """
    return state / jnp.sqrt(jnp.maximum(1.0, jnp.mean(state**2)))


class GroupNetwork(eqx.Module):
    """A vector for each of g groups of m agents, from what the members of a group observe.

    The groups are m = 1 (an agent's utilities), m = 2 (a pair's table; the paper, eq. 2) or all
    agents (a joint table). This is the one place that knows how parameters are shared:

    - shared: one network for all groups, with input (o_1, ..., o_m, id_1, ..., id_m) of the
      members, where id is one-hot over the agents; without `identifiers` agents that observe the
      same are treated the same, whatever their number;
    - separate: the k-th group has a network of its own, with input (o_1, ..., o_m).

    `context_size` numbers about the group as a whole, where its members stand to each other say,
    follow the observations.
    """

    mlp: Mlp
    num_agents: int = eqx.field(static=True)
    shared: bool = eqx.field(static=True)
    identifiers: bool = eqx.field(static=True)

    def __init__(
        self,
        *,
        num_agents: int,
        observation_size: int,
        num_groups: int,
        group_size: int,
        output_size: int,
        context_size: int = 0,
        key: PRNGKey,
        shared: bool = True,
        identifiers: bool = True,
        hidden_sizes: tuple[int, ...] = (128, 128),
        activation: str = "relu",
        layer_norm: bool = False,
        final_scale: float = 1.0,
    ) -> None:
        sizes = {"num_agents": num_agents, "observation_size": observation_size}
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"{name} must be at least 1, but is {size}.")
        self.num_agents, self.shared = num_agents, shared
        self.identifiers = shared and identifiers
        self.mlp = Mlp(
            group_size * (observation_size + (num_agents if self.identifiers else 0))
            + context_size,
            output_size,
            hidden_sizes=tuple(hidden_sizes),
            activation=activation,
            layer_norm=layer_norm,
            final_scale=final_scale,
            stack=() if shared else (num_groups,),
            key=key,
        )

    def __call__(
        self,
        observation: Float[Array, "n o"],
        groups: Int32[Array, "g m"],
        context: Float[Array, "g c"] | None = None,
    ) -> Float[Array, "g j"]:
        """Run the network on the members of each group."""
        num_groups, size = groups.shape
        x = observation[groups].reshape(num_groups, size * observation.shape[1])
        if context is not None:
            x = jnp.concatenate([x, context], axis=1)
        if not self.shared:
            return self.mlp(x[:, None])[:, 0]
        if not self.identifiers:
            return self.mlp(x)
        first_id = x.shape[1] + self.num_agents * jnp.arange(size, dtype=jnp.int32)
        return self.mlp(x, one_hot=groups + first_id[None])
