"""Policies: how a team chooses its joint action at every agent step.

A policy has a carry, its memory within an episode:

    carry = policy.init(key)                             # where an episode starts
    actions, carry = policy.act(key, carry, timestep)    # at every agent step

Policies are written for one environment. `side_by_side` batches one for many environments.
"""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int32, PyTree

from pairvdn.acting.exploration import explore, random_actions
from pairvdn.envs import HasPositions, Task
from pairvdn.types import PRNGKey, TimeStep
from pairvdn.values import Encoder, Value


class Policy(eqx.Module):
    """Chooses the joint action of a team in one environment."""

    @abc.abstractmethod
    def init(self, key: PRNGKey) -> PyTree[Array]:
        """The carry at the start of an episode; an empty tuple for policies without memory."""

    @abc.abstractmethod
    def act(
        self, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep
    ) -> tuple[Int32[Array, " n"], PyTree[Array]]:
        """The joint action for this time step, and the next carry."""


class RandomPolicy(Policy):
    """Uniformly random allowed actions.

    Given an encoder, its memory sees every step, so that another policy can take over at any time.
    """

    encoder: Encoder[Any] | None = None

    def init(self, key: PRNGKey) -> PyTree[Array]:
        """The carry of the encoder, if there is one."""
        del key
        return () if self.encoder is None else self.encoder.init_carry()

    def act(
        self, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep
    ) -> tuple[Int32[Array, " n"], PyTree[Array]]:
        """Draw an allowed action for each agent."""
        actions = random_actions(key, timestep.mask)
        if self.encoder is not None:
            _, carry = self.encoder(carry, timestep.observation)
            carry = self.encoder.acted(carry, actions)
        return actions, carry


class GreedyPolicy(Policy):
    """The joint action with the largest value."""

    env: Task
    value: Value[Any]

    def init(self, key: PRNGKey) -> PyTree[Array]:
        """The carry of the value's encoder."""
        del key
        return self.value.encoder.init_carry()

    def act(
        self, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep
    ) -> tuple[Int32[Array, " n"], PyTree[Array]]:
        """argmax_a Q(o, a) over the allowed joint actions."""
        del key
        tables, carry = run_networks(
            self.env, self.value, carry, timestep.observation, timestep.state
        )
        actions, _ = self.value.greedy(tables, timestep.mask)
        return actions, self.value.encoder.acted(carry, actions)


class EpsilonGreedyPolicy(Policy):
    """The greedy joint action, in which each agent explores with probability epsilon."""

    greedy: GreedyPolicy
    epsilon: Float[Array, ""]

    def init(self, key: PRNGKey) -> PyTree[Array]:
        """The carry of the greedy policy."""
        return self.greedy.init(key)

    def act(
        self, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep
    ) -> tuple[Int32[Array, " n"], PyTree[Array]]:
        """The greedy actions, some of them replaced by random ones."""
        actions, carry = self.greedy.act(key, carry, timestep)  # which draws nothing from the key
        actions = explore(key, actions, timestep.mask, self.epsilon)
        return actions, self.greedy.value.encoder.acted(carry, actions)


def run_networks(
    env: Task,
    value: Value[Any],
    carry: PyTree[Array],
    observation: Float[Array, "n o"],
    state: Float[Array, " s"],
) -> tuple[Any, PyTree[Array]]:
    """The tables of a value, with positions where the environment has them, and the next carry."""
    features, carry = value.encoder(carry, observation)
    return value.tables(features, state, _positions(env, observation, state)), carry


def tables(
    env: Task,
    value: Value[Any],
    observation: Float[Array, "n o"],
    state: Float[Array, " s"],
) -> Any:
    """The tables of a value for one observation by itself, without memory."""
    return value.tables_of(observation, state, _positions(env, observation, state))


def _positions(
    env: Task, observation: Float[Array, "n o"], state: Float[Array, " s"]
) -> Float[Array, "n k"] | None:
    return env.positions(observation, state) if isinstance(env, HasPositions) else None


class Actor(NamedTuple):
    """A policy for many environments side by side; every argument has a leading axis for them."""

    init: Callable[[Array], PyTree[Array]]
    act: Callable[[Array, PyTree[Array], TimeStep], tuple[Int32[Array, "envs n"], PyTree[Array]]]


def side_by_side(policy: Policy) -> Actor:
    """The same policy in every environment."""
    return Actor(jax.vmap(policy.init), jax.vmap(policy.act))
