"""Collecting from parallel environments on the device."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, PyTree

from pairvdn.acting.policy import Actor
from pairvdn.acting.repeat import repeat_action
from pairvdn.envs import Environment
from pairvdn.learning.collectors import Collects, CollectStats, State
from pairvdn.learning.recorders import is_final
from pairvdn.types import PRNGKey, TimeStep


class Stream(eqx.Module):
    """Environments within their episodes; every leaf has a leading environment axis."""

    env_state: PyTree[Array]
    timestep: TimeStep
    carry: PyTree[Array]  # the memory of the policy
    episode_return: Float[Array, " envs"]


class Collecting(eqx.Module):
    """The state of a collector.

    `pending`, [overlap, envs], are the newest records: their items are not full yet.
    """

    stream: Stream
    pending: PyTree[Array]


def env_axes(collecting: PyTree[Any]) -> PyTree[int]:
    """The environment axis of every leaf of a `Collecting`, or of its shape."""
    axes = jax.tree.map(lambda _: 0, collecting)
    return eqx.tree_at(lambda c: c.pending, axes, jax.tree.map(lambda _: 1, collecting.pending))


Collected = tuple[Collecting, Any, CollectStats]  # the state, a block of items, its statistics


class Collector(Collects[Environment[Any]]):
    """Collects on the device, from copies that are batched with vmap."""

    def start(self, key: PRNGKey, actor: Actor, length: int) -> Collected:
        """Reset every environment and collect a first block."""
        reset_key, act_key = jax.random.split(key)
        stream = self._reset(actor, jax.random.split(reset_key, self.num_envs))
        steps = length + self.recorder.overlap
        stream, (records, stats) = self._act(stream, actor, act_key, steps)
        return self._block(stream, records, stats, length)

    def restart(self, collecting: Collecting, actor: Actor, key: PRNGKey) -> Collecting:
        """Reset every environment; pending records are cut there."""
        stream = self._reset(actor, jax.random.split(key, self.num_envs))
        return Collecting(stream, self.recorder.cut(collecting.pending))

    def collect(self, collecting: Collecting, actor: Actor, key: PRNGKey, length: int) -> Collected:
        """Continue the stream of each environment by `length` agent steps."""
        stream, (new, stats) = self._act(collecting.stream, actor, key, length)
        records = jax.tree.map(lambda *parts: jnp.concatenate(parts), collecting.pending, new)
        return self._block(stream, records, stats, length)

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
        self, stream: Stream, records: PyTree[Array], stats: CollectStats, length: int
    ) -> Collected:
        """The items of the first `length` records; the rest is pending."""
        pending = jax.tree.map(lambda leaf: leaf[length:], records)
        total = jax.tree.map(lambda leaf: jnp.sum(leaf, axis=0, dtype=leaf.dtype), stats)
        return Collecting(stream, pending), self.recorder.items(records, length), total

    def _act(
        self, stream: Stream, actor: Actor, key: Array, length: int
    ) -> tuple[Stream, tuple[PyTree[Array], CollectStats]]:
        """Scan over agent steps: [length, envs] records of them."""

        def agent_step(
            stream: Stream, keys: Array
        ) -> tuple[Stream, tuple[PyTree[Array], CollectStats]]:
            # At a final observation no step is taken; there, the next episode starts.
            final = jax.vmap(is_final)(stream.timestep) if self.recorder.keeps_final else None
            actions, carry = actor.act(keys[:, 0], stream.carry, stream.timestep)
            after, _ = repeat_action(
                self.env,
                jnp.swapaxes(keys[:, 2:], 0, 1),
                stream.env_state,
                stream.timestep,
                actions,
                discount=self.discount,
                ended=final,
            )
            returns = stream.episode_return + after.totals.undiscounted
            finished = after.ended if final is None else after.ended & ~final
            stats = CollectStats(
                jnp.sum(after.totals.steps, dtype=jnp.int32),
                jnp.sum(finished, dtype=jnp.int32),
                jnp.sum(jnp.where(finished, returns, 0.0)),
            )
            record = jax.vmap(self.recorder.record)(
                stream.carry, stream.timestep, actions, after.timestep, after.totals
            )
            restarts = after.ended if final is None else final | after.timestep.terminated
            running = Stream(after.env_state, after.timestep, carry, returns)
            return self._reset_where(actor, keys[:, 1], restarts, running), (record, stats)

        # Split all keys at once, to act, reset and step: splitting is slow to compile.
        keys = jax.random.split(key, (length, self.num_envs, 2 + self.action_repeat))
        return jax.lax.scan(agent_step, stream, keys)

    def _reset(self, actor: Actor, keys: Array) -> Stream:
        """New episodes in all environments."""
        env_state, timestep = jax.vmap(self.env.reset)(keys)
        carry = actor.init(jax.vmap(lambda key: jax.random.fold_in(key, 1))(keys))
        return Stream(env_state, timestep, carry, jnp.zeros(self.num_envs))

    def _reset_where(
        self, actor: Actor, keys: Array, restarts: Bool[Array, " envs"], running: Stream
    ) -> Stream:
        """Start new episodes in some environments; skipped while there are none.

        Under a vmap over seeds the condition becomes a selection, and resets are always computed.
        """

        def reset() -> Stream:
            chosen: Stream = jax.vmap(optax.tree.where)(restarts, self._reset(actor, keys), running)
            return chosen

        stream: Stream = jax.lax.cond(jnp.any(restarts), reset, lambda: running)
        return stream
