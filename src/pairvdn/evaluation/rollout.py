"""Whole episodes of a fixed policy, all of them side by side."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, PyTree

from pairvdn.envs import Environment
from pairvdn.learning.arguments import require_at_least
from pairvdn.learning.choose import choose
from pairvdn.learning.exploration import random_actions
from pairvdn.learning.policy import greedy_actions
from pairvdn.types import PRNGKey, TimeStep
from pairvdn.values import Value

# For one environment: what to do.
Policy = Callable[[PRNGKey, TimeStep], Int32[Array, " n"]]


class Episodes(eqx.Module):
    """What came of each episode: the undiscounted sum of the team reward, and the steps taken."""

    returns: Float[Array, " episodes"]
    lengths: Int32[Array, " episodes"]


class _Playing(eqx.Module):
    """All episodes on their way; every leaf but `step` has the episodes as its leading axis."""

    env_state: PyTree[Array]
    timestep: TimeStep
    actions: Int32[Array, "episodes n"]
    episodes: Episodes
    ended: Bool[Array, " episodes"]
    step: Int32[Array, ""]


def greedy_episodes(
    env: Environment[Any],
    value: Value[Any],
    *,
    key: PRNGKey,
    num_episodes: int,
    max_steps: int | None = None,
    action_hold: int = 1,
) -> Episodes:
    """Play `num_episodes` episodes in which the agents do what `value` thinks best."""
    return _episodes(
        env,
        lambda _, timestep: greedy_actions(env, value, timestep),
        key,
        num_episodes,
        max_steps,
        action_hold,
    )


def random_episodes(
    env: Environment[Any],
    *,
    key: PRNGKey,
    num_episodes: int,
    max_steps: int | None = None,
    action_hold: int = 1,
) -> Episodes:
    """Play `num_episodes` episodes of uniformly random allowed actions."""
    return _episodes(
        env,
        lambda key, timestep: random_actions(key, timestep.mask),
        key,
        num_episodes,
        max_steps,
        action_hold,
    )


def _episodes(
    env: Environment[Any],
    policy: Policy,
    key: PRNGKey,
    num_episodes: int,
    max_steps: int | None,
    action_hold: int,
) -> Episodes:
    """Play until every episode has ended, at the latest after `max_steps`.

    An episode that has ended stays as it is while others go on. Actions are chosen anew every
    `action_hold` steps.
    """
    steps = env.max_steps if max_steps is None else max_steps
    require_at_least(1, num_episodes=num_episodes, action_hold=action_hold, max_steps=steps)
    key = jax.random.bits(key, (2,), jnp.uint32)

    def keys(step: Int32[Array, ""], purpose: int) -> Array:
        return jax.random.split(jax.random.fold_in(key, 2 * step + purpose), num_episodes)

    def advance(playing: _Playing) -> _Playing:
        actions = jax.lax.cond(
            playing.step % action_hold == 0,
            lambda: jax.vmap(policy)(keys(playing.step, 0), playing.timestep),
            lambda: playing.actions,
        )
        env_state, timestep = jax.vmap(env.step)(keys(playing.step, 1), playing.env_state, actions)
        running = ~playing.ended
        return _Playing(
            jax.vmap(choose)(running, env_state, playing.env_state),
            jax.vmap(choose)(running, timestep, playing.timestep),
            actions,
            Episodes(
                playing.episodes.returns + jnp.where(running, timestep.reward, 0.0),
                playing.episodes.lengths + running.astype(jnp.int32),
            ),
            playing.ended | timestep.terminated | timestep.truncated,
            playing.step + 1,
        )

    env_state, timestep = jax.vmap(env.reset)(keys(jnp.int32(-1), 0))
    start = _Playing(
        env_state,
        timestep,
        jnp.zeros((num_episodes, env.num_agents), jnp.int32),
        Episodes(jnp.zeros(num_episodes), jnp.zeros(num_episodes, jnp.int32)),
        jnp.zeros(num_episodes, jnp.bool_),
        jnp.int32(0),
    )
    played = jax.lax.while_loop(
        lambda playing: (playing.step < steps) & ~jnp.all(playing.ended), advance, start
    )
    return played.episodes
