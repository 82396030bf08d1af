"""JaxMARL's environments under our contract: `from_jaxmarl`."""

from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import require_one_of, whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.jaxmarl.kinds import Kind, kind_of
from pairvdn.envs.jaxmarl.original import Original, read
from pairvdn.envs.scene import Scene
from pairvdn.types import PRNGKey, TimeStep

TeamReward = Literal["sum", "mean"]


class JaxMARLState(eqx.Module):
    """JaxMARL's own state, the actions that it allows now, and our clock."""

    inner: Any
    mask: Bool[Array, "n a"]
    steps: Int32[Array, ""]


class FromJaxMARL(Environment[JaxMARLState]):
    """An environment of JaxMARL under our contract; what `from_jaxmarl` returns.

    Observations are written in one line each, as float32, with zeros after those that are shorter
    than the longest. The state is JaxMARL's own world state where there is one (SMAX), else the
    observations one after the other. Agents with fewer actions than others have the rest masked,
    and so are actions that JaxMARL says are not available (SMAX, Hanabi). A masked action acts as
    the no-op (`kinds.py` says which it is), or as the first allowed action if that is masked too.

    JaxMARL's `dones["__all__"]` does not say why an episode ended. So the clock is ours: it ends an
    episode as truncated after `max_steps`, and JaxMARL's own clock is held back and never strikes;
    what then still ends an episode is a termination.
    """

    original: eqx.AbstractVar[Original]
    kind: eqx.AbstractVar[Kind]
    team_reward: eqx.AbstractVar[TeamReward]
    _name: eqx.AbstractVar[str]
    _max_steps: eqx.AbstractVar[int]

    @property
    def name(self) -> str:
        """`jaxmarl:` and the name under which JaxMARL knows it."""
        return self._name

    @property
    def num_agents(self) -> int:
        """How many agents JaxMARL lets us move."""
        return len(self.original.agents)

    @property
    def num_actions(self) -> int:
        """Of the agent that has most."""
        return max(self.original.num_actions)

    @property
    def observation_size(self) -> int:
        """Of the agent that sees most."""
        return max(self.original.observation_sizes)

    @property
    def state_size(self) -> int:
        """Of JaxMARL's world state, or of all observations together."""
        return self.original.state_size

    @property
    def max_steps(self) -> int:
        """Steps after which an episode is truncated."""
        return self._max_steps

    def reset(self, key: PRNGKey) -> tuple[JaxMARLState, TimeStep]:
        """Start an episode."""
        observations, inner = self.original.reset(key)
        state = JaxMARLState(inner, self._mask(inner), jnp.int32(0))
        nothing = jnp.zeros((self.num_agents,), jnp.float32)
        return state, self._time_step(state, observations, nothing, jnp.asarray(False))

    def step(
        self, key: PRNGKey, state: JaxMARLState, actions: Int32[Array, " n"]
    ) -> tuple[JaxMARLState, TimeStep]:
        """Act once, without JaxMARL's automatic reset."""
        allowed = jnp.take_along_axis(state.mask, actions[:, None], axis=1)[:, 0]
        actions = jnp.where(allowed, actions, self._instead(state.mask))
        observations, inner, rewards, ended = self.original.step(
            key, state.inner, state.steps, actions
        )
        state = JaxMARLState(inner, self._mask(inner), state.steps + 1)
        if self.original.clock == "hidden":
            # It cannot be held back, so an end at its limit may be its doing.
            limit = self.original.max_steps or self.max_steps
            ended = ended & (state.steps < limit)
        return state, self._time_step(state, observations, rewards, ended)

    def scene(self, state: JaxMARLState) -> Scene:
        """What there is to see, for those kinds whose looks we know; else a dot for each agent."""
        return self.kind.scene(self.original.env, state.inner)

    def _instead(self, mask: Bool[Array, "n a"]) -> Int32[Array, " n"]:
        """What a masked action acts as."""
        no_op = int(self.kind.no_op(self.original.env))
        return jnp.where(mask[:, no_op], no_op, jnp.argmax(mask, axis=1)).astype(jnp.int32)

    def _mask(self, inner: Any) -> Bool[Array, "n a"]:
        exists = (
            jnp.arange(self.num_actions)[None] < jnp.asarray(self.original.num_actions)[:, None]
        )
        mask = exists & self.original.available(inner)
        # Some end states allow nothing; our contract wants something to be allowed always.
        return jnp.where(jnp.any(mask, axis=1, keepdims=True), mask, exists)

    def _time_step(
        self,
        state: JaxMARLState,
        observations: list[Float[Array, "..."]],
        rewards: Float[Array, " n"],
        terminated: Bool[Array, ""],
    ) -> TimeStep:
        size = self.observation_size
        return TimeStep(
            observation=jnp.stack([jnp.pad(one, (0, size - one.size)) for one in observations]),
            state=self.original.world_state(state.inner, observations),
            mask=state.mask,
            reward=jnp.sum(rewards) if self.team_reward == "sum" else jnp.mean(rewards),
            agent_rewards=rewards,
            terminated=terminated,
            truncated=state.steps >= self.max_steps,
        )


class FromJaxMARLWithoutPositions(FromJaxMARL):
    """For environments whose agents have no places, or none that we know how to read."""

    original: Original = eqx.field(static=True)
    kind: Kind = eqx.field(static=True)
    team_reward: TeamReward = eqx.field(static=True)
    _name: str = eqx.field(static=True)
    _max_steps: int = eqx.field(static=True)


class FromJaxMARLWithPositions(FromJaxMARL):
    """For environments whose agents have places, so that `HasPositions` is true of them."""

    original: Original = eqx.field(static=True)
    kind: Kind = eqx.field(static=True)
    team_reward: TeamReward = eqx.field(static=True)
    _name: str = eqx.field(static=True)
    _max_steps: int = eqx.field(static=True)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Where the agents are."""
        assert self.kind.positions is not None  # `from_jaxmarl` chose this class for it
        return self.kind.positions(self.original.env, observation, state)


def from_jaxmarl(
    env: Any,
    *,
    max_steps: int | None = None,
    team_reward: str | None = None,
    name: str | None = None,
) -> FromJaxMARL:
    """The environment `env` of JaxMARL under our contract; see `FromJaxMARL`.

    - `max_steps`: JaxMARL's own (`env.max_steps`) if not given. MPE and SMAX count so that their
      episodes are one step longer than they say; here 25 steps are 25 steps.
    - `team_reward`: what JaxMARL's Q-learning learns from if not given. That is the sum of the
      agents' rewards, except where each is given the whole team's (SMAX, Overcooked, Hanabi).
    """
    original, kind = read(env), kind_of(env)
    team_reward = kind.team_reward if team_reward is None else team_reward
    require_one_of(("sum", "mean"), team_reward=team_reward)
    max_steps = original.max_steps if max_steps is None else max_steps
    if max_steps is None:
        raise ValueError(f"{env.name} does not say how long an episode may last; give max_steps.")
    build = FromJaxMARLWithoutPositions if kind.positions is None else FromJaxMARLWithPositions
    return build(
        original=original,
        kind=kind,
        team_reward="sum" if team_reward == "sum" else "mean",
        _name=f"jaxmarl:{env.name}" if name is None else name,
        _max_steps=whole_number("max_steps", max_steps, 1),
    )
