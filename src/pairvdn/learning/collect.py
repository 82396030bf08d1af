"""Gathering experience: environments side by side, on the device, as a stream of transitions."""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, PyTree

from pairvdn.acting.choose import choose
from pairvdn.checks import require_at_least, require_within
from pairvdn.envs import Environment
from pairvdn.learning.records import Transition
from pairvdn.learning.targets import n_step_return
from pairvdn.types import PRNGKey, TimeStep

# For all environments together: keys [envs], time steps [envs] -> actions [envs, n].
Policy = Callable[[Array, TimeStep], Int32[Array, "envs n"]]
# What is carried through the rounds of a loop.
Carry = TypeVar("Carry")


class AgentStep(eqx.Module):
    """A transition of one decision, and whether its episode ended there, for whatever reason."""

    transition: Transition
    ended: Bool[Array, ""]


class Outcome(eqx.Module):
    """What holding an action came to. Nothing is reset yet: `timestep` may be a final one."""

    env_state: PyTree[Array]
    timestep: TimeStep
    reward: Float[Array, ""]  # discounted, for learning
    discount: Float[Array, ""]  # γ to the power of the steps taken
    undiscounted: Float[Array, ""]  # for counting returns
    steps: Int32[Array, ""]
    ended: Bool[Array, ""]


class Collecting(eqx.Module):
    """Where collection stands: every leaf has the environments as its leading axis.

    Except `pending`, [n_step - 1, envs]: the newest decisions, whose windows are not full yet.
    """

    env_state: PyTree[Array]
    timestep: TimeStep
    episode_return: Float[Array, " envs"]
    pending: AgentStep


def env_axes(collecting: PyTree[Any]) -> PyTree[int]:
    """For every leaf of a `Collecting`, or of its shape, which axis is that of the environments."""
    axes = jax.tree.map(lambda _: 0, collecting)
    return eqx.tree_at(lambda c: c.pending, axes, jax.tree.map(lambda _: 1, collecting.pending))


class CollectStats(eqx.Module):
    """Sums over what was collected."""

    env_steps: Int32[Array, ""]
    episodes: Int32[Array, ""]
    returns: Float[Array, ""]

    @staticmethod
    def zero() -> "CollectStats":
        """Before the first step."""
        return CollectStats(jnp.int32(0), jnp.int32(0), jnp.float32(0))


def hold(
    env: Environment[Any],
    keys: Array,
    env_state: PyTree[Array],
    timestep: TimeStep,
    actions: Int32[Array, " n"],
    *,
    discount: float,
) -> Outcome:
    """Do the same for as many steps as there are keys, or until the episode ends.

    Reward Σ γ^i r_i and discount γ^steps, counted per environment step, so holding actions longer
    does not change what is worth what.
    """

    def step(before: Outcome, key: Array) -> tuple[Outcome, None]:
        env_state, timestep = env.step(key, before.env_state, actions)
        after = Outcome(
            env_state,
            timestep,
            before.reward + before.discount * timestep.reward,
            before.discount * discount,
            before.undiscounted + timestep.reward,
            before.steps + 1,
            timestep.terminated | timestep.truncated,
        )
        return choose(before.ended, before, after), None

    start = Outcome(
        env_state,
        timestep,
        jnp.float32(0),
        jnp.float32(1),
        jnp.float32(0),
        jnp.int32(0),
        jnp.bool_(False),
    )
    outcome, _ = jax.lax.scan(step, start, keys)
    return outcome


class Collector:
    """`num_envs` copies of an environment on the device, each action held `action_repeat` steps."""

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
        self, key: PRNGKey, policy: Policy, decisions: int
    ) -> tuple[Collecting, Transition, CollectStats]:
        """Start every environment and collect a first block, as `collect` does.

        `n_step` - 1 more decisions are made, so that the window of the last one is full too.
        """
        reset_key, act_key = jax.random.split(key)
        env_state, timestep = jax.vmap(self.env.reset)(jax.random.split(reset_key, self.num_envs))
        (env_state, timestep, returns), (line, stats) = self._decide(
            (env_state, timestep, jnp.zeros(self.num_envs)),
            policy,
            act_key,
            decisions + self.n_step - 1,
        )
        pending = jax.tree.map(lambda leaf: leaf[decisions:], line)
        collecting = Collecting(env_state, timestep, returns, pending)
        return collecting, windows(line, decisions, self.n_step), _total(stats)

    def shape(self, decisions: int) -> tuple[Collecting, Transition, CollectStats]:
        """What `start` returns, without its numbers."""
        shape: tuple[Collecting, Transition, CollectStats] = jax.eval_shape(
            lambda key: self.start(key, self._first_allowed, decisions), jax.random.PRNGKey(0)
        )
        return shape

    def repeat(
        self, step: Callable[[Carry], tuple[Carry, Any]], start: Carry, length: int
    ) -> tuple[Carry, Any]:
        """Do a step so many times, as one scan."""
        return jax.lax.scan(lambda carry, _: step(carry), start, None, length=length)

    def compiled(self, function: Callable[..., Any], *, donate: bool = False) -> Any:
        """The function as it is: everything around it is one compiled program."""
        del donate
        return function

    def _first_allowed(self, keys: Array, timestep: TimeStep) -> Int32[Array, "envs n"]:
        del keys
        return jnp.argmax(timestep.mask, axis=-1).astype(jnp.int32)

    def collect(
        self, collecting: Collecting, policy: Policy, key: PRNGKey, decisions: int
    ) -> tuple[Collecting, Transition, CollectStats]:
        """Make so many decisions in every environment; transitions come oldest first.

        The block has `decisions` x `num_envs` transitions, each over a window of `n_step`
        decisions that is cut short where its episode ends.
        """
        stream = (collecting.env_state, collecting.timestep, collecting.episode_return)
        (env_state, timestep, returns), (new, stats) = self._decide(stream, policy, key, decisions)
        line = jax.tree.map(lambda *parts: jnp.concatenate(parts), collecting.pending, new)
        collecting = Collecting(
            env_state, timestep, returns, jax.tree.map(lambda leaf: leaf[decisions:], line)
        )
        return collecting, windows(line, decisions, self.n_step), _total(stats)

    def _decide(
        self, stream: tuple[PyTree[Array], TimeStep, Array], policy: Policy, key: Array, length: int
    ) -> tuple[tuple[PyTree[Array], TimeStep, Array], tuple[AgentStep, CollectStats]]:
        """Scan decisions: [length, envs] of them."""

        def decide(
            stream: tuple[PyTree[Array], TimeStep, Array], keys: Array
        ) -> tuple[tuple[PyTree[Array], TimeStep, Array], tuple[AgentStep, CollectStats]]:
            env_state, timestep, returns = stream
            actions = policy(keys[:, 0], timestep)
            outcome = jax.vmap(lambda *one: hold(self.env, *one, discount=self.discount))(
                keys[:, 2:], env_state, timestep, actions
            )
            returns = returns + outcome.undiscounted
            stats = CollectStats(
                jnp.sum(outcome.steps, dtype=jnp.int32),
                jnp.sum(outcome.ended, dtype=jnp.int32),
                jnp.sum(jnp.where(outcome.ended, returns, 0.0)),
            )
            decision = jax.vmap(_decision)(timestep, actions, outcome)
            env_state, next_timestep = self._reset_ended(keys[:, 1], outcome)
            stream = (env_state, next_timestep, jnp.where(outcome.ended, 0.0, returns))
            return stream, (decision, stats)

        # All keys at once, for acting, resetting and each held step: splitting is slow to compile.
        keys = jax.random.split(key, (length, self.num_envs, 2 + self.action_repeat))
        return jax.lax.scan(decide, stream, keys)

    def _reset_ended(self, keys: Array, outcome: Outcome) -> tuple[PyTree[Array], TimeStep]:
        """Start new episodes where one ended; that is nowhere, mostly, and then costs nothing.

        With seeds side by side `vmap` makes it a selection that is always computed. To ask all of
        them at once took longer to compile and no less time to run.
        """
        running: tuple[PyTree[Array], TimeStep] = (outcome.env_state, outcome.timestep)

        def reset() -> tuple[PyTree[Array], TimeStep]:
            fresh = jax.vmap(self.env.reset)(keys)
            chosen: tuple[PyTree[Array], TimeStep]
            chosen = jax.vmap(choose)(outcome.ended, fresh, running)
            return chosen

        next_ones: tuple[PyTree[Array], TimeStep]
        next_ones = jax.lax.cond(jnp.any(outcome.ended), reset, lambda: running)
        return next_ones


def windows(line: AgentStep, starts: int, n_step: int) -> Transition:
    """Fold [starts + n_step - 1, envs] decisions into [starts * envs] transitions."""
    first = jnp.arange(starts, dtype=jnp.int32)
    window = first[:, None] + jnp.arange(n_step, dtype=jnp.int32)[None, :]

    def fold(decisions: AgentStep) -> Transition:  # of one environment
        one = decisions.transition
        rewards, discounts, last = jax.vmap(n_step_return)(
            one.reward_t[window], one.discount_t[window], decisions.ended[window]
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


def _decision(timestep: TimeStep, actions: Int32[Array, " n"], outcome: Outcome) -> AgentStep:
    """What is remembered of one decision; where it terminated there is nothing to bootstrap."""
    after = outcome.timestep
    transition = Transition(
        observation_tm1=timestep.observation,
        state_tm1=timestep.state,
        actions_tm1=actions,
        reward_t=outcome.reward,
        discount_t=jnp.where(after.terminated, 0.0, outcome.discount),
        observation_t=after.observation,
        state_t=after.state,
        mask_t=after.mask,
    )
    return AgentStep(transition, outcome.ended)


def _total(stats: CollectStats) -> CollectStats:
    total: CollectStats
    total = jax.tree.map(lambda leaf: jnp.sum(leaf, axis=0, dtype=leaf.dtype), stats)
    return total
