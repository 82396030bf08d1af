"""The contract of a value: networks give tables, tables give values and best actions."""

import abc
from typing import Generic, TypeVar

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int32

Tables = TypeVar("Tables")


class Value(eqx.Module, Generic[Tables]):
    """An estimate of the return of every joint action, for one example.

    `tables` is the only place where networks run; `evaluate` and `greedy` are cheap and use the
    same tables, so a learner pays for one pass per observation. A value has `num_heads` numbers per
    joint action: 1 for a joint value, one per agent for independent learners. Each head has its
    own temporal-difference error, so no method is a special case for the learner.
    """

    @property
    @abc.abstractmethod
    def num_heads(self) -> int:
        """How many numbers a joint action is worth: 1, or one per agent."""

    @abc.abstractmethod
    def tables(
        self,
        observation: Float[Array, "n o"],
        state: Float[Array, " s"],
        positions: Float[Array, "n k"] | None = None,
    ) -> Tables:
        """Run the networks. `positions` are given by environments that have them."""

    @abc.abstractmethod
    def evaluate(self, tables: Tables, actions: Int32[Array, " n"]) -> Float[Array, " h"]:
        """What these actions are worth, for each head; differentiable in the tables."""

    @abc.abstractmethod
    def greedy(
        self, tables: Tables, mask: Bool[Array, "n a"]
    ) -> tuple[Int32[Array, " n"], Float[Array, " h"]]:
        """The best allowed joint action and its value for each head."""


class Encoder(eqx.Module):
    """Temporary."""

    def init_carry(self):
        return ()

    def __call__(self, carry, observation):
        return observation, carry

    def acted(self, carry, actions):
        return carry


Value.encoder = property(lambda self: Encoder())
