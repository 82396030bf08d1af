"""The contract of a value: features give tables, tables give values and best actions."""

import abc
from typing import Any, Generic, TypeVar

import equinox as eqx
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
