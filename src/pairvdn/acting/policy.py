"""Policies: how a team chooses its joint action at every agent step.

A policy has a carry, its memory within an episode:

    carry = policy.init(key)                             # where an episode starts
    actions, carry = policy.act(key, carry, timestep)    # at every agent step

Policies are written for one environment. `side_by_side` batches a policy over many environments.
"""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, PyTree

from pairvdn.acting.exploration import explorers, random_actions
from pairvdn.envs import HasPositions, Task
from pairvdn.types import PRNGKey, TimeStep
from pairvdn.values import Encoder, Value

Acted = tuple[Int32[Array, " n"], PyTree[Array]]  # the joint action and the next carry


class Policy(eqx.Module):
    """Chooses the joint action of a team in one environment."""

    @abc.abstractmethod
    def init(self, key: PRNGKey) -> PyTree[Array]:
        """The carry at the start of an episode; an empty tuple for policies without memory."""

    @abc.abstractmethod
    def act(self, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep) -> Acted:
        """The joint action for this time step, and the next carry."""


class RandomPolicy(Policy):
    """Uniformly random allowed actions.

    Given an encoder, the policy keeps its carry up to date, so another policy can take over.
    """

    encoder: Encoder[Any] | None = None

    def init(self, key: PRNGKey) -> PyTree[Array]:
        """The carry of the encoder, if there is one."""
        del key
        return () if self.encoder is None else self.encoder.init_carry()

    def act(self, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep) -> Acted:
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

    def act(self, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep) -> Acted:
        """argmax_a Q(o, a) over the allowed joint actions."""
        del key
        tables, carry = run_networks(
            self.env, self.value, carry, timestep.observation, timestep.state
        )
        actions, _ = self.value.greedy(tables, timestep.mask)
        return actions, self.value.encoder.acted(carry, actions)


class EpsilonGreedyPolicy(Policy):
    """The greedy joint action, in which each agent explores with probability epsilon.

    If random actions are `answered`, the agents that do not explore take the best joint action that
    contains them, as they do for a person (`PersonPolicy`). Else they act as if nobody explored.
    For values that every agent maximises alone there is no difference.
    """

    greedy: GreedyPolicy
    epsilon: Float[Array, ""]
    answered: bool = eqx.field(default=False, static=True)

    def init(self, key: PRNGKey) -> PyTree[Array]:
        """The carry of the greedy policy."""
        return self.greedy.init(key)

    def act(self, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep) -> Acted:
        """The greedy actions, some of them replaced by random ones or answers to these."""
        explores, drawn = explorers(key, timestep.mask, self.epsilon)
        if self.answered:
            timestep = with_fixed_actions(timestep, explores, drawn)
        actions, carry = self.greedy.act(key, carry, timestep)  # does not use the key
        actions = jnp.where(explores, drawn, actions)
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
    return run_heads(env, value, features, observation, state), carry


def run_heads(
    env: Task,
    value: Value[Any],
    features: Float[Array, "n f"],
    observation: Float[Array, "n o"],
    state: Float[Array, " s"],
) -> Any:
    """The tables of a value for known features; the observation only locates the agents."""
    return value.tables(features, state, _positions(env, observation, state))


def tables(
    env: Task,
    value: Value[Any],
    observation: Float[Array, "n o"],
    state: Float[Array, " s"],
) -> Any:
    """The tables of a value for a single observation, without memory."""
    return value.tables_of(observation, state, _positions(env, observation, state))


def _positions(
    env: Task, observation: Float[Array, "n o"], state: Float[Array, " s"]
) -> Float[Array, "n k"] | None:
    return env.positions(observation, state) if isinstance(env, HasPositions) else None


class Actor(NamedTuple):
    """A batched policy; every argument has a leading environment axis."""

    init: Callable[[Array], PyTree[Array]]
    act: Callable[[Array, PyTree[Array], TimeStep], tuple[Int32[Array, "envs n"], PyTree[Array]]]


def side_by_side(policy: Policy) -> Actor:
    """The same policy in every environment."""
    return Actor(jax.vmap(policy.init), jax.vmap(policy.act))


class PersonPolicy(Policy):
    """A person acts for one agent, the policy `others` for the rest of the team.

    The person's action is fixed, and the others take the best joint action that contains it,

        max over a_j, j ≠ i, of Q(a_1, .., a_i = the person's, .., a_n),

    the ordinary maximisation with a mask that leaves agent i one action. A pair-wise value thus
    answers the person exactly and within the same step. The agents of IQL, VDN and QMIX maximise
    separately: they react only to the next observation.

    `choose` asks the person and runs on the host; `others` is compiled.
    """

    others: Policy
    agent: int = eqx.field(static=True)
    choose: Callable[[TimeStep], int] = eqx.field(static=True)

    def init(self, key: PRNGKey) -> PyTree[Array]:
        """The carry of the other agents."""
        return self.others.init(key)

    def act(self, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep) -> Acted:
        """The person's action and the others' answer to it."""
        fixed = with_fixed_action(timestep, self.agent, self.choose(timestep))
        return _act(self.others, key, carry, fixed)


def with_fixed_action(timestep: TimeStep, agent: int, action: int) -> TimeStep:
    """The time step with a mask that allows `agent` only this action.

    A masked action may be fixed too: the environment treats it as its no-op.
    """
    agents = jnp.arange(timestep.mask.shape[0])
    return with_fixed_actions(timestep, agents == agent, jnp.full(agents.shape, action, jnp.int32))


def with_fixed_actions(
    timestep: TimeStep, agents: Bool[Array, " n"], actions: Int32[Array, " n"]
) -> TimeStep:
    """The time step with a mask that allows these agents only these actions."""
    only = actions[:, None] == jnp.arange(timestep.mask.shape[1])[None]
    mask = jnp.where(agents[:, None], only, timestep.mask)
    fixed: TimeStep = eqx.tree_at(lambda step: step.mask, timestep, mask)
    return fixed


@eqx.filter_jit
def _act(policy: Policy, key: PRNGKey, carry: PyTree[Array], timestep: TimeStep) -> Acted:
    return policy.act(key, carry, timestep)
