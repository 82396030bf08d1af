"""QMIX: the joint value is a monotonic network of the agents' utilities."""

from typing import Any, Literal, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_at_least, require_one_of
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.base import Inputs, Value
from pairvdn.values.encoders import Encoder, make_encoder
from pairvdn.values.heads import UtilityHead
from pairvdn.values.networks import Mlp, NetworkArguments, bounded
from pairvdn.values.rows import rows_product
from pairvdn.values.utilities import best, chosen

MIXING_ACTIVATIONS = {"elu": jax.nn.elu, "relu": jax.nn.relu}


class Generator(eqx.Module):
    """A linear hypernetwork: s ↦ s W + b, the parameters of a layer as a function of the state."""

    weight: Float[Array, "s j"]
    bias: Float[Array, " j"]

    def __init__(
        self, state_size: int, output_size: int, *, weight_var: float, bias_var: float, key: PRNGKey
    ) -> None:
        weight_key, bias_key = jax.random.split(key)
        weight = jax.random.normal(weight_key, (state_size, output_size), dtype=jnp.float32)
        bias = jax.random.normal(bias_key, (output_size,), dtype=jnp.float32)
        self.weight, self.bias = weight_var**0.5 * weight, bias_var**0.5 * bias

    def __call__(self, state: Float[Array, " s"]) -> Float[Array, " j"]:
        """The generated parameters, flat."""
        return rows_product(state[None], self.weight)[0] + self.bias


class Mixer(eqx.Module):
    """A monotonic network for one state: Q(q) = activation(q |W_1| + b_1) · |w_2| + b_2."""

    weight_1: Float[Array, "n m"]
    bias_1: Float[Array, " m"]
    weight_2: Float[Array, " m"]
    bias_2: Float[Array, ""]
    activation: str = eqx.field(static=True)

    def __call__(self, utilities: Float[Array, " n"]) -> Float[Array, ""]:
        """Mix the utility of one action per agent; never decreases in any of them."""
        hidden = MIXING_ACTIVATIONS[self.activation](
            utilities @ jnp.abs(self.weight_1) + self.bias_1
        )
        return hidden @ jnp.abs(self.weight_2) + self.bias_2


class HyperMixer(eqx.Module):
    """Hypernetworks that make a `Mixer` from the global state.

    Initially the generated W_1 and w_2 have variance 1/(inputs of their layer), the fan-in rule
    for generated weights of arXiv 2312.08399. The paper assumes state entries of variance 1 and
    puts this variance into the weights of the hypernetwork. But generated weights are proportional
    to the state and multiply each other: gradient steps grow with the fourth power of a large
    state, and a state of zeros gives weights of 0 with gradient 0.

    `bounded_state` (the default) passes s / (√size · max(1, rms(s))), of length at most 1, to the
    hypernetworks and splits the variance evenly between their weights and biases: the same spread
    of initial mixers, and gradient steps that depend on neither the scale nor the length of the
    state. It also starts with b_1 = 0 and b_2 small. False is the paper's form.
    """

    weight_1: Generator
    bias_1: Generator
    weight_2: Generator
    bias_2: Mlp
    num_agents: int = eqx.field(static=True)
    bounded_state: bool = eqx.field(static=True)
    activation: str = eqx.field(static=True)

    def __init__(
        self,
        *,
        num_agents: int,
        state_size: int,
        mixing_size: int,
        mixing_activation: str,
        bounded_state: bool,
        key: PRNGKey,
    ) -> None:
        require_at_least(1, mixing_size=mixing_size)
        require_one_of(MIXING_ACTIVATIONS, mixing_activation=mixing_activation)
        keys = jax.random.split(key, 4)

        def generator(outputs: int, variance: float, key: PRNGKey) -> Generator:
            weight_var = variance / 2 if bounded_state else variance / state_size
            bias_var = variance / 2 if bounded_state else 0.0
            return Generator(state_size, outputs, weight_var=weight_var, bias_var=bias_var, key=key)

        self.weight_1 = generator(num_agents * mixing_size, 1 / num_agents, keys[0])
        self.bias_1 = generator(mixing_size, 0.0 if bounded_state else 0.5, keys[1])
        self.weight_2 = generator(mixing_size, 1 / mixing_size, keys[2])
        self.bias_2 = Mlp(
            state_size,
            1,
            hidden_sizes=(mixing_size,),
            final_scale=0.01 if bounded_state else 1.5**0.5,
            key=keys[3],
        )
        self.num_agents, self.bounded_state = num_agents, bounded_state
        self.activation = mixing_activation

    def __call__(self, state: Float[Array, " s"]) -> Mixer:
        """The mixer of this state."""
        final = state
        if self.bounded_state:
            final = bounded(state)
            state = final / state.shape[0] ** 0.5
        return Mixer(
            weight_1=self.weight_1(state).reshape(self.num_agents, -1),
            bias_1=self.bias_1(state),
            weight_2=self.weight_2(state),
            bias_2=self.bias_2(final[None])[0, 0],
            activation=self.activation,
        )


class QmixTables(eqx.Module):
    """The agents' utilities and the mixer of the present state."""

    utilities: Float[Array, "n a"]
    mixer: Mixer


class Qmix(Value[QmixTables]):
    """Q(o, s, a) = mixer_s(Q_1(h_1, a_1), ..., Q_n(h_n, a_n)) (Rashid et al., arXiv 1803.11485).

    The paper's settings: mixing_size=16, mixing_activation="relu", bounded_state=False.

    Args:
        mixing_size: width of the mixer's hidden layer.
        mixing_activation: activation function of the mixer.
        bounded_state: scale the state to length at most 1 before it enters the hypernetworks.
    """

    encoder: Encoder[Any]
    agents: UtilityHead
    hyper: HyperMixer
    num_heads = 1

    def __init__(
        self,
        spec: EnvSpec,
        *,
        mixing_size: int = 32,
        mixing_activation: Literal["elu", "relu"] = "elu",
        bounded_state: bool = True,
        key: PRNGKey,
        **network: Unpack[NetworkArguments],
    ) -> None:
        self.encoder, key, heads = make_encoder(spec, key=key, **network)
        agent_key, hyper_key = jax.random.split(key)
        self.agents = UtilityHead(self.encoder, key=agent_key, **heads)
        self.hyper = HyperMixer(
            num_agents=spec.num_agents,
            state_size=spec.state_size,
            mixing_size=mixing_size,
            mixing_activation=mixing_activation,
            bounded_state=bounded_state,
            key=hyper_key,
        )

    def compute_tables(self, inputs: Inputs) -> QmixTables:
        """Q_i(h_i, ·) and the mixer."""
        return QmixTables(utilities=self.agents(inputs), mixer=self.hyper(inputs.state))

    def evaluate(self, tables: QmixTables, actions: Int32[Array, " n"]) -> Float[Array, " 1"]:
        """The mixer of Q_i(h_i, a_i)."""
        return tables.mixer(chosen(tables.utilities, actions))[None]

    def greedy(
        self, tables: QmixTables, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " 1"]]:
        """Each agent's own best action: the mixer never decreases, so nothing is larger."""
        actions, values = best(tables.utilities, mask)
        decided = (actions >= 0).all()
        # An infinite utility must not reach the mixer, where 0 · inf would be NaN.
        value = tables.mixer(jnp.where(decided, values, 0.0))
        value = jnp.where(decided, value, values.sum())
        return jnp.where(decided, actions, -1), value[None]

    def utilities(self, tables: QmixTables) -> Float[Array, "n a"]:
        """The utilities that enter the mixer."""
        return tables.utilities
