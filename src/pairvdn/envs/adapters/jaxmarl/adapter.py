"""JaxMARL's environments under our contract: `from_jaxmarl`."""

import warnings
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_one_of, whole_number
from pairvdn.envs.adapters.jaxmarl.kinds import Kind, kind_of
from pairvdn.envs.adapters.jaxmarl.names import or_numbers
from pairvdn.envs.adapters.jaxmarl.original import Original, read
from pairvdn.envs.base import Environment, TeamReward
from pairvdn.envs.scene import Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep


class JaxMARLState(eqx.Module):
    """JaxMARL's own state, the allowed actions, and our clock."""

    inner: Any
    mask: Bool[Array, "n a"]
    steps: Int32[Array, ""]


class FromJaxMARL(Environment[JaxMARLState]):
    """An environment of JaxMARL under our contract; the result of `from_jaxmarl`.

    Observations are flattened to float32 and padded with zeros to the longest. The state is
    JaxMARL's own world state if it has one (SMAX), else the observations in a row. Actions that an
    agent lacks are masked, and so are those that JaxMARL calls unavailable (SMAX, Hanabi). A masked
    action acts as the no-op (see `kinds.py`), or as the first allowed action if that is masked too.

    JaxMARL's `dones["__all__"]` does not say why an episode ended. So this class keeps the time: it
    truncates an episode after `max_steps` and keeps JaxMARL's own clock from running out. Any end
    that JaxMARL still reports is a termination.
    """

    team_reward: eqx.AbstractVar[TeamReward]
    original: eqx.AbstractVar[Original]
    kind: eqx.AbstractVar[Kind]

    @property
    def action_names(self) -> tuple[str, ...]:
        """Names for the kinds that `kinds` knows; else numbers."""
        return or_numbers(self.kind.action_names(self.original.env), self.num_actions)

    @property
    def observation_names(self) -> tuple[str, ...]:
        """Names for the kinds that `kinds` knows; else numbers."""
        return or_numbers(self.kind.observation_names(self.original.env), self.observation_size)

    def reset(self, key: PRNGKey) -> tuple[JaxMARLState, TimeStep]:
        """Start an episode."""
        observations, inner = self.original.reset(key)
        state = JaxMARLState(inner, self._mask(inner), jnp.int32(0))
        return state, self._time_step(state, observations)

    def step(
        self, key: PRNGKey, state: JaxMARLState, actions: Int32[Array, " n"]
    ) -> tuple[JaxMARLState, TimeStep]:
        """Act once, without JaxMARL's automatic reset."""
        actions = self.as_actions(actions)
        allowed = jnp.take_along_axis(state.mask, actions[:, None], axis=1)[:, 0]
        actions = jnp.where(allowed, actions, self._instead(state.mask))
        observations, inner, rewards, ended = self.original.step(
            key, state.inner, state.steps, actions
        )
        state = JaxMARLState(inner, self._mask(inner), state.steps + 1)
        if self.original.clock == "hidden":
            # It cannot be stopped, so an end at its limit may be a truncation.
            limit = self.original.max_steps or self.max_steps
            ended = ended & (state.steps < limit)
        return state, self._time_step(state, observations, rewards, ended)

    def scene(self, state: JaxMARLState) -> Scene:
        """A drawing for the kinds that `kinds` knows; else a dot for each agent."""
        return self.kind.scene(self.original.env, state.inner)

    def _instead(self, mask: Bool[Array, "n a"]) -> Int32[Array, " n"]:
        """The action that replaces a masked one."""
        no_op = int(self.kind.no_op(self.original.env))
        return jnp.where(mask[:, no_op], no_op, jnp.argmax(mask, axis=1)).astype(jnp.int32)

    def _mask(self, inner: Any) -> Bool[Array, "n a"]:
        exists = (
            jnp.arange(self.num_actions)[None] < jnp.asarray(self.original.num_actions)[:, None]
        )
        mask = exists & self.original.available(inner)
        # Some end states allow no action; our contract requires at least one.
        return jnp.where(jnp.any(mask, axis=1, keepdims=True), mask, exists)

    def _time_step(
        self,
        state: JaxMARLState,
        observations: list[Float[Array, "..."]],
        rewards: Float[Array, " n"] | None = None,
        terminated: Bool[Array, ""] | bool = False,
    ) -> TimeStep:
        size = self.observation_size
        return self.time_step(
            observation=jnp.stack([jnp.pad(one, (0, size - one.size)) for one in observations]),
            state=self.original.world_state(state.inner, observations),
            mask=state.mask,
            rewards=rewards,
            terminated=terminated,
            truncated=state.steps >= self.max_steps,
        )


class FromJaxMARLWithoutPositions(FromJaxMARL):
    """For environments whose agents have no known positions."""

    name: str = eqx.field(static=True)
    spec: EnvSpec = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    team_reward: TeamReward = eqx.field(static=True)
    original: Original = eqx.field(static=True)
    kind: Kind = eqx.field(static=True)


class FromJaxMARLWithPositions(FromJaxMARL):
    """For environments whose agents have positions: `HasPositions` holds."""

    name: str = eqx.field(static=True)
    spec: EnvSpec = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    team_reward: TeamReward = eqx.field(static=True)
    original: Original = eqx.field(static=True)
    kind: Kind = eqx.field(static=True)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Where the agents are."""
        assert self.kind.positions is not None  # as `from_jaxmarl` checked
        return self.kind.positions(self.original.env, observation, state)


def from_jaxmarl(
    env: Any,
    *,
    max_steps: int | None = None,
    team_reward: TeamReward | None = None,
    name: str | None = None,
) -> FromJaxMARL:
    """The environment `env` of JaxMARL under our contract; see `FromJaxMARL`.

    Args:
        env: An environment of JaxMARL.
        max_steps: Steps after which an episode is truncated; None: JaxMARL's own `env.max_steps`.
            In JaxMARL, MPE and SMAX play one step more than they declare; here 25 steps are 25.
        team_reward: Whether the team's reward is the `sum` or the `mean` of the agents' rewards;
            None: as in JaxMARL's Q-learning, the sum, except where each agent gets the whole team's
            reward (SMAX, Overcooked, Hanabi).
        name: Name of the environment; None: `jaxmarl:` and JaxMARL's name.
    """
    original, kind = read(env), kind_of(env)
    if kind.warning:
        warnings.warn(kind.warning, stacklevel=2)
    team_reward = kind.team_reward if team_reward is None else team_reward
    require_one_of(("sum", "mean"), team_reward=team_reward)
    max_steps = original.max_steps if max_steps is None else max_steps
    if max_steps is None:
        raise ValueError(f"{env.name} has no limit on the length of episodes; give max_steps.")
    has_positions = kind.positions is not None
    build = FromJaxMARLWithPositions if has_positions else FromJaxMARLWithoutPositions
    return build(
        name=f"jaxmarl:{env.name}" if name is None else name,
        spec=EnvSpec(
            num_agents=len(original.agents),
            num_actions=max(original.num_actions),
            observation_size=max(original.observation_sizes),
            state_size=original.state_size,
            has_positions=has_positions,
        ),
        max_steps=whole_number("max_steps", max_steps, 1),
        team_reward=team_reward,
        original=original,
        kind=kind,
    )
