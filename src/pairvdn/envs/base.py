"""The contract that every environment follows; `check_env` tests it."""

import abc
from typing import Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.scene import Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

State = TypeVar("State")
TeamReward = Literal["sum", "mean"]
SECONDS_PER_TURN = 0.2  # where time is counted in turns: slow enough to follow


class Task(eqx.Module):
    """What is known of an environment before anyone acts in it: name, sizes, length of an episode.

    A subclass declares the three attributes, each as a class attribute (`name = "aloha"`) or, where
    it depends on arguments, as a static field that `__init__` sets.

    Attributes:
        name: The id under which `make` finds it.
        spec: The sizes, from which values are built.
        max_steps: Steps after which an episode is truncated.
    """

    name: eqx.AbstractVar[str]
    spec: eqx.AbstractVar[EnvSpec]
    max_steps: eqx.AbstractVar[int]

    @property
    def num_agents(self) -> int:
        """How many agents act at each step."""
        return self.spec.num_agents

    @property
    def num_actions(self) -> int:
        """How many actions each agent has."""
        return self.spec.num_actions

    @property
    def observation_size(self) -> int:
        """Length of one agent's observation."""
        return self.spec.observation_size

    @property
    def state_size(self) -> int:
        """Length of the global state."""
        return self.spec.state_size


class Environment(Task, Generic[State]):
    """A cooperative environment as pure functions of one example.

    - `step` never resets: the last step of an episode returns the final observation with
      `terminated` or `truncated` set.
    - A masked action acts as the environment's no-op.
    - `reward` is the sum of `agent_rewards`, or their mean if the environment declares
      `team_reward = "mean"`.
    - Everything random comes from `key`; the same key gives the same bits.
    - The environment itself holds only numbers that are fixed when it is made, and is hashable
      (no array fields: tuples, or static fields), so that `jax.jit(env.step)` works.
    """

    @abc.abstractmethod
    def reset(self, key: PRNGKey) -> tuple[State, TimeStep]:
        """Start an episode."""

    @abc.abstractmethod
    def step(
        self, key: PRNGKey, state: State, actions: Int32[Array, " n"]
    ) -> tuple[State, TimeStep]:
        """Act once."""

    @abc.abstractmethod
    def scene(self, state: State) -> Scene:
        """Describe what to draw, as data."""

    def time_step(
        self,
        *,
        observation: Float[Array, "n o"],
        state: Float[Array, " s"],
        mask: Bool[Array, "n a"] | None = None,
        rewards: Float[Array, " n"] | Float[Array, ""] | None = None,
        terminated: Bool[Array, ""] | bool = False,
        truncated: Bool[Array, ""] | bool = False,
    ) -> TimeStep:
        """Put a `TimeStep` together.

        Args:
            observation: What each agent observes.
            state: The global state.
            mask: Which actions are allowed; None allows all.
            rewards: One per agent, or a single one of the team, of which each agent gets 1/n; None,
                as at a reset, is 0.
            terminated: Whether the episode ended, and nothing can follow.
            truncated: Whether the episode was cut off.
        """
        n = self.num_agents
        if rewards is None:
            rewards = jnp.zeros((n,))
        if rewards.ndim == 0:
            team, rewards = rewards, jnp.broadcast_to(rewards / n, (n,))
        elif isinstance(self, HasTeamReward) and self.team_reward == "mean":
            team = jnp.mean(rewards)
        else:
            team = jnp.sum(rewards)
        return TimeStep(
            observation=observation,
            state=state,
            mask=jnp.ones((n, self.num_actions), bool) if mask is None else mask,
            reward=team,
            agent_rewards=rewards,
            terminated=jnp.asarray(terminated),
            truncated=jnp.asarray(truncated),
        )


@runtime_checkable
class HasPositions(Protocol):
    """An environment whose agents have positions; its spec says `has_positions=True`."""

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n k"]:
        """Where the agents are, in world units: first x, to the right, then y, up, if any.

        Takes what replay holds, the observation and the global state of a `TimeStep`, so that a
        value can choose partners by distance for remembered steps too.
        """
        ...


@runtime_checkable
class HasTeamReward(Protocol):
    """An environment that declares how `reward` follows from `agent_rewards`; others sum."""

    @property
    def team_reward(self) -> TeamReward:
        """Whether `reward` is the sum or the mean of `agent_rewards`."""
        ...


@runtime_checkable
class HasMeasures(Protocol):
    """An environment that can measure more of a state than rewards."""

    def measures(self, state: Any) -> dict[str, Float[Array, ""]]:
        """Numbers about this state; a name says what its number is and in which unit."""
        ...


@runtime_checkable
class HasNames(Protocol):
    """An environment whose actions and observed numbers have names for people to read."""

    @property
    def action_names(self) -> tuple[str, ...]:
        """A word or two for each action."""
        ...

    @property
    def observation_names(self) -> tuple[str, ...]:
        """A few words for each number that an agent observes."""
        ...


@runtime_checkable
class HasClock(Protocol):
    """An environment that moves in real time and not in turns."""

    @property
    def seconds_per_step(self) -> float:
        """How much of its time passes in a step."""
        ...


class Share(eqx.Module):
    """How many of some things had a property; shares of several steps are added up."""

    part: Float[Array, ""]
    whole: Float[Array, ""]


@runtime_checkable
class HasShares(Protocol):
    """An environment that counts things the agents do together."""

    def shares(self, state: Any, actions: Int32[Array, " n"]) -> dict[str, Share]:
        """Counts of what happens when the agents do this in this state."""
        ...


def seconds_per_step(env: Environment[Any]) -> float:
    """How long a step lasts for a viewer: by the environment's clock, else long enough to see."""
    return env.seconds_per_step if isinstance(env, HasClock) else SECONDS_PER_TURN
