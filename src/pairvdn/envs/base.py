"""The contract of environments, on the device or on the host; `check_env` tests it."""

import abc
from collections.abc import Mapping
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Float32, Int32, UInt8

from pairvdn.checks import require_shape, shown
from pairvdn.envs.scene import Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

State = TypeVar("State")
TeamReward = Literal["sum", "mean"]
SECONDS_PER_TURN = 0.2  # where time is counted in turns: slow enough to follow


# A larger observation or state is a slip of the keyboard, and does not fit a replay.
_MOST_NUMBERS = 10_000_000
_MOST_STEPS = 1_000_000  # of an episode: even a plot plays some with the random policy


class StepError(RuntimeError):
    """An environment of another library failed in `reset` or `step`."""


class Task(eqx.Module):
    """The static description of an environment: name, sizes, length of an episode.

    A subclass declares the three attributes, each as a class attribute (`name = "aloha"`) or, if it
    depends on arguments, as a static field that `__init__` sets.

    Attributes:
        name: The id under which `make` finds it.
        spec: The sizes for which values are built.
        max_steps: Steps after which an episode is truncated.
    """

    name: eqx.AbstractVar[str]
    spec: eqx.AbstractVar[EnvSpec]
    max_steps: eqx.AbstractVar[int]

    @property
    def num_agents(self) -> int:
        """Number of agents."""
        return self.spec.num_agents

    @property
    def num_actions(self) -> int:
        """Number of actions of each agent."""
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
    - An action that does not exist is a ValueError, and acts as the no-op inside `jax.jit`, where
      values are not known: `as_actions` does both.
    - `reward` is the sum of `agent_rewards`, or their mean if the environment declares
      `team_reward = "mean"`.
    - All randomness comes from `key`; the same key gives the same bits.
    - The environment itself is immutable and hashable (tuples or static fields, no arrays), so that
      `jax.jit(env.step)` works.
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

    def as_actions(self, actions: Any, *, no_op: int | None = 0) -> Int32[Array, " n"]:
        """The argument of `step` as int32[n]; ValueError if it is not a joint action.

        Inside `jax.jit` the values are not known: there an action that does not exist becomes
        `no_op`, or stays as it is (None) if `step` ignores it anyway.
        """
        spec = self.spec
        if not isinstance(actions, Tracer):
            return jnp.asarray(concrete_actions(actions, spec))
        _require_actions(actions.shape, actions.dtype, spec)
        if no_op is None:
            return actions.astype(jnp.int32)
        exists = (actions >= 0) & (actions < spec.num_actions)
        return jnp.where(exists, actions, no_op).astype(jnp.int32)

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
            rewards: One per agent, or a single team reward, of which each agent gets 1/n; None: 0.
            terminated: Whether the episode ended in a terminal state.
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


def concrete_actions(actions: Any, spec: EnvSpec) -> Int32[np.ndarray, " n"]:
    """A joint action in NumPy; ValueError unless it has an existing action for each agent."""
    try:
        joint = np.asarray(actions)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"actions must be whole numbers, not {shown(actions)}.") from error
    _require_actions(joint.shape, joint.dtype, spec)
    if joint.min() < 0 or joint.max() >= spec.num_actions:
        raise ValueError(f"actions must be from 0 to {spec.num_actions - 1}, not {joint.tolist()}.")
    return joint.astype(np.int32)


def _require_actions(shape: tuple[int, ...], dtype: Any, spec: EnvSpec) -> None:
    require_shape("actions", shape, num_agents=spec.num_agents)
    if not jnp.issubdtype(dtype, jnp.integer):
        raise ValueError(f"actions must be whole numbers, not {dtype}.")


def require_size(task: Task) -> None:
    """Raise ValueError for an environment too large, or with episodes too long, to be played."""
    if task.max_steps > _MOST_STEPS:
        raise ValueError(f"max_steps must be at most {_MOST_STEPS}, not {task.max_steps}.")
    spec = task.spec
    numbers = spec.num_agents * (spec.observation_size + spec.num_actions) + spec.state_size
    if numbers > _MOST_NUMBERS:
        raise ValueError(
            f"{task.name} is too large: {spec.num_agents} agents observe {spec.observation_size} "
            f"numbers each, and the state has {spec.state_size}."
        )


@runtime_checkable
class HasPositions(Protocol):
    """An environment whose agents have positions; its spec says `has_positions=True`."""

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n k"]:
        """The positions of the agents in world units: x to the right, then y upwards, if any.

        The arguments are stored in the replay, so a value can also locate the agents of past steps.
        """
        ...


@runtime_checkable
class HasTeamReward(Protocol):
    """An environment that declares how to compute `reward` from `agent_rewards`; default: sum."""

    @property
    def team_reward(self) -> TeamReward:
        """Whether `reward` is the sum or the mean of `agent_rewards`."""
        ...


@runtime_checkable
class HasMeasures(Protocol):
    """An environment with measures of a state besides rewards."""

    def measures(self, state: Any) -> dict[str, Float[Array, ""]]:
        """Numbers about this state, by name."""
        ...


@runtime_checkable
class HasMeasureMeanings(Protocol):
    """An environment that explains its measures."""

    @property
    def measure_meanings(self) -> Mapping[str, str]:
        """A sentence for each measure that needs one."""
        ...


@runtime_checkable
class HasNames(Protocol):
    """An environment with names for its actions and observed numbers."""

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
    """An environment in real time instead of turns."""

    @property
    def seconds_per_step(self) -> float:
        """The simulated time of a step."""
        ...


class Share(eqx.Module):
    """A fraction as two counts, so that several steps can be added up."""

    part: Float[Array, ""]
    whole: Float[Array, ""]


@runtime_checkable
class HasShares(Protocol):
    """An environment that counts coordinated behaviour."""

    def shares(self, state: Any, actions: Int32[Array, " n"]) -> dict[str, Share]:
        """The counts for these actions in this state, by name."""
        ...


def seconds_per_step(env: Task) -> float:
    """The duration of a step for a viewer: the environment's own, else `SECONDS_PER_TURN`."""
    return env.seconds_per_step if isinstance(env, HasClock) else SECONDS_PER_TURN


class HostStep(NamedTuple):
    """The result of a reset or a step: the fields of `TimeStep`, in NumPy."""

    observation: Float32[np.ndarray, "n o"]
    state: Float32[np.ndarray, " s"]
    mask: Bool[np.ndarray, "n a"]
    reward: Float[np.ndarray, ""]
    agent_rewards: Float32[np.ndarray, " n"]
    terminated: Bool[np.ndarray, ""]
    truncated: Bool[np.ndarray, ""]


class HostCopy(abc.ABC):
    """A live environment of another library; the rules of `Environment` hold for it.

    A step never resets, a masked action is replaced by an allowed one, and the seed of a reset
    determines everything that follows, if the environment respects it. Copies are never closed:
    closing a pygame environment shuts down pygame for all others.
    """

    @abc.abstractmethod
    def reset(self, seed: int) -> HostStep:
        """Start an episode."""

    @abc.abstractmethod
    def step(self, actions: Int32[np.ndarray, " n"]) -> HostStep:
        """Act once."""


@runtime_checkable
class HasPictures(Protocol):
    """A live environment that can be drawn."""

    def picture(self) -> UInt8[np.ndarray, "h w 3"] | None:
        """The pixels of the current state; None if it was made without rendering."""
        ...


class HostEnvironment(Task):
    """An environment that is stepped in Python, in live copies, not inside `jax.jit`."""

    @abc.abstractmethod
    def copy(self) -> HostCopy:
        """A new live copy, not reset yet."""
