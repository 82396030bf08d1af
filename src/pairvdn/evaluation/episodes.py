"""Whole episodes of a fixed policy, as sums."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32, PyTree

from pairvdn.acting.policy import GreedyPolicy, Policy, RandomPolicy
from pairvdn.acting.repeat import EnvStep
from pairvdn.acting.rollout import AgentStep, Observer, rollout
from pairvdn.checks import require_at_least
from pairvdn.envs import Environment, HasMeasures, HasShares, Share
from pairvdn.types import PRNGKey, TimeStep
from pairvdn.values import Value


class Episodes(eqx.Module):
    """The sums of each episode.

    `returns` are undiscounted sums of the team reward, `lengths` the environment steps. `measures`
    are those of the environment, and the return so far as `return`, after each of the moments that
    were asked for; an episode that ended earlier keeps its last numbers. `shares` are counted over
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
    action_repeat: int = 1,
    moments: tuple[int, ...] = (),
) -> Episodes:
    """Play `num_episodes` episodes of the greedy policy of `value`."""
    return play_episodes(
        env,
        GreedyPolicy(env, value),
        key=key,
        num_episodes=num_episodes,
        action_repeat=action_repeat,
        moments=moments,
    )


def random_episodes(
    env: Environment[Any],
    *,
    key: PRNGKey,
    num_episodes: int,
    action_repeat: int = 1,
    moments: tuple[int, ...] = (),
) -> Episodes:
    """Play `num_episodes` episodes of uniformly random allowed actions."""
    return play_episodes(
        env,
        RandomPolicy(),
        key=key,
        num_episodes=num_episodes,
        action_repeat=action_repeat,
        moments=moments,
    )


def play_episodes(
    env: Environment[Any],
    policy: Policy,
    *,
    key: PRNGKey,
    num_episodes: int,
    action_repeat: int = 1,
    moments: tuple[int, ...] = (),
) -> Episodes:
    """Play `num_episodes` episodes of any policy, and keep the sums.

    `moments` are numbers of environment steps after which the measures are noted.
    """
    require_at_least(1, **{f"moments[{place}]": moment for place, moment in enumerate(moments)})
    return rollout(
        env,
        policy,
        _Sums(env, moments),
        key=key,
        num_episodes=num_episodes,
        action_repeat=action_repeat,
    )


class _Sums(Observer[Episodes]):
    """Adds up rewards and shares, and notes measures at some moments."""

    env: Environment[Any]
    moments: tuple[int, ...] = eqx.field(static=True)

    def begin(self, env_state: PyTree[Array], carry: PyTree[Array], timestep: TimeStep) -> Episodes:
        """Sums of nothing."""
        del carry
        returns = jnp.zeros_like(timestep.reward)
        (num_episodes,) = returns.shape
        nobody_acts = jnp.zeros((num_episodes, self.env.num_agents), jnp.int32)
        return Episodes(
            returns,
            jnp.zeros(num_episodes, jnp.int32),
            {
                name: jnp.broadcast_to(now[None], (len(self.moments), num_episodes))
                for name, now in self._measures(env_state, returns).items()
            },
            jax.tree.map(jnp.zeros_like, self._shares(env_state, nobody_acts)),
        )

    def acted(self, account: Episodes, step: Int32[Array, ""], choice: AgentStep) -> Episodes:
        """Choices are not counted."""
        return account

    def stepped(self, account: Episodes, step: Int32[Array, ""], done: EnvStep) -> Episodes:
        """One more step of the episodes that are still running."""
        returns = account.returns + jnp.where(done.running, done.timestep.reward, 0.0)
        return Episodes(
            returns,
            account.lengths + done.running.astype(jnp.int32),
            self._noted(account, step, done.after, returns),
            jax.tree.map(
                lambda total, more: total + jnp.where(done.running, more, 0.0),
                account.shares,
                self._shares(done.before, done.actions),
            ),
        )

    def _measures(
        self, env_state: PyTree[Array], returns: Float[Array, " episodes"]
    ) -> dict[str, Float[Array, " episodes"]]:
        env = self.env
        offered = jax.vmap(env.measures)(env_state) if isinstance(env, HasMeasures) else {}
        return {"return": returns, **offered}

    def _shares(
        self, env_state: PyTree[Array], actions: Int32[Array, "episodes n"]
    ) -> dict[str, Share]:
        env = self.env
        return jax.vmap(env.shares)(env_state, actions) if isinstance(env, HasShares) else {}

    def _noted(
        self,
        account: Episodes,
        step: Int32[Array, ""],
        env_state: PyTree[Array],
        returns: Float[Array, " episodes"],
    ) -> dict[str, Float[Array, "moments episodes"]]:
        """The measures at all moments; moments still to come hold the present numbers.

        So every moment has its numbers if all episodes end before it.
        """
        measures = account.measures
        to_come = step < jnp.array(self.moments, jnp.int32)

        def note() -> dict[str, Float[Array, "moments episodes"]]:
            now = self._measures(env_state, returns)
            return {
                name: jnp.where(to_come[:, None], now[name][None], before)
                for name, before in measures.items()
            }

        noted: dict[str, Float[Array, "moments episodes"]] = jax.lax.cond(
            jnp.any(to_come), note, lambda: measures
        )
        return noted
