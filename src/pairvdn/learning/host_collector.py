"""Collecting from environments on the host, stepped one after another."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree, UInt32

from pairvdn.acting.host import HostCopies, batched, reset_carries
from pairvdn.acting.policy import Actor
from pairvdn.acting.repeat import Totals
from pairvdn.envs import HostEnvironment
from pairvdn.learning.collectors import Collects, CollectStats, State
from pairvdn.learning.recorders import Recorder
from pairvdn.types import PRNGKey, TimeStep


class HostCollecting(eqx.Module):
    """The state of a collector, without the live environments, which cannot be saved.

    `collection_id` is drawn at the end of every collection. Live copies with the same id belong to
    this record; without such copies, for example after a restart, new episodes start.
    """

    collection_id: UInt32[Array, "2"]
    carry: PyTree[Array]  # of the policy, with a leading environment axis
    episode_return: Float[Array, " envs"]
    pending: PyTree[Array]  # [overlap, envs]: the newest records; their items are not full yet


Collected = tuple[HostCollecting, Any, CollectStats]  # the state, a block of items, its statistics


class HostCollector(Collects[HostEnvironment]):
    """Collects from live copies on the host.

    One call of the compiled policy acts for all copies; then each is stepped in Python. The blocks
    are those of `Collector`. Methods have side effects and cannot be compiled or vmapped.
    """

    _copies: HostCopies | None = None
    _collection_id: tuple[int, ...] = ()  # of the live copies

    def start(self, key: PRNGKey, actor: Actor, length: int) -> Collected:
        """Reset every copy and collect a first block."""
        _require_concrete(key)
        restart_key, collect_key = jax.random.split(key)
        carry, returns = self._restart(actor, restart_key)
        nothing = self._blank(actor, 0)
        steps = length + self.recorder.overlap
        return self._collect(actor, collect_key, carry, returns, nothing, steps)

    def restart(self, collecting: HostCollecting, actor: Actor, key: PRNGKey) -> HostCollecting:
        """Reset every copy; pending records are cut there."""
        _require_concrete(key)
        id_key, restart_key = jax.random.split(key)
        carry, returns = self._restart(actor, restart_key)
        collection_id = jax.random.bits(id_key, (2,), jnp.uint32)
        self._collection_id = _numbers(collection_id)
        pending = self.recorder.cut(collecting.pending)
        return HostCollecting(collection_id, carry, jnp.asarray(returns), pending)

    def collect(
        self, collecting: HostCollecting, actor: Actor, key: PRNGKey, length: int
    ) -> Collected:
        """Continue the live copies, or start new episodes if they belong to another state."""
        _require_concrete(key)
        restart_key, collect_key = jax.random.split(key)
        carry, pending = collecting.carry, collecting.pending
        returns = np.array(collecting.episode_return)
        if self._copies is None or self._collection_id != _numbers(collecting.collection_id):
            # Pending records belong to episodes that are lost: cut there, as if truncated.
            pending = self.recorder.cut(pending)
            carry, returns = self._restart(actor, restart_key)
        return self._collect(actor, collect_key, carry, returns, pending, length)

    def shape(self, actor: Actor, length: int) -> Collected:
        """Trace the block of blank records; no environment is stepped."""

        def shape(records: PyTree[Array]) -> Collected:
            pending = jax.tree.map(lambda leaf: leaf[length:], records)
            key, returns = jnp.zeros(2, jnp.uint32), jnp.zeros(self.num_envs)
            carry = actor.init(jax.random.split(key, self.num_envs))
            block = self.recorder.items(records, length)
            return HostCollecting(key, carry, returns, pending), block, CollectStats.zero()

        records = self._blank(actor, length + self.recorder.overlap)
        shapes: Collected = jax.eval_shape(shape, records)
        return shapes

    def repeat(
        self, step: Callable[[State], tuple[State, Any]], start: State, length: int
    ) -> tuple[State, Any]:
        """Repeat the step in a Python loop."""
        results = []
        for _ in range(length):
            start, result = step(start)
            results.append(result)
        return start, jax.tree.map(lambda *leaves: jnp.stack(leaves), *results)

    def compiled(self, function: Callable[..., Any], *, donate: bool = False) -> Any:
        """The function, jitted."""
        return jax.jit(function, donate_argnums=(0,) if donate else ())

    def _restart(
        self, actor: Actor, key: PRNGKey
    ) -> tuple[PyTree[Array], Float[np.ndarray, " envs"]]:
        """New episodes in all copies: their carries, and returns of 0."""
        if self._copies is None:
            self._copies = HostCopies(
                [self.env.copy() for _ in range(self.num_envs)],
                action_repeat=self.action_repeat,
                discount=self.discount,
                keeps_final=self.recorder.keeps_final,
            )
        seed_key, carry_key = key, jax.random.fold_in(key, 1)
        self._copies.restart(_numbers(jax.random.bits(seed_key, (self.num_envs,), jnp.uint32)))
        carry = actor.init(jax.random.split(carry_key, self.num_envs))
        return carry, np.zeros(self.num_envs, np.float32)

    def _collect(
        self,
        actor: Actor,
        key: PRNGKey,
        carry: PyTree[Array],
        returns: Float[np.ndarray, " envs"],
        pending: PyTree[Array],
        length: int,
    ) -> Collected:
        """Take `length` agent steps after the pending ones and add rewards to `returns`."""
        assert self._copies is not None  # `_restart` made them
        id_key, act_key = jax.random.split(key)
        keys = np.asarray(jax.random.bits(act_key, (length, self.num_envs, 2), jnp.uint32))
        seen = []
        env_steps, episodes, finished = 0, 0, 0.0
        for time in range(length):
            before, carry_before = self._copies.timestep(), carry
            chosen, carry = actor.act(keys[time], carry, before)
            actions = np.asarray(chosen)
            steps = self._copies.act(actions)
            totals = Totals(*map(np.array, zip(*(step.totals for step in steps), strict=True)))
            after = batched([step.after for step in steps])
            seen.append((carry_before, before, actions, after, totals))
            ended = np.array([step.ended for step in steps])
            restarted = np.array([step.restarted for step in steps])
            returns += totals.undiscounted.astype(np.float32)
            env_steps += int(totals.steps.sum())
            episodes += int(ended.sum())
            finished += float(returns[ended].sum())
            returns[ended] = 0
            carry = reset_carries(actor, carry, restarted, keys[time])
        block = self._joined(pending, seen)
        starts = len(jax.tree.leaves(block)[0]) - self.recorder.overlap
        collection_id = jax.random.bits(id_key, (2,), jnp.uint32)
        self._collection_id = _numbers(collection_id)
        collecting = HostCollecting(
            collection_id,
            jax.tree.map(jnp.asarray, carry),
            jnp.asarray(returns),
            jax.tree.map(lambda leaf: leaf[starts:], block),
        )
        stats = CollectStats(jnp.int32(env_steps), jnp.int32(episodes), jnp.float32(finished))
        return collecting, _items(self.recorder, block, starts), stats

    def _joined(self, pending: PyTree[Array], seen: list[Any]) -> PyTree[Array]:
        """The pending records followed by those of the agent steps just taken."""
        if not seen:
            return pending
        stacked = jax.tree.map(lambda *leaves: _float32(np.stack(leaves)), *seen)
        new = _records(self.recorder, stacked)
        return jax.tree.map(lambda *parts: jnp.concatenate(parts), pending, new)

    def _blank(self, actor: Actor, length: int) -> PyTree[Array]:
        """Records of zeros, [length, envs, ...]."""
        spec = self.env.spec

        def example(key: Array) -> PyTree[Array]:
            carry = jax.tree.map(lambda leaf: leaf[0], actor.init(key[None]))
            timestep = TimeStep(
                observation=jnp.zeros((spec.num_agents, spec.observation_size)),
                state=jnp.zeros(spec.state_size),
                mask=jnp.zeros((spec.num_agents, spec.num_actions), bool),
                reward=jnp.float32(0),
                agent_rewards=jnp.zeros(spec.num_agents),
                terminated=jnp.bool_(False),
                truncated=jnp.bool_(False),
            )
            zero = jnp.float32(0)
            actions = jnp.zeros(spec.num_agents, jnp.int32)
            totals = Totals(zero, zero, zero, jnp.int32(0))
            return self.recorder.record(carry, timestep, actions, timestep, totals)

        shape = jax.eval_shape(example, jax.random.PRNGKey(0))
        return jax.tree.map(
            lambda leaf: jnp.zeros((length, self.num_envs, *leaf.shape), leaf.dtype), shape
        )


@eqx.filter_jit
def _records(recorder: Recorder[Any, Any], seen: Any) -> PyTree[Array]:
    return jax.vmap(jax.vmap(recorder.record))(*seen)


@eqx.filter_jit
def _items(recorder: Recorder[Any, Any], records: PyTree[Array], length: int) -> PyTree[Array]:
    return recorder.items(records, length)


def _float32(array: np.ndarray) -> np.ndarray:
    """Python floats are sums in double precision; records hold single precision."""
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _require_concrete(key: PRNGKey) -> None:
    """Refuse tracing: Python would step the environments only once, for all seeds and epochs."""
    if isinstance(key, jax.core.Tracer):
        raise ValueError(
            "Environments on the host cannot be stepped inside jax.jit or jax.vmap, so several "
            "seeds cannot be trained at once: call the learner's init, epoch and train without "
            "jit, once for each seed."
        )


def _numbers(array: UInt32[Array, " _"]) -> tuple[int, ...]:
    return tuple(np.asarray(array).tolist())
