"""Encoders: the features of each agent, from its observation and an optional memory."""

import abc
from typing import Any, Generic, Literal, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.checks import require_at_least, require_one_of, require_shape
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.networks import GroupNetwork, HeadArguments

Carry = TypeVar("Carry")

ENCODERS = ("none", "mlp")


class Encoder(eqx.Module, Generic[Carry]):
    """The features h_i of every agent i, which the heads of a value read.

    The carry of a recurrent encoder holds one hidden state per agent, and optionally the agents'
    last actions. An episode starts with `init_carry`, and every step returns the next carry:

        features, carry = encoder(carry, observation)
        carry = encoder.acted(carry, actions)
    """

    spec: eqx.AbstractVar[EnvSpec]
    feature_size: eqx.AbstractVar[int]

    def __check_init__(self) -> None:
        sizes = self.spec._asdict()
        sizes.pop("has_positions")
        require_at_least(1, **sizes, feature_size=self.feature_size)

    @abc.abstractmethod
    def init_carry(self) -> Carry:
        """The carry at the start of an episode; an empty tuple for feed-forward encoders."""

    @abc.abstractmethod
    def encode(
        self, carry: Carry, observation: Float[Array, "n o"]
    ) -> tuple[Float[Array, "n f"], Carry]:
        """The features and the next carry, for an observation of the right shape."""

    @abc.abstractmethod
    def acted(self, carry: Carry, actions: Int32[Array, " n"]) -> Carry:
        """The carry after these actions; feed-forward encoders return it unchanged."""

    def __call__(
        self, carry: Carry, observation: Float[Array, "n o"]
    ) -> tuple[Float[Array, "n f"], Carry]:
        """The features and the next carry; ValueError if the observation has another shape."""
        require_shape(
            "observation",
            observation.shape,
            num_agents=self.spec.num_agents,
            observation_size=self.spec.observation_size,
        )
        return self.encode(carry, observation)


class FeedForward(Encoder[tuple[()]]):
    """An encoder without memory: h = features(o)."""

    @abc.abstractmethod
    def features(self, observation: Float[Array, "n o"]) -> Float[Array, "n f"]:
        """The features of these observations."""

    def init_carry(self) -> tuple[()]:
        """Nothing to remember."""
        return ()

    def encode(
        self, carry: tuple[()], observation: Float[Array, "n o"]
    ) -> tuple[Float[Array, "n f"], tuple[()]]:
        """The features of this observation only."""
        return self.features(observation), carry

    def acted(self, carry: tuple[()], actions: Int32[Array, " n"]) -> tuple[()]:
        """Nothing to remember."""
        return carry


class NoEncoder(FeedForward):
    """h_i = o_i: the paper's networks, whose heads read the observations. No parameters."""

    spec: EnvSpec = eqx.field(static=True)
    feature_size: int = eqx.field(static=True)

    def __init__(self, spec: EnvSpec) -> None:
        self.spec, self.feature_size = spec, spec.observation_size

    def features(self, observation: Float[Array, "n o"]) -> Float[Array, "n f"]:
        """The observations themselves."""
        return observation


class MlpEncoder(FeedForward):
    """h_i = activation(W_2 activation(W_1 (o_i, id_i) + b_1) + b_2), both layers of width `size`.

    Activation, normalisation and parameter sharing are those of the heads.
    """

    spec: EnvSpec = eqx.field(static=True)
    feature_size: int = eqx.field(static=True)
    network: GroupNetwork

    def __init__(self, spec: EnvSpec, size: int, *, key: PRNGKey, heads: HeadArguments) -> None:
        require_at_least(1, encoder_size=size)
        self.spec, self.feature_size = spec, size
        own: HeadArguments = {**heads, "hidden_sizes": (size,), "final_scale": 1.0}
        self.network = GroupNetwork(
            num_agents=spec.num_agents,
            feature_size=spec.observation_size,
            num_groups=spec.num_agents,
            group_size=1,
            output_size=size,
            key=key,
            **own,
        )

    def features(self, observation: Float[Array, "n o"]) -> Float[Array, "n f"]:
        """Run the network on each agent's observation."""
        everyone = jnp.arange(observation.shape[0], dtype=jnp.int32)
        return self.network.mlp.activate(self.network(observation, everyone[:, None]))


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
) -> tuple[Encoder[Any], PRNGKey, HeadArguments]:
    """The encoder that these `NetworkArguments` name, and the key and arguments for the heads.

    This signature holds the default of every network argument. Without an encoder the heads get
    the undivided `key`.
    """
    require_one_of(ENCODERS, encoder=encoder)
    heads: HeadArguments = {
        "hidden_sizes": tuple(hidden_sizes),
        "activation": activation,
        "layer_norm": layer_norm,
        "final_scale": final_scale,
        "shared": shared,
        "identifiers": identifiers,
    }
    if encoder == "none":
        return NoEncoder(spec), key, heads
    key, encoder_key = jax.random.split(key)
    return MlpEncoder(spec, encoder_size, key=encoder_key, heads=heads), key, heads
