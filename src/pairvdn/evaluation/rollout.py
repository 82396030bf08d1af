"""Whole episodes of a fixed policy, as sums."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32, PyTree

from pairvdn.acting.exploration import random_actions
from pairvdn.acting.policy import greedy_actions
from pairvdn.checks import require_at_least
from pairvdn.envs import Environment, HasMeasures, HasShares, Share
from pairvdn.evaluation.loop import Moment, Policy, play
from pairvdn.types import PRNGKey, TimeStep
from pairvdn.values import Value


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


def greedy_episodes(
    env: Environment[Any],
    value: Value[Any],
    *,
    key: PRNGKey,
    num_episodes: int,
    max_steps: int | None = None,
    action_repeat: int = 1,
    moments: tuple[int, ...] = (),
) -> Episodes:
    """Play `num_episodes` episodes in which the agents do what `value` thinks best."""
    return _episodes(
        env,
        lambda _, timestep: (greedy_actions(env, value, timestep), None),
        key,
        num_episodes,
        max_steps,
        action_repeat,
        moments,
    )


def random_episodes(
    env: Environment[Any],
    *,
    key: PRNGKey,
    num_episodes: int,
    max_steps: int | None = None,
    action_repeat: int = 1,
    moments: tuple[int, ...] = (),
) -> Episodes:
    """Play `num_episodes` episodes of uniformly random allowed actions."""
    return _episodes(
        env,
        lambda key, timestep: (random_actions(key, timestep.mask), None),
        key,
        num_episodes,
        max_steps,
        action_repeat,
        moments,
    )


def _episodes(
    env: Environment[Any],
    policy: Policy,
    key: PRNGKey,
    num_episodes: int,
    max_steps: int | None,
    action_repeat: int,
    moments: tuple[int, ...],
) -> Episodes:
    """Play, and keep the sums."""
    require_at_least(1, **{f"moments[{place}]": moment for place, moment in enumerate(moments)})
    return play(
        env,
        policy,
        key=key,
        num_episodes=num_episodes,
        max_steps=max_steps,
        action_repeat=action_repeat,
        begin=_begin(env, num_episodes, moments),
        tell=_tell(env, moments),
    )


def _begin(
    env: Environment[Any], num_episodes: int, moments: tuple[int, ...]
) -> Callable[[PyTree[Array], TimeStep, PyTree[Array]], Episodes]:
    def begin(env_state: PyTree[Array], _: TimeStep, __: PyTree[Array]) -> Episodes:
        returns = jnp.zeros(num_episodes)
        nobody_acts = jnp.zeros((num_episodes, env.num_agents), jnp.int32)
        return Episodes(
            returns,
            jnp.zeros(num_episodes, jnp.int32),
            {
                name: jnp.broadcast_to(now[None], (len(moments), num_episodes))
                for name, now in _measures(env, env_state, returns).items()
            },
            jax.tree.map(jnp.zeros_like, _shares(env, env_state, nobody_acts)),
        )

    return begin


def _tell(
    env: Environment[Any], moments: tuple[int, ...]
) -> Callable[[Episodes, Moment], Episodes]:
    def tell(episodes: Episodes, moment: Moment) -> Episodes:
        running = moment.running
        returns = episodes.returns + jnp.where(running, moment.timestep.reward, 0.0)
        return Episodes(
            returns,
            episodes.lengths + running.astype(jnp.int32),
            _noted(env, episodes, moments, moment, returns),
            jax.tree.map(
                lambda sum_, more: sum_ + jnp.where(running, more, 0.0),
                episodes.shares,
                _shares(env, moment.before, moment.actions),
            ),
        )

    return tell


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
    episodes: Episodes,
    moments: tuple[int, ...],
    moment: Moment,
    returns: Float[Array, " episodes"],
) -> dict[str, Float[Array, "moments episodes"]]:
    """The measures of all moments; those that are still to come hold the present numbers.

    So every moment has its numbers when all episodes end before it.
    """
    measures = episodes.measures
    to_come = moment.step < jnp.array(moments, jnp.int32)

    def note() -> dict[str, Float[Array, "moments episodes"]]:
        now = _measures(env, moment.after, returns)
        return {
            name: jnp.where(to_come[:, None], now[name][None], before)
            for name, before in measures.items()
        }

    noted: dict[str, Float[Array, "moments episodes"]] = jax.lax.cond(
        jnp.any(to_come), note, lambda: measures
    )
    return noted
