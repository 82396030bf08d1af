"""Episodes of a fixed policy on the device, reduced to sums."""

from typing import Any, Required, TypedDict, Unpack

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
    are those of the environment, and the return so far as `return`, after each requested moment; an
    episode that ended earlier keeps its last numbers. `shares` count the whole episode.
    """

    returns: Float[Array, " episodes"]
    lengths: Int32[Array, " episodes"]
    measures: dict[str, Float[Array, "moments episodes"]]
    shares: dict[str, Share]


class EpisodeArguments(TypedDict, total=False):
    """The keyword arguments of everything that plays episodes on the device.

    Attributes:
        key: decides the initial states and all random numbers
        num_episodes: number of parallel episodes
        action_repeat: environment steps for which each action is repeated; 1 if not given
        moments: numbers of environment steps after which the measures are recorded
    """

    key: Required[PRNGKey]
    num_episodes: Required[int]
    action_repeat: int
    moments: tuple[int, ...]


def greedy_episodes(
    env: Environment[Any], value: Value[Any], **arguments: Unpack[EpisodeArguments]
) -> Episodes:
    """Play episodes of the greedy policy of `value`."""
    return play_episodes(env, GreedyPolicy(env, value), **arguments)


def random_episodes(env: Environment[Any], **arguments: Unpack[EpisodeArguments]) -> Episodes:
    """Play episodes of uniformly random allowed actions."""
    return play_episodes(env, RandomPolicy(), **arguments)


def play_episodes(
    env: Environment[Any], policy: Policy, **arguments: Unpack[EpisodeArguments]
) -> Episodes:
    """Play episodes of any policy and sum them up."""
    moments = arguments.get("moments", ())
    require_at_least(1, **{f"moments[{index}]": moment for index, moment in enumerate(moments)})
    return rollout(
        env,
        policy,
        _Sums(env, moments),
        key=arguments["key"],
        num_episodes=arguments["num_episodes"],
        action_repeat=arguments.get("action_repeat", 1),
    )


class _Sums(Observer[Episodes]):
    """Sums up rewards and shares, and records measures at some moments."""

    env: Environment[Any]
    moments: tuple[int, ...] = eqx.field(static=True)

    def begin(self, env_state: PyTree[Array], carry: PyTree[Array], timestep: TimeStep) -> Episodes:
        """All sums are 0."""
        del carry
        returns = jnp.zeros_like(timestep.reward)
        (num_episodes,) = returns.shape
        no_actions = jnp.zeros((num_episodes, self.env.num_agents), jnp.int32)
        return Episodes(
            returns,
            jnp.zeros(num_episodes, jnp.int32),
            {
                name: jnp.broadcast_to(now[None], (len(self.moments), num_episodes))
                for name, now in self._measures(env_state, returns).items()
            },
            jax.tree.map(jnp.zeros_like, self._shares(env_state, no_actions)),
        )

    def acted(self, account: Episodes, step: Int32[Array, ""], choice: AgentStep) -> Episodes:
        """Choices are not summed up."""
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
        measures = jax.vmap(env.measures)(env_state) if isinstance(env, HasMeasures) else {}
        return {"return": returns, **measures}

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
        """The measures at all moments; future moments hold the current numbers.

        They keep these numbers if all episodes end before the moment.
        """
        measures = account.measures
        is_future = step < jnp.array(self.moments, jnp.int32)

        def note() -> dict[str, Float[Array, "moments episodes"]]:
            now = self._measures(env_state, returns)
            return {
                name: jnp.where(is_future[:, None], now[name][None], before)
                for name, before in measures.items()
            }

        noted: dict[str, Float[Array, "moments episodes"]] = jax.lax.cond(
            jnp.any(is_future), note, lambda: measures
        )
        return noted
