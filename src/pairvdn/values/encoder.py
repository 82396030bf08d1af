"""The contract of an encoder, and the network that reads the inputs of each agent."""

import abc
from collections.abc import Collection
from typing import Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_at_least, require_shape
from pairvdn.types import EnvSpec, PRNGKey
from pairvdn.values.networks import GroupNetwork, HeadArguments

Carry = TypeVar("Carry")

NO_ACTION = -1  # the last action at the start of an episode

LastActions = Int32[Array, " n"] | tuple[()]  # empty if the encoder does not see them


class Encoder(eqx.Module, Generic[Carry]):
    """The features h_i of every agent i, which the heads of a value read.

    The carry is the memory within an episode: the hidden states of the agents, their last actions,
    or nothing. An episode starts with `init_carry`, and every step returns the next carry:

        features, carry = encoder(carry, observation)
        carry = encoder.acted(carry, actions)

    `unroll` is the same for all steps of a sequence.
    """

    spec: eqx.AbstractVar[EnvSpec]
    feature_size: eqx.AbstractVar[int]

    def __check_init__(self) -> None:
        sizes = self.spec._asdict()
        sizes.pop("has_positions")
        require_at_least(1, **sizes, feature_size=self.feature_size)

    @property
    def has_memory(self) -> bool:
        """Whether features depend on earlier steps of the episode."""
        return bool(jax.tree.leaves(jax.eval_shape(lambda: self.init_carry())))

    @abc.abstractmethod
    def init_carry(self) -> Carry:
        """The carry at the start of an episode; an empty tuple without memory."""

    @abc.abstractmethod
    def encode(
        self, carry: Carry, observation: Float[Array, "n o"]
    ) -> tuple[Float[Array, "n f"], Carry]:
        """The features and the next carry, for an observation of the right shape."""

    @abc.abstractmethod
    def acted(self, carry: Carry, actions: Int32[Array, " n"]) -> Carry:
        """The carry after these actions; without memory of actions, the same carry."""

    @abc.abstractmethod
    def unroll(
        self,
        carry: Carry,
        observation: Float[Array, "t n o"],
        actions: Int32[Array, "t n"],
        ended: Bool[Array, " t"],
    ) -> tuple[Float[Array, "t n f"], Carry]:
        """The features of a sequence and the carry after it: `unroll_step_by_step`, but fast.

        Where a step `ended` an episode, the next one starts with `init_carry`.
        """

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


def unroll_step_by_step(
    encoder: Encoder[Carry],
    carry: Carry,
    observation: Float[Array, "t n o"],
    actions: Int32[Array, "t n"],
    ended: Bool[Array, " t"],
) -> tuple[Float[Array, "t n f"], Carry]:
    """The definition of `Encoder.unroll`: one step after another, as a policy acts."""

    def step(carry: Carry, seen: tuple[Array, Array, Array]) -> tuple[Carry, Array]:
        observation, actions, ended = seen
        features, carry = encoder(carry, observation)
        carry = encoder.acted(carry, actions)
        return optax.tree.where(ended, encoder.init_carry(), carry), features

    carry, features = jax.lax.scan(step, carry, (observation, actions, ended))
    return features, carry


class InputNetwork(eqx.Module):
    """activation(x_i W_1 + b_1) W_2 + b_2 with x_i = (o_i, last action of i, identifier of i).

    The last action, one-hot, and the identifier are optional (`inputs`). Activation, normalisation
    and parameter sharing are those of the heads.
    """

    network: GroupNetwork
    num_actions: int = eqx.field(static=True)
    sees_actions: bool = eqx.field(static=True)

    def __init__(
        self,
        spec: EnvSpec,
        output_size: int,
        *,
        size: int,
        inputs: Collection[str],
        key: PRNGKey,
        heads: HeadArguments,
    ) -> None:
        require_at_least(1, encoder_size=size)
        self.num_actions, self.sees_actions = spec.num_actions, "action" in inputs
        own: HeadArguments = {**heads, "hidden_sizes": (size,), "final_scale": 1.0}
        own["identifiers"] = heads["identifiers"] and "identifier" in inputs
        self.network = GroupNetwork(
            num_agents=spec.num_agents,
            feature_size=spec.observation_size,
            num_groups=spec.num_agents,
            group_size=1,
            output_size=output_size,
            context_size=spec.num_actions if self.sees_actions else 0,
            key=key,
            **own,
        )

    def __call__(self, observation: Float[Array, "n o"], last: LastActions) -> Float[Array, "n j"]:
        """Run the network on each agent's inputs."""
        everyone = jnp.arange(observation.shape[0], dtype=jnp.int32)[:, None]
        if not self.sees_actions:
            return self.network(observation, everyone)
        return self.network(observation, everyone, jax.nn.one_hot(last, self.num_actions))

    def no_actions(self) -> LastActions:
        """The last actions at the start of an episode."""
        agents = self.network.num_agents
        return jnp.full(agents, NO_ACTION, jnp.int32) if self.sees_actions else ()

    def remembered(self, last: LastActions, actions: Int32[Array, " n"]) -> LastActions:
        """The last actions after these."""
        return actions if self.sees_actions else last

    def unroll(
        self,
        last: LastActions,
        observation: Float[Array, "t n o"],
        actions: Int32[Array, "t n"],
        ended: Bool[Array, " t"],
    ) -> tuple[Float[Array, "t n j"], LastActions]:
        """The outputs for a whole sequence at once, and the last actions after it."""
        if not self.sees_actions:
            return jax.vmap(lambda seen: self(seen, ()))(observation), last
        after = jnp.where(ended[:, None], NO_ACTION, actions)
        before = jnp.concatenate([jnp.asarray(last)[None], after[:-1]])
        return jax.vmap(self)(observation, before), after[-1]
