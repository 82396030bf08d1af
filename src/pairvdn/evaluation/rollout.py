"""Whole episodes of a fixed policy, all of them side by side."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32, PyTree

from pairvdn.envs import Environment, HasMeasures, HasShares, Share
from pairvdn.learning.arguments import require_at_least
from pairvdn.learning.choose import choose
from pairvdn.learning.exploration import random_actions
from pairvdn.learning.policy import greedy_actions
from pairvdn.types import PRNGKey, TimeStep
from pairvdn.values import Value

# For one environment: what to do.
Policy = Callable[[PRNGKey, TimeStep], Int32[Array, " n"]]


class Episodes(eqx.Module):
    """What came of each episode.

    `returns` are undiscounted sums of the team reward, `lengths` the steps taken. `measures` are
    those that the environment offers, and the return so far as `return`, after each of the moments
    asked for; an episode that ended before stays as it was at its end. `shares` are counted over
    the whole episode.
    """

    returns: Float[Array, " episodes"]
    lengths: Int32[Array, " episodes"]
    measures: dict[str, Float[Array, "moments episodes"]]
    shares: dict[str, Share]


class _Playing(eqx.Module):
    """All episodes on their way; every leaf but `step` and measures begins with the episodes."""

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
    moments: tuple[int, ...] = (),
) -> Episodes:
    """Play `num_episodes` episodes in which the agents do what `value` thinks best."""
    return _episodes(
        env,
        lambda _, timestep: greedy_actions(env, value, timestep),
        key,
        num_episodes,
        max_steps,
        action_hold,
        moments,
    )


def random_episodes(
    env: Environment[Any],
    *,
    key: PRNGKey,
    num_episodes: int,
    max_steps: int | None = None,
    action_hold: int = 1,
    moments: tuple[int, ...] = (),
) -> Episodes:
    """Play `num_episodes` episodes of uniformly random allowed actions."""
    return _episodes(
        env,
        lambda key, timestep: random_actions(key, timestep.mask),
        key,
        num_episodes,
        max_steps,
        action_hold,
        moments,
    )


def _episodes(
    env: Environment[Any],
    policy: Policy,
    key: PRNGKey,
    num_episodes: int,
    max_steps: int | None,
    action_hold: int,
    moments: tuple[int, ...],
) -> Episodes:
    """Play until every episode has ended, at the latest after `max_steps`.

    An episode that has ended stays as it is while others go on. Actions are chosen anew every
    `action_hold` steps.
    """
    steps = env.max_steps if max_steps is None else max_steps
    require_at_least(1, num_episodes=num_episodes, action_hold=action_hold, max_steps=steps)
    require_at_least(1, **{f"moments[{place}]": moment for place, moment in enumerate(moments)})
    key = jax.random.bits(key, (2,), jnp.uint32)

    def keys(step: Int32[Array, ""], purpose: int) -> Array:
        return jax.random.split(jax.random.fold_in(key, 2 * step + purpose), num_episodes)

    def advance(playing: _Playing) -> _Playing:
        actions = jax.lax.cond(
            playing.step % action_hold == 0,
            lambda: jax.vmap(policy)(keys(playing.step, 0), playing.timestep),
            lambda: playing.actions,
        )
        before = playing.env_state
        env_state, timestep = jax.vmap(env.step)(keys(playing.step, 1), before, actions)
        running = ~playing.ended
        env_state = jax.vmap(choose)(running, env_state, before)
        returns = playing.episodes.returns + jnp.where(running, timestep.reward, 0.0)
        return _Playing(
            env_state,
            jax.vmap(choose)(running, timestep, playing.timestep),
            actions,
            Episodes(
                returns,
                playing.episodes.lengths + running.astype(jnp.int32),
                _noted(env, playing, moments, env_state, returns),
                jax.tree.map(
                    lambda sum_, more: sum_ + jnp.where(running, more, 0.0),
                    playing.episodes.shares,
                    _shares(env, before, actions),
                ),
            ),
            playing.ended | timestep.terminated | timestep.truncated,
            playing.step + 1,
        )

    env_state, timestep = jax.vmap(env.reset)(keys(jnp.int32(-1), 0))
    actions = jnp.zeros((num_episodes, env.num_agents), jnp.int32)
    returns = jnp.zeros(num_episodes)
    start = _Playing(
        env_state,
        timestep,
        actions,
        Episodes(
            returns,
            jnp.zeros(num_episodes, jnp.int32),
            {
                name: jnp.broadcast_to(now[None], (len(moments), num_episodes))
                for name, now in _measures(env, env_state, returns).items()
            },
            jax.tree.map(jnp.zeros_like, _shares(env, env_state, actions)),
        ),
        jnp.zeros(num_episodes, jnp.bool_),
        jnp.int32(0),
    )
    played = jax.lax.while_loop(
        lambda playing: (playing.step < steps) & ~jnp.all(playing.ended), advance, start
    )
    return played.episodes


def _measures(
    env: Environment[Any], env_state: PyTree[Array], returns: Float[Array, " episodes"]
) -> dict[str, Float[Array, " episodes"]]:
    offered = jax.vmap(env.measures)(env_state) if isinstance(env, HasMeasures) else {}
    return {"return": returns, **offered}


def _shares(
    env: Environment[Any], env_state: PyTree[Array], actions: Int32[Array, "episodes n"]
) -> dict[str, Share]:
    return jax.vmap(env.shares)(env_state, actions) if isinstance(env, HasShares) else {}


def _noted(
    env: Environment[Any],
    playing: _Playing,
    moments: tuple[int, ...],
    env_state: PyTree[Array],
    returns: Float[Array, " episodes"],
) -> dict[str, Float[Array, "moments episodes"]]:
    """The measures of all moments; those that are still to come hold the present numbers.

    So every moment has its numbers when all episodes end before it.
    """
    measures = playing.episodes.measures
    to_come = playing.step < jnp.array(moments, jnp.int32)

    def note() -> dict[str, Float[Array, "moments episodes"]]:
        now = _measures(env, env_state, returns)
        return {
            name: jnp.where(to_come[:, None], now[name][None], before)
            for name, before in measures.items()
        }

    noted: dict[str, Float[Array, "moments episodes"]] = jax.lax.cond(
        jnp.any(to_come), note, lambda: measures
    )
    return noted
