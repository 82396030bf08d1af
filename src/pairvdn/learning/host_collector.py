"""Collecting transitions from environments on the host, stepped one after another."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32, PyTree, UInt32

from pairvdn.acting.host import HostAgentStep, HostCopies, reset_carries
from pairvdn.acting.policy import Actor
from pairvdn.envs import HostEnvironment
from pairvdn.learning.collectors import AgentStep, Collects, CollectStats, State, windows
from pairvdn.learning.records import Transition
from pairvdn.types import PRNGKey


class HostCollecting(eqx.Module):
    """The state of a collector, without the live environments, which cannot be saved.

    `collection_id` is drawn at the end of every collection. Live copies with the same id belong to
    this record; without such copies, for example after a restart, new episodes start.
    """

    collection_id: UInt32[Array, "2"]
    carry: PyTree[Array]  # of the policy, with a leading environment axis
    episode_return: Float[Array, " envs"]
    pending: AgentStep  # [n_step - 1, envs]: the newest agent steps; their windows are not full


Collected = tuple[HostCollecting, Transition, CollectStats]


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
        nothing = _blank(self.env, 0, self.num_envs)
        return self._collect(actor, collect_key, carry, returns, nothing, length + self.n_step - 1)

    def restart(self, collecting: HostCollecting, actor: Actor, key: PRNGKey) -> HostCollecting:
        """Reset every copy; windows of pending agent steps end there."""
        _require_concrete(key)
        id_key, restart_key = jax.random.split(key)
        carry, returns = self._restart(actor, restart_key)
        collection_id = jax.random.bits(id_key, (2,), jnp.uint32)
        self._collection_id = _numbers(collection_id)
        ended = collecting.pending.ended.at[-1:].set(True)
        pending = eqx.tree_at(lambda p: p.ended, collecting.pending, ended)
        return HostCollecting(collection_id, carry, jnp.asarray(returns), pending)

    def collect(
        self, collecting: HostCollecting, actor: Actor, key: PRNGKey, length: int
    ) -> Collected:
        """Continue the live copies, or start new episodes if they belong to another state."""
        _require_concrete(key)
        restart_key, collect_key = jax.random.split(key)
        carry = collecting.carry
        pending, returns = jax.tree.map(np.array, (collecting.pending, collecting.episode_return))
        if self._copies is None or self._collection_id != _numbers(collecting.collection_id):
            # Pending agent steps belong to episodes that are lost: cut there, as if truncated.
            pending.ended[-1:] = True
            carry, returns = self._restart(actor, restart_key)
        return self._collect(actor, collect_key, carry, returns, pending, length)

    def shape(self, actor: Actor, length: int) -> Collected:
        """Trace the blocks of blank agent steps; no environment is stepped."""

        def shape(steps: AgentStep) -> Collected:
            pending = jax.tree.map(lambda leaf: leaf[length:], steps)
            key, returns = jnp.zeros(2, jnp.uint32), jnp.zeros(self.num_envs)
            carry = actor.init(jax.random.split(key, self.num_envs))
            block = windows(steps, length, self.n_step)
            return HostCollecting(key, carry, returns, pending), block, CollectStats.zero()

        steps = _blank(self.env, length + self.n_step - 1, self.num_envs)
        shapes: Collected = jax.eval_shape(shape, steps)
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
        pending: AgentStep,
        length: int,
    ) -> Collected:
        """Take `length` agent steps after the pending ones and add rewards to `returns`."""
        assert self._copies is not None  # `_restart` made them
        id_key, act_key = jax.random.split(key)
        keys = np.asarray(jax.random.bits(act_key, (length, self.num_envs, 2), jnp.uint32))
        new = _blank(self.env, length, self.num_envs)
        env_steps, episodes, finished = 0, 0, 0.0
        for time in range(length):
            chosen, carry = actor.act(keys[time], carry, self._copies.timestep())
            actions = np.asarray(chosen)
            steps = self._copies.act(actions)
            _write(jax.tree.map(lambda leaf, time=time: leaf[time], new), actions, steps)
            ended = np.array([step.ended for step in steps])
            returns += np.array([step.totals.undiscounted for step in steps], np.float32)
            env_steps += sum(step.totals.steps for step in steps)
            episodes += int(ended.sum())
            finished += float(returns[ended].sum())
            returns[ended] = 0
            carry = reset_carries(actor, carry, ended, keys[time])
        block = jax.tree.map(lambda *parts: np.concatenate(parts), pending, new)
        starts = len(block.ended) - (self.n_step - 1)
        collection_id = jax.random.bits(id_key, (2,), jnp.uint32)
        self._collection_id = _numbers(collection_id)
        collecting = HostCollecting(
            collection_id,
            jax.tree.map(jnp.asarray, carry),
            jnp.asarray(returns),
            jax.tree.map(lambda leaf: jnp.asarray(leaf[starts:]), block),
        )
        stats = CollectStats(jnp.int32(env_steps), jnp.int32(episodes), jnp.float32(finished))
        return collecting, _windows(block, starts, self.n_step), stats


_windows = jax.jit(windows, static_argnums=(1, 2))


def _write(
    target: AgentStep, actions: Int32[np.ndarray, "envs n"], steps: Sequence[HostAgentStep]
) -> None:
    """Write the agent steps of all copies into arrays [envs, ...]."""
    into = target.transition
    into.actions_tm1[:] = actions
    for row, (before, after, totals, ended) in enumerate(steps):
        into.observation_tm1[row], into.state_tm1[row] = before.observation, before.state
        into.reward_t[row] = totals.reward
        into.discount_t[row] = 0.0 if after.terminated else totals.discount
        into.observation_t[row], into.state_t[row] = after.observation, after.state
        into.mask_t[row] = after.mask
        target.ended[row] = ended


def _require_concrete(key: PRNGKey) -> None:
    """Refuse tracing: Python would step the environments only once, for all seeds and epochs."""
    if isinstance(key, jax.core.Tracer):
        raise ValueError(
            "Environments on the host cannot be stepped inside jax.jit or jax.vmap, so several "
            "seeds cannot be trained at once: call the learner's init, epoch and train without "
            "jit, once for each seed."
        )


def _blank(env: HostEnvironment, length: int, num_envs: int) -> AgentStep:
    """Arrays [length, envs, ...] to write agent steps into."""

    def example() -> AgentStep:
        agents = (env.num_agents, env.observation_size)
        observation, state = jnp.zeros(agents), jnp.zeros(env.state_size)
        transition = Transition(
            observation_tm1=observation,
            state_tm1=state,
            actions_tm1=jnp.zeros(env.num_agents, jnp.int32),
            reward_t=jnp.float32(0),
            discount_t=jnp.float32(0),
            observation_t=observation,
            state_t=state,
            mask_t=jnp.zeros((env.num_agents, env.num_actions), bool),
        )
        return AgentStep(transition, jnp.bool_(False))

    blank: AgentStep = jax.tree.map(
        lambda leaf: np.zeros((length, num_envs, *leaf.shape), leaf.dtype), jax.eval_shape(example)
    )
    return blank


def _numbers(array: UInt32[Array, " _"]) -> tuple[int, ...]:
    return tuple(np.asarray(array).tolist())
