"""Collecting transitions from parallel environments on the device."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int32, PyTree

from pairvdn.acting.policy import Actor
from pairvdn.acting.repeat import Repeated, repeat_action
from pairvdn.envs import Environment
from pairvdn.learning.collectors import AgentStep, Collects, CollectStats, State, windows
from pairvdn.learning.records import Transition
from pairvdn.types import PRNGKey, TimeStep


class Stream(eqx.Module):
    """Environments within their episodes; every leaf has a leading environment axis."""

    env_state: PyTree[Array]
    timestep: TimeStep
    carry: PyTree[Array]  # the memory of the policy
    episode_return: Float[Array, " envs"]


class Collecting(eqx.Module):
    """The state of a collector.

    `pending`, [n_step - 1, envs], are the newest agent steps: their windows are not full yet.
    """

    stream: Stream
    pending: AgentStep


def env_axes(collecting: PyTree[Any]) -> PyTree[int]:
    """The environment axis of every leaf of a `Collecting`, or of its shape."""
    axes = jax.tree.map(lambda _: 0, collecting)
    return eqx.tree_at(lambda c: c.pending, axes, jax.tree.map(lambda _: 1, collecting.pending))


Collected = tuple[Collecting, Transition, CollectStats]


class Collector(Collects[Environment[Any]]):
    """Collects on the device, from copies that are batched with vmap."""

    def start(self, key: PRNGKey, actor: Actor, length: int) -> Collected:
        """Reset every environment and collect a first block."""
        reset_key, act_key = jax.random.split(key)
        stream = self._reset(actor, jax.random.split(reset_key, self.num_envs))
        stream, (steps, stats) = self._act(stream, actor, act_key, length + self.n_step - 1)
        return self._block(stream, steps, stats, length)

    def restart(self, collecting: Collecting, actor: Actor, key: PRNGKey) -> Collecting:
        """Reset every environment; windows of pending agent steps end there."""
        stream = self._reset(actor, jax.random.split(key, self.num_envs))
        ended = collecting.pending.ended.at[-1:].set(True)
        return Collecting(stream, eqx.tree_at(lambda p: p.ended, collecting.pending, ended))

    def collect(self, collecting: Collecting, actor: Actor, key: PRNGKey, length: int) -> Collected:
        """Continue the stream of each environment by `length` agent steps."""
        stream, (new, stats) = self._act(collecting.stream, actor, key, length)
        steps = jax.tree.map(lambda *parts: jnp.concatenate(parts), collecting.pending, new)
        return self._block(stream, steps, stats, length)

    def shape(self, actor: Actor, length: int) -> Collected:
        """Trace `start` without running it."""
        key = jax.random.PRNGKey(0)
        shape: Collected = jax.eval_shape(lambda key: self.start(key, actor, length), key)
        return shape

    def repeat(
        self, step: Callable[[State], tuple[State, Any]], start: State, length: int
    ) -> tuple[State, Any]:
        """Repeat the step in one scan."""
        return jax.lax.scan(lambda state, _: step(state), start, None, length=length)

    def compiled(self, function: Callable[..., Any], *, donate: bool = False) -> Any:
        """The function itself: its caller is one compiled program."""
        del donate
        return function

    def _block(
        self, stream: Stream, steps: AgentStep, stats: CollectStats, length: int
    ) -> Collected:
        """The first `length` windows of these agent steps; the rest is pending."""
        pending = jax.tree.map(lambda leaf: leaf[length:], steps)
        total = jax.tree.map(lambda leaf: jnp.sum(leaf, axis=0, dtype=leaf.dtype), stats)
        return Collecting(stream, pending), windows(steps, length, self.n_step), total

    def _act(
        self, stream: Stream, actor: Actor, key: Array, length: int
    ) -> tuple[Stream, tuple[AgentStep, CollectStats]]:
        """Scan over agent steps: [length, envs] of them."""

        def agent_step(
            stream: Stream, keys: Array
        ) -> tuple[Stream, tuple[AgentStep, CollectStats]]:
            actions, carry = actor.act(keys[:, 0], stream.carry, stream.timestep)
            after, _ = repeat_action(
                self.env,
                jnp.swapaxes(keys[:, 2:], 0, 1),
                stream.env_state,
                stream.timestep,
                actions,
                discount=self.discount,
            )
            returns = stream.episode_return + after.totals.undiscounted
            stats = CollectStats(
                jnp.sum(after.totals.steps, dtype=jnp.int32),
                jnp.sum(after.ended, dtype=jnp.int32),
                jnp.sum(jnp.where(after.ended, returns, 0.0)),
            )
            step = jax.vmap(_agent_step)(stream.timestep, actions, after)
            running = Stream(after.env_state, after.timestep, carry, returns)
            return self._reset_ended(actor, keys[:, 1], after.ended, running), (step, stats)

        # Split all keys at once, to act, reset and step: splitting is slow to compile.
        keys = jax.random.split(key, (length, self.num_envs, 2 + self.action_repeat))
        return jax.lax.scan(agent_step, stream, keys)

    def _reset(self, actor: Actor, keys: Array) -> Stream:
        """New episodes in all environments."""
        env_state, timestep = jax.vmap(self.env.reset)(keys)
        carry = actor.init(jax.vmap(lambda key: jax.random.fold_in(key, 1))(keys))
        return Stream(env_state, timestep, carry, jnp.zeros(self.num_envs))

    def _reset_ended(
        self, actor: Actor, keys: Array, ended: Bool[Array, " envs"], running: Stream
    ) -> Stream:
        """Start new episodes where one ended; skipped while no episode ends.

        Under a vmap over seeds the condition becomes a selection, and resets are always computed.
        """

        def reset() -> Stream:
            chosen: Stream = jax.vmap(optax.tree.where)(ended, self._reset(actor, keys), running)
            return chosen

        stream: Stream = jax.lax.cond(jnp.any(ended), reset, lambda: running)
        return stream


def _agent_step(timestep: TimeStep, actions: Int32[Array, " n"], after: Repeated) -> AgentStep:
    """The record of one agent step; a terminated episode has discount 0."""
    end, totals = after.timestep, after.totals
    transition = Transition(
        observation_tm1=timestep.observation,
        state_tm1=timestep.state,
        actions_tm1=actions,
        reward_t=totals.reward,
        discount_t=jnp.where(end.terminated, 0.0, totals.discount),
        observation_t=end.observation,
        state_t=end.state,
        mask_t=end.mask,
    )
    return AgentStep(transition, after.ended)
