"""Gathering experience: environments side by side, on the device, as a stream of transitions."""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, PyTree

from pairvdn.acting.choose import choose
from pairvdn.acting.policy import Actor
from pairvdn.acting.repeat import Repeated, repeat_action
from pairvdn.checks import require_at_least, require_within
from pairvdn.envs import Environment
from pairvdn.learning.records import Transition
from pairvdn.learning.targets import n_step_return
from pairvdn.types import PRNGKey, TimeStep

# The state of a loop.
State = TypeVar("State")


class AgentStep(eqx.Module):
    """The transition of one agent step, and whether its episode ended there, for any reason."""

    transition: Transition
    ended: Bool[Array, ""]


class Stream(eqx.Module):
    """Environments in the middle of their episodes; every leaf has the environments in front."""

    env_state: PyTree[Array]
    timestep: TimeStep
    carry: PyTree[Array]  # the memory of the policy
    episode_return: Float[Array, " envs"]


class Collecting(eqx.Module):
    """The state of a collector.

    `pending`, [n_step - 1, envs], are the newest agent steps, whose windows are not full yet.
    """

    stream: Stream
    pending: AgentStep


def env_axes(collecting: PyTree[Any]) -> PyTree[int]:
    """For every leaf of a `Collecting`, or of its shape, the axis of the environments."""
    axes = jax.tree.map(lambda _: 0, collecting)
    return eqx.tree_at(lambda c: c.pending, axes, jax.tree.map(lambda _: 1, collecting.pending))


class CollectStats(eqx.Module):
    """Sums over the collected agent steps."""

    env_steps: Int32[Array, ""]
    episodes: Int32[Array, ""]
    returns: Float[Array, ""]

    @staticmethod
    def zero() -> "CollectStats":
        """Before the first step."""
        return CollectStats(jnp.int32(0), jnp.int32(0), jnp.float32(0))


class Collector:
    """`num_envs` copies of an environment on the device; actions repeat `action_repeat` steps."""

    def __init__(
        self,
        env: Environment[Any],
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

    def start(
        self, key: PRNGKey, actor: Actor, length: int
    ) -> tuple[Collecting, Transition, CollectStats]:
        """Start every environment and collect a first block, as `collect` does.

        `n_step` - 1 more agent steps are made, so that the window of the last one is full too.
        """
        reset_key, act_key = jax.random.split(key)
        stream = self._reset(actor, jax.random.split(reset_key, self.num_envs))
        stream, (line, stats) = self._act(stream, actor, act_key, length + self.n_step - 1)
        pending = jax.tree.map(lambda leaf: leaf[length:], line)
        return Collecting(stream, pending), windows(line, length, self.n_step), _total(stats)

    def collect(
        self, collecting: Collecting, actor: Actor, key: PRNGKey, length: int
    ) -> tuple[Collecting, Transition, CollectStats]:
        """Make `length` agent steps in every environment; transitions come oldest first.

        The block has `length` x `num_envs` transitions, each over a window of `n_step` agent
        steps that is cut short where its episode ends.
        """
        stream, (new, stats) = self._act(collecting.stream, actor, key, length)
        line = jax.tree.map(lambda *parts: jnp.concatenate(parts), collecting.pending, new)
        pending = jax.tree.map(lambda leaf: leaf[length:], line)
        return Collecting(stream, pending), windows(line, length, self.n_step), _total(stats)

    def shape(self, actor: Actor, length: int) -> tuple[Collecting, Transition, CollectStats]:
        """The shapes of what `start` returns."""
        shape: tuple[Collecting, Transition, CollectStats] = jax.eval_shape(
            lambda key: self.start(key, actor, length), jax.random.PRNGKey(0)
        )
        return shape

    def repeat(
        self, step: Callable[[State], tuple[State, Any]], start: State, length: int
    ) -> tuple[State, Any]:
        """Repeat a step that collects, as one scan; its other results are stacked."""
        return jax.lax.scan(lambda state, _: step(state), start, None, length=length)

    def compiled(self, function: Callable[..., Any], *, donate: bool = False) -> Any:
        """The function as it is: everything around it is one compiled program."""
        del donate
        return function

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

        # All keys at once, to act, to reset and to step: splitting is slow to compile.
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
        """Start new episodes where one ended; mostly that is nowhere, and costs nothing.

        With seeds side by side `vmap` turns the condition into a selection that is always computed.
        """

        def reset() -> Stream:
            chosen: Stream = jax.vmap(choose)(ended, self._reset(actor, keys), running)
            return chosen

        stream: Stream = jax.lax.cond(jnp.any(ended), reset, lambda: running)
        return stream


def windows(line: AgentStep, starts: int, n_step: int) -> Transition:
    """Fold [starts + n_step - 1, envs] agent steps into [starts * envs] transitions."""
    first = jnp.arange(starts, dtype=jnp.int32)
    window = first[:, None] + jnp.arange(n_step, dtype=jnp.int32)[None, :]

    def fold(steps: AgentStep) -> Transition:  # of one environment
        one = steps.transition
        rewards, discounts, last = jax.vmap(n_step_return)(
            one.reward_t[window], one.discount_t[window], steps.ended[window]
        )
        end = first + last
        folded: Transition = eqx.tree_at(
            lambda t: (t.reward_t, t.discount_t, t.observation_t, t.state_t, t.mask_t),
            jax.tree.map(lambda leaf: leaf[:starts], one),
            (rewards, discounts, one.observation_t[end], one.state_t[end], one.mask_t[end]),
        )
        return folded

    block = jax.vmap(fold, in_axes=1, out_axes=1)(line)
    flat: Transition = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), block)
    return flat


def _agent_step(timestep: TimeStep, actions: Int32[Array, " n"], after: Repeated) -> AgentStep:
    """The record of one agent step; where the episode terminated nothing is bootstrapped."""
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


def _total(stats: CollectStats) -> CollectStats:
    total: CollectStats
    total = jax.tree.map(lambda leaf: jnp.sum(leaf, axis=0, dtype=leaf.dtype), stats)
    return total
