"""The contract of a value: features give tables, tables give values and best actions."""

import abc
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_shape
from pairvdn.types import EnvSpec
from pairvdn.values.encoders import Encoder

Tables = TypeVar("Tables")


class Inputs(eqx.Module):
    """The inputs of a value's heads, with the shapes that the value was built for."""

    features: Float[Array, "n f"]
    state: Float[Array, " s"]
    positions: Float[Array, "n k"] | None = None

    def require_positions(self) -> Float[Array, "n k"]:
        """The positions; ValueError if none were given."""
        if self.positions is None:
            raise ValueError(
                "This value needs the positions of the agents: pass "
                "positions=env.positions(observation, state)."
            )
        return self.positions


class Value(eqx.Module, Generic[Tables]):
    """An estimate of the return of every joint action, for one example.

        features, carry = value.encoder(carry, observation)
        tables = value.tables(features, state, positions)
        actions, best = value.greedy(tables, mask)
        predicted = value.evaluate(tables, actions)

    Only `tables` runs the networks of the heads. `evaluate` and `greedy` are cheap and read its
    result, so a learner pays for one pass per observation. `num_heads` is the number of predictions
    per joint action: 1 for a joint value, one per agent for independent learners. Each has its own
    temporal-difference error, so no method is a special case for the learner.

    A method has an `encoder`, a `num_heads` (a class attribute or a static field), and implements
    `compute_tables`, `evaluate` and `greedy`.
    """

    encoder: eqx.AbstractVar[Encoder[Any]]
    num_heads: eqx.AbstractVar[int]

    @abc.abstractmethod
    def compute_tables(self, inputs: Inputs) -> Tables:
        """Run the networks of the heads."""

    @abc.abstractmethod
    def evaluate(self, tables: Tables, actions: Int32[Array, " n"]) -> Float[Array, " h"]:
        """The value of these actions, for each head; differentiable in the tables."""

    @abc.abstractmethod
    def greedy(
        self, tables: Tables, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " h"]]:
        """The best allowed joint action and its value for each head."""

    @property
    def spec(self) -> EnvSpec:
        """The sizes of the environment that this value was built for."""
        return self.encoder.spec

    def tables(
        self,
        features: Float[Array, "n f"],
        state: Float[Array, " s"],
        positions: Float[Array, "n k"] | None = None,
    ) -> Tables:
        """Check the shapes, which is free in a compiled program, and run the heads.

        Values that pair agents by position need `positions`.
        """
        require_shape(
            "features",
            features.shape,
            num_agents=self.spec.num_agents,
            feature_size=self.encoder.feature_size,
        )
        require_shape("state", state.shape, state_size=self.spec.state_size)
        return self.compute_tables(Inputs(features, state, positions))

    def tables_of(
        self,
        observation: Float[Array, "n o"],
        state: Float[Array, " s"],
        positions: Float[Array, "n k"] | None = None,
    ) -> Tables:
        """The tables of an observation without memory, as at the start of an episode."""
        features, _ = self.encoder(self.encoder.init_carry(), observation)
        return self.tables(features, state, positions)


@runtime_checkable
class ChoosesPairs(Protocol):
    """A value in which the joint action decides the pairs that count."""

    def evaluate_on(
        self, tables: Any, actions: Int32[Array, " n"], choosing: Any
    ) -> Float[Array, " h"]:
        """The value of these actions on the pairs that count according to the tables `choosing`."""
        ...


@runtime_checkable
class ReadsMask(Protocol):
    """A value in which the worth of an action depends on what else is allowed."""

    def with_mask(self, tables: Any, mask: Bool[Array, "n a"]) -> Any:
        """The tables for agents that may only take these actions."""
        ...


@runtime_checkable
class HasPenalty(Protocol):
    """A value that adds a term of its own to the loss."""

    def penalty(self, tables: Any) -> Float[Array, ""]:
        """The term for the tables of one example."""
        ...


def with_mask(value: Value[Tables], tables: Tables, mask: Bool[Array, "n a"] | None) -> Tables:
    """The tables for agents that may only take these actions; without a mask, all."""
    if mask is None or not isinstance(value, ReadsMask):
        return tables
    masked: Tables = value.with_mask(tables, mask)
    return masked


def second_opinion(
    value: Value[Tables], tables: Tables, actions: Int32[Array, " n"], choosing: Tables
) -> Float[Array, " h"]:
    """Double Q-learning: the worth of a choice of another network, whose tables are `choosing`.

    The choice is that of actions and, where the actions decide them, of pairs.
    """
    if isinstance(value, ChoosesPairs):
        return value.evaluate_on(tables, actions, choosing)
    return value.evaluate(tables, actions)


def penalty(value: Value[Tables], tables: Tables) -> Float[Array, ""]:
    """The value's own term of the loss; 0 for most."""
    return value.penalty(tables) if isinstance(value, HasPenalty) else jnp.float32(0)
