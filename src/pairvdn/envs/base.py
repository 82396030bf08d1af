"""The contract that every environment follows; `check_env` tests it."""

import abc
from typing import Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

import equinox as eqx
from jaxtyping import Array, Float, Int32

from pairvdn.envs.scene import Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

State = TypeVar("State")


class Task(eqx.Module):
    """What is known of an environment before anyone acts in it: its name and its sizes."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The id under which `make` finds it."""

    @property
    @abc.abstractmethod
    def num_agents(self) -> int:
        """How many agents act at each step."""

    @property
    @abc.abstractmethod
    def num_actions(self) -> int:
        """How many actions each agent has."""

    @property
    @abc.abstractmethod
    def observation_size(self) -> int:
        """Length of one agent's observation."""

    @property
    @abc.abstractmethod
    def state_size(self) -> int:
        """Length of the global state."""

    @property
    @abc.abstractmethod
    def max_steps(self) -> int:
        """Steps after which an episode is truncated."""

    @property
    def spec(self) -> EnvSpec:
        """The sizes as one record, from which values are built."""
        return EnvSpec(
            num_agents=self.num_agents,
            num_actions=self.num_actions,
            observation_size=self.observation_size,
            state_size=self.state_size,
            has_positions=isinstance(self, HasPositions),
        )


class Environment(Task, Generic[State]):
    """A cooperative environment as pure functions of one example.

    - `step` never resets: the last step of an episode returns the final observation with
      `terminated` or `truncated` set. Wrap in `auto_reset` for a stream of episodes.
    - A masked action acts as the environment's no-op.
    - `reward` is the sum of `agent_rewards`; one that offers the mean says so: `HasTeamReward`.
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


@runtime_checkable
class HasPositions(Protocol):
    """What an environment in which agents have places offers besides the contract."""

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
    """What an environment offers that says how `reward` follows from `agent_rewards`.

    One that does not say sums.
    """

    @property
    def team_reward(self) -> Literal["sum", "mean"]:
        """Whether `reward` is the sum or the mean of `agent_rewards`."""
        ...


@runtime_checkable
class HasMeasures(Protocol):
    """What an environment offers that has more to tell of a moment than rewards."""

    def measures(self, state: Any) -> dict[str, Float[Array, ""]]:
        """Numbers about this state; the names say what they are and in which unit."""
        ...


@runtime_checkable
class HasNames(Protocol):
    """What an environment offers whose numbers have names, for people to read."""

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
    """What an environment offers that moves in real time, and not in turns."""

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
    """What an environment offers that counts things the agents do together."""

    def shares(self, state: Any, actions: Int32[Array, " n"]) -> dict[str, Share]:
        """Counts of what happens when the agents do this in this state."""
        ...
