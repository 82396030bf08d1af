"""The one loop in which policies are played: all episodes side by side, until the last has ended.

What is kept of the episodes is the caller's choice: `tell` is given every moment and the account so
far, and returns the account that includes it. Plain evaluation keeps sums, a recording everything.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32, PyTree

from pairvdn.acting.choose import choose
from pairvdn.checks import require_at_least
from pairvdn.envs import Environment
from pairvdn.types import PRNGKey, TimeStep

# For one environment: what to do, and what to remember of the decision (any arrays, or None).
Policy = Callable[[PRNGKey, TimeStep], tuple[Int32[Array, " n"], PyTree[Array]]]
Account = TypeVar("Account")


class Moment(eqx.Module):
    """One step of all episodes; every leaf but `step` begins with the episodes.

    `running` says which episodes had not ended before; the others stay as they are. `explanation`
    is what the policy remembers of the agent step that this step belongs to.
    """

    step: Int32[Array, ""]  # how many there were before
    running: Bool[Array, " episodes"]
    before: PyTree[Array]  # state of the environments
    actions: Int32[Array, "episodes n"]
    explanation: PyTree[Array]
    after: PyTree[Array]  # state of the environments
    timestep: TimeStep  # after the step


class _Playing(eqx.Module):
    """All episodes on their way."""

    env_state: PyTree[Array]
    timestep: TimeStep
    decision: tuple[Int32[Array, "episodes n"], PyTree[Array]]
    account: PyTree[Array]
    ended: Bool[Array, " episodes"]
    step: Int32[Array, ""]


def play(
    env: Environment[Any],
    policy: Policy,
    *,
    key: PRNGKey,
    num_episodes: int,
    max_steps: int | None,
    action_repeat: int,
    begin: Callable[[PyTree[Array], TimeStep, PyTree[Array]], Account],
    tell: Callable[[Account, Moment], Account],
) -> Account:
    """Play until every episode has ended, at the latest after `max_steps`.

    An episode that has ended stays as it is while others go on. The policy is asked every
    `action_repeat` steps. `begin` makes the first account of the states and time steps of the
    resets and of an explanation of zeros. The same key gives the same starts, whatever the policy
    and however many episodes there are.
    """
    steps = env.max_steps if max_steps is None else max_steps
    require_at_least(1, num_episodes=num_episodes, action_repeat=action_repeat, max_steps=steps)
    key = jax.random.bits(key, (2,), jnp.uint32)

    def keys(step: Int32[Array, ""], purpose: int) -> Array:
        return jax.random.split(jax.random.fold_in(key, 2 * step + purpose), num_episodes)

    def decide(step: Int32[Array, ""], timestep: TimeStep) -> Any:
        return jax.vmap(policy)(keys(step, 0), timestep)

    def advance(playing: _Playing) -> _Playing:
        actions, explanation = jax.lax.cond(
            playing.step % action_repeat == 0,
            lambda: decide(playing.step, playing.timestep),
            lambda: playing.decision,
        )
        before, running = playing.env_state, ~playing.ended
        stepped, timestep = jax.vmap(env.step)(keys(playing.step, 1), before, actions)
        after = jax.vmap(choose)(running, stepped, before)
        moment = Moment(playing.step, running, before, actions, explanation, after, timestep)
        return _Playing(
            after,
            jax.vmap(choose)(running, timestep, playing.timestep),
            (actions, explanation),
            tell(playing.account, moment),
            playing.ended | timestep.terminated | timestep.truncated,
            playing.step + 1,
        )

    env_state, timestep = jax.vmap(env.reset)(keys(jnp.int32(-1), 0))
    nothing: Any = jax.tree.map(
        lambda leaf: jnp.zeros(leaf.shape, leaf.dtype),
        jax.eval_shape(decide, jnp.int32(0), timestep),
    )
    start = _Playing(
        env_state,
        timestep,
        nothing,
        begin(env_state, timestep, nothing[1]),
        jnp.zeros(num_episodes, jnp.bool_),
        jnp.int32(0),
    )
    played = jax.lax.while_loop(
        lambda playing: (playing.step < steps) & ~jnp.all(playing.ended), advance, start
    )
    account: Account = played.account
    return account
