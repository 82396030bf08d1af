"""Encoders: the features of each agent, from its observation and an optional memory."""

from collections.abc import Callable, Collection
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_one_of
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.encoder import Encoder, InputNetwork, LastActions
from pairvdn.values.networks import HeadArguments
from pairvdn.values.rows import rows_product

__all__ = ["Encoder", "GruEncoder", "MlpEncoder", "NoEncoder", "make_encoder"]

ENCODERS = ("none", "mlp", "gru")
INPUTS = ("observation", "action", "identifier")


class NoEncoder(Encoder[tuple[()]]):
    """h_i = o_i: the paper's networks, whose heads read the observations. No parameters."""

    spec: EnvSpec = eqx.field(static=True)
    feature_size: int = eqx.field(static=True)

    def __init__(self, spec: EnvSpec) -> None:
        self.spec, self.feature_size = spec, spec.observation_size

    def init_carry(self) -> tuple[()]:
        """Nothing to remember."""
        return ()

    def encode(
        self, carry: tuple[()], observation: Float[Array, "n o"]
    ) -> tuple[Float[Array, "n f"], tuple[()]]:
        """The observations themselves."""
        return observation, carry

    def acted(self, carry: tuple[()], actions: Int32[Array, " n"]) -> tuple[()]:
        """Nothing to remember."""
        return carry

    def unroll(
        self,
        carry: tuple[()],
        observation: Float[Array, "t n o"],
        actions: Int32[Array, "t n"],
        ended: Bool[Array, " t"],
    ) -> tuple[Float[Array, "t n f"], tuple[()]]:
        """The observations themselves."""
        return observation, carry


class MlpEncoder(Encoder[LastActions]):
    """h_i = activation(W_2 activation(W_1 x_i + b_1) + b_2), both layers of width `size`.

    The inputs x_i are those of `InputNetwork`; the only memory is that of the last action.
    """

    spec: EnvSpec = eqx.field(static=True)
    feature_size: int = eqx.field(static=True)
    inputs: InputNetwork

    def __init__(
        self,
        spec: EnvSpec,
        size: int,
        *,
        inputs: Collection[str],
        key: PRNGKey,
        heads: HeadArguments,
    ) -> None:
        self.spec, self.feature_size = spec, size
        self.inputs = InputNetwork(spec, size, size=size, inputs=inputs, key=key, heads=heads)

    def init_carry(self) -> LastActions:
        """No last action."""
        return self.inputs.no_actions()

    def encode(
        self, carry: LastActions, observation: Float[Array, "n o"]
    ) -> tuple[Float[Array, "n f"], LastActions]:
        """Run the network on each agent's inputs."""
        return self._activate(self.inputs(observation, carry)), carry

    def acted(self, carry: LastActions, actions: Int32[Array, " n"]) -> LastActions:
        """Remember the actions if they are inputs."""
        return self.inputs.remembered(carry, actions)

    def unroll(
        self,
        carry: LastActions,
        observation: Float[Array, "t n o"],
        actions: Int32[Array, "t n"],
        ended: Bool[Array, " t"],
    ) -> tuple[Float[Array, "t n f"], LastActions]:
        """All steps at once."""
        outputs, carry = self.inputs.unroll(carry, observation, actions, ended)
        return self._activate(outputs), carry

    def _activate(self, outputs: Float[Array, "*t n f"]) -> Float[Array, "*t n f"]:
        return self.inputs.network.mlp.activate(outputs)


class GruCarry(eqx.Module):
    """The memory of a recurrent encoder."""

    hidden: Float[Array, "n f"]
    last_actions: LastActions


class GruEncoder(Encoder[GruCarry]):
    """A gated recurrent unit for each agent (Cho et al., arXiv 1406.1078), behind one hidden layer.

    With (i_r, i_z, i_n) the outputs of `InputNetwork` and (u_r, u_z, u_n) = h U:

        r = σ(i_r + u_r),  z = σ(i_z + u_z),  m = tanh(i_n + r (u_n + b)),  h' = (1 - z) m + z h.

    The features are h', initially 0. `size` is the width of h and of the hidden layer.
    """

    spec: EnvSpec = eqx.field(static=True)
    feature_size: int = eqx.field(static=True)
    inputs: InputNetwork
    recurrent: Float[Array, "*k f g"]
    bias: Float[Array, "*k f"]

    def __init__(
        self,
        spec: EnvSpec,
        size: int,
        *,
        inputs: Collection[str],
        key: PRNGKey,
        heads: HeadArguments,
    ) -> None:
        input_key, weight_key, bias_key = jax.random.split(key, 3)
        self.spec, self.feature_size = spec, size
        self.inputs = InputNetwork(
            spec, 3 * size, size=size, inputs=inputs, key=input_key, heads=heads
        )
        stack = () if heads["shared"] else (spec.num_agents,)
        bound = size**-0.5
        self.recurrent = jax.random.uniform(
            weight_key, (*stack, size, 3 * size), jnp.float32, -bound, bound
        )
        self.bias = jax.random.uniform(bias_key, (*stack, size), jnp.float32, -bound, bound)

    def init_carry(self) -> GruCarry:
        """Zeros, and no last action."""
        hidden = jnp.zeros((self.spec.num_agents, self.feature_size))
        return GruCarry(hidden, self.inputs.no_actions())

    def encode(
        self, carry: GruCarry, observation: Float[Array, "n o"]
    ) -> tuple[Float[Array, "n f"], GruCarry]:
        """One step of the unit."""
        hidden = self._step(carry.hidden, self.inputs(observation, carry.last_actions))
        return hidden, GruCarry(hidden, carry.last_actions)

    def acted(self, carry: GruCarry, actions: Int32[Array, " n"]) -> GruCarry:
        """Remember the actions if they are inputs."""
        return GruCarry(carry.hidden, self.inputs.remembered(carry.last_actions, actions))

    def unroll(
        self,
        carry: GruCarry,
        observation: Float[Array, "t n o"],
        actions: Int32[Array, "t n"],
        ended: Bool[Array, " t"],
    ) -> tuple[Float[Array, "t n f"], GruCarry]:
        """The inputs of all steps in one product; only the product with h is sequential."""
        outputs, last = self.inputs.unroll(carry.last_actions, observation, actions, ended)

        def step(hidden: Array, seen: tuple[Array, Array]) -> tuple[Array, Array]:
            output, ended = seen
            hidden = self._step(hidden, output)
            return jnp.where(ended, 0.0, hidden), hidden

        hidden, features = jax.lax.scan(step, carry.hidden, (outputs, ended))
        return features, GruCarry(hidden, last)

    def _step(
        self, hidden: Float[Array, "n f"], inputs: Float[Array, "n g"]
    ) -> Float[Array, "n f"]:
        if self.recurrent.ndim == 2:
            products, bias = rows_product(hidden, self.recurrent), self.bias[None]
        else:  # one unit for each agent
            products, bias = rows_product(hidden[:, None], self.recurrent)[:, 0], self.bias
        reset_in, update_in, new_in = jnp.split(inputs, 3, axis=-1)
        reset_on, update_on, new_on = jnp.split(products, 3, axis=-1)
        reset = jax.nn.sigmoid(reset_in + reset_on)
        update = jax.nn.sigmoid(update_in + update_on)
        new = jnp.tanh(new_in + reset * (new_on + bias))
        return new + update * (hidden - new)


def make_encoder(
    spec: EnvSpec,
    *,
    key: PRNGKey,
    hidden_sizes: tuple[int, ...] = (128, 128),
    activation: Literal["relu", "leaky_relu"] = "relu",
    layer_norm: bool = False,
    final_scale: float = 1.0,
    shared: bool = True,
    identifiers: bool = True,
    encoder: str = "none",
    encoder_size: int = 64,
    inputs: tuple[str, ...] = ("observation", "identifier"),
) -> tuple[Encoder[Any], PRNGKey, HeadArguments]:
    """The encoder that these `NetworkArguments` name, and the key and arguments for the heads.

    This signature holds the default of every network argument. Without an encoder the heads get
    the undivided `key`.
    """
    require_one_of(ENCODERS, encoder=encoder)
    for name in inputs:
        require_one_of(INPUTS, inputs=name)
    if "observation" not in inputs:
        raise ValueError(f"inputs must include 'observation', not only {', '.join(inputs)}.")
    heads: HeadArguments = {
        "hidden_sizes": tuple(hidden_sizes),
        "activation": activation,
        "layer_norm": layer_norm,
        "final_scale": final_scale,
        "shared": shared,
        "identifiers": identifiers,
    }
    if encoder == "none":
        if "action" in inputs:
            raise ValueError("inputs with 'action' need an encoder: choose encoder mlp or gru.")
        return NoEncoder(spec), key, heads
    key, encoder_key = jax.random.split(key)
    build: Callable[..., Encoder[Any]] = MlpEncoder if encoder == "mlp" else GruEncoder
    return build(spec, encoder_size, inputs=inputs, key=encoder_key, heads=heads), key, heads
