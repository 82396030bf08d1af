"""Parallel episodes on the device, until the last one has ended.

An observer decides what to keep: an evaluation keeps sums, a recording keeps every step.
"""

import abc
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32, PyTree

from pairvdn.acting.policy import Policy, side_by_side
from pairvdn.acting.repeat import EnvStep, repeat_action
from pairvdn.checks import require_at_least
from pairvdn.envs import Environment
from pairvdn.types import PRNGKey, TimeStep

Account = TypeVar("Account")


class AgentStep(eqx.Module):
    """The policy's choice before it is executed; every leaf has a leading episode axis."""

    carry: PyTree[Array]  # before the choice
    timestep: TimeStep
    actions: Int32[Array, "episodes n"]


class Observer(eqx.Module, Generic[Account]):
    """Accumulates an account of episodes while they run."""

    @abc.abstractmethod
    def begin(self, env_state: PyTree[Array], carry: PyTree[Array], timestep: TimeStep) -> Account:
        """The account after the resets."""

    @abc.abstractmethod
    def acted(self, account: Account, step: Int32[Array, ""], choice: AgentStep) -> Account:
        """Add the policy's choice after `step` environment steps."""

    @abc.abstractmethod
    def stepped(self, account: Account, step: Int32[Array, ""], done: EnvStep) -> Account:
        """Add one environment step; `step` is its index."""


class _Playing(eqx.Module):
    """The loop state of all episodes."""

    env_state: PyTree[Array]
    timestep: TimeStep
    carry: PyTree[Array]
    account: PyTree[Array]
    ended: Bool[Array, " episodes"]
    step: Int32[Array, ""]


def rollout(
    env: Environment[Any],
    policy: Policy,
    observer: Observer[Account],
    *,
    key: PRNGKey,
    num_episodes: int,
    action_repeat: int = 1,
) -> Account:
    """Play until every episode has ended, and return the observer's account.

    The same key gives the same initial states for every policy and number of episodes.
    """
    require_at_least(1, num_episodes=num_episodes, action_repeat=action_repeat)
    key = jax.random.bits(key, (2,), jnp.uint32)
    actor = side_by_side(policy)

    def keys(step: Int32[Array, ""], purpose: int) -> Array:
        return jax.random.split(jax.random.fold_in(key, 2 * step + purpose), num_episodes)

    def agent_step(playing: _Playing) -> _Playing:
        step, timestep = playing.step, playing.timestep
        actions, carry = actor.act(keys(step, 0), playing.carry, timestep)
        choice = AgentStep(playing.carry, timestep, actions)
        offsets = jnp.arange(action_repeat, dtype=jnp.int32)
        done, account = repeat_action(
            env,
            jax.vmap(lambda offset: keys(step + offset, 1))(offsets),
            playing.env_state,
            timestep,
            actions,
            ended=playing.ended,
            account=observer.acted(playing.account, step, choice),
            observe=lambda account, now: observer.stepped(account, step + now.offset, now),
        )
        return _Playing(
            done.env_state, done.timestep, carry, account, done.ended, step + action_repeat
        )

    before_first = jnp.int32(-1)
    env_state, timestep = jax.vmap(env.reset)(keys(before_first, 0))
    carry = actor.init(keys(before_first, 1))
    start = _Playing(
        env_state,
        timestep,
        carry,
        observer.begin(env_state, carry, timestep),
        jnp.zeros(num_episodes, jnp.bool_),
        jnp.int32(0),
    )
    played = jax.lax.while_loop(
        lambda playing: (playing.step < env.max_steps) & ~jnp.all(playing.ended),
        agent_step,
        start,
    )
    account: Account = played.account
    return account
