"""Gathering experience from environments on the host, stepped one after the other."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32, PyTree, UInt32

from pairvdn.acting.host import HostAgentStep, HostCopies, reset_carries
from pairvdn.acting.policy import Actor
from pairvdn.checks import require_at_least, require_within
from pairvdn.envs import HostEnvironment
from pairvdn.learning.collector import AgentStep, CollectStats, State, windows
from pairvdn.learning.records import Transition
from pairvdn.types import PRNGKey


class HostCollecting(eqx.Module):
    """The state of a collector, without the live environments, which no file can hold.

    `collection_id` is drawn at the end of every collection. Live copies with the same id belong to
    this record; where there are none, after a restart for example, new episodes start.
    """

    collection_id: UInt32[Array, "2"]
    carry: PyTree[Array]  # the memory of the policy; the environments in front
    episode_return: Float[Array, " envs"]
    pending: AgentStep  # [n_step - 1, envs]: the newest agent steps, whose windows are not full


class HostCollector:
    """`num_envs` copies on the host; actions repeat `action_repeat` steps.

    One call of the compiled policy acts for all copies; then each is stepped in Python. The blocks
    are those of `Collector`. Methods have side effects and cannot be compiled or vmapped.
    """

    def __init__(
        self,
        env: HostEnvironment,
        *,
        num_envs: int = 1,
        action_repeat: int = 1,
        n_step: int = 1,
        discount: float = 0.99,
    ) -> None:
        require_at_least(1, num_envs=num_envs, action_repeat=action_repeat, n_step=n_step)
        require_within(0, 1, discount=discount)
        self.env = env
        self.num_envs = num_envs
        self.action_repeat = action_repeat
        self.n_step = n_step
        self.discount = discount
        self._copies: HostCopies | None = None
        self._collection_id: tuple[int, ...] = ()  # of the live copies
        self._windows = jax.jit(windows, static_argnums=(1, 2))

    def start(
        self, key: PRNGKey, actor: Actor, length: int
    ) -> tuple[HostCollecting, Transition, CollectStats]:
        """Start every environment and collect a first block, as `collect` does.

        `n_step` - 1 more agent steps are made, so that the window of the last one is full too.
        """
        _require_concrete(key)
        restart_key, collect_key = jax.random.split(key)
        carry, returns = self._restart(actor, restart_key)
        nothing = _blank(self.env, 0, self.num_envs)
        return self._collect(actor, collect_key, carry, returns, nothing, length + self.n_step - 1)

    def collect(
        self, collecting: HostCollecting, actor: Actor, key: PRNGKey, length: int
    ) -> tuple[HostCollecting, Transition, CollectStats]:
        """Make `length` agent steps in every environment; transitions come oldest first."""
        _require_concrete(key)
        restart_key, collect_key = jax.random.split(key)
        carry = collecting.carry
        pending, returns = jax.tree.map(np.array, (collecting.pending, collecting.episode_return))
        if self._copies is None or self._collection_id != _numbers(collecting.collection_id):
            # Pending agent steps belong to episodes that are lost: cut there, as if truncated.
            pending.ended[-1:] = True
            carry, returns = self._restart(actor, restart_key)
        return self._collect(actor, collect_key, carry, returns, pending, length)

    def shape(self, actor: Actor, length: int) -> tuple[HostCollecting, Transition, CollectStats]:
        """The shapes of what `start` returns; nothing is stepped."""

        def shape(line: AgentStep) -> tuple[HostCollecting, Transition, CollectStats]:
            pending = jax.tree.map(lambda leaf: leaf[length:], line)
            key, returns = jnp.zeros(2, jnp.uint32), jnp.zeros(self.num_envs)
            carry = actor.init(jax.random.split(key, self.num_envs))
            block = windows(line, length, self.n_step)
            return HostCollecting(key, carry, returns, pending), block, CollectStats.zero()

        line = _blank(self.env, length + self.n_step - 1, self.num_envs)
        found: tuple[HostCollecting, Transition, CollectStats] = jax.eval_shape(shape, line)
        return found

    def repeat(
        self, step: Callable[[State], tuple[State, Any]], start: State, length: int
    ) -> tuple[State, Any]:
        """Repeat a step that collects, one by one; its other results are stacked."""
        results = []
        for _ in range(length):
            start, one = step(start)
            results.append(one)
        return start, jax.tree.map(lambda *leaves: jnp.stack(leaves), *results)

    def compiled(self, function: Callable[..., Any], *, donate: bool = False) -> Any:
        """The function, compiled by itself."""
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
    ) -> tuple[HostCollecting, Transition, CollectStats]:
        """Make `length` agent steps after those that are pending; `returns` are continued."""
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
            ended = np.array([one.ended for one in steps])
            returns += np.array([one.totals.undiscounted for one in steps], np.float32)
            env_steps += sum(one.totals.steps for one in steps)
            episodes += int(ended.sum())
            finished += float(returns[ended].sum())
            returns[ended] = 0
            carry = reset_carries(actor, carry, ended, keys[time])
        line = jax.tree.map(lambda *parts: np.concatenate(parts), pending, new)
        starts = len(line.ended) - (self.n_step - 1)
        collection_id = jax.random.bits(id_key, (2,), jnp.uint32)
        self._collection_id = _numbers(collection_id)
        collecting = HostCollecting(
            collection_id,
            jax.tree.map(jnp.asarray, carry),
            jnp.asarray(returns),
            jax.tree.map(lambda leaf: jnp.asarray(leaf[starts:]), line),
        )
        stats = CollectStats(jnp.int32(env_steps), jnp.int32(episodes), jnp.float32(finished))
        return collecting, self._windows(line, starts, self.n_step), stats


def _write(
    row: AgentStep, actions: Int32[np.ndarray, "envs n"], steps: Sequence[HostAgentStep]
) -> None:
    """Write the agent steps of all copies into arrays [envs, ...]."""
    into = row.transition
    into.actions_tm1[:] = actions
    for place, (before, after, totals, ended) in enumerate(steps):
        into.observation_tm1[place], into.state_tm1[place] = before.observation, before.state
        into.reward_t[place] = totals.reward
        into.discount_t[place] = 0.0 if after.terminated else totals.discount
        into.observation_t[place], into.state_t[place] = after.observation, after.state
        into.mask_t[place] = after.mask
        row.ended[place] = ended


def _require_concrete(key: PRNGKey) -> None:
    """Refuse to be traced: Python would step the environments once, for all seeds and epochs."""
    if isinstance(key, jax.core.Tracer):
        raise ValueError(
            "Environments on the host cannot be stepped inside jax.jit or jax.vmap, so several "
            "seeds cannot be trained at once: call the learner's init, epoch and train without "
            "jit, once for each seed."
        )


def _blank(env: HostEnvironment, length: int, num_envs: int) -> AgentStep:
    """Arrays [length, envs, ...] to write agent steps into."""

    def one() -> AgentStep:
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
        lambda leaf: np.zeros((length, num_envs, *leaf.shape), leaf.dtype), jax.eval_shape(one)
    )
    return blank


def _numbers(array: UInt32[Array, " _"]) -> tuple[int, ...]:
    return tuple(np.asarray(array).tolist())
