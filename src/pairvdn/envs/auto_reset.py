"""A stream of episodes: the next one starts by itself where one ends."""

from typing import Generic

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.base import Environment, HasPositions, State
from pairvdn.envs.renewal import renewed
from pairvdn.envs.scene import Scene
from pairvdn.types import PRNGKey, TimeStep


class AutoResetTimeStep(eqx.Module):
    """A `TimeStep` at whose end a new episode may have begun.

    `reward`, `agent_rewards` and the flags are those of the step that was taken. `observation`,
    `state` and `mask` are what to act on next: those of the new episode where one ended.

    The `final_` fields are where the step itself led, whether or not an episode ended there. So a
    learner's successor of a step is always `final_observation`, `final_state`, `final_mask`, and it
    has nothing to select: bootstrapping from `observation` would look into another episode.
    """

    observation: Float[Array, "n o"]
    state: Float[Array, " s"]
    mask: Bool[Array, "n a"]
    reward: Float[Array, ""]
    agent_rewards: Float[Array, " n"]
    terminated: Bool[Array, ""]
    truncated: Bool[Array, ""]
    final_observation: Float[Array, "n o"]
    final_state: Float[Array, " s"]
    final_mask: Bool[Array, "n a"]


class AutoReset(eqx.Module, Generic[State]):
    """An environment that resets itself; what `auto_reset` returns.

    It keeps no state of its own. The key of a step is split in two by `split_key`: the first half
    is for the wrapped step, the second for the reset that may follow.
    """

    env: eqx.AbstractVar[Environment[State]]

    @property
    def name(self) -> str:
        """The name of the environment inside."""
        return self.env.name

    @property
    def num_agents(self) -> int:
        """How many agents act at each step."""
        return self.env.num_agents

    @property
    def num_actions(self) -> int:
        """How many actions each agent has."""
        return self.env.num_actions

    @property
    def observation_size(self) -> int:
        """Length of one agent's observation."""
        return self.env.observation_size

    @property
    def state_size(self) -> int:
        """Length of the global state."""
        return self.env.state_size

    @property
    def max_steps(self) -> int:
        """Steps after which an episode is truncated."""
        return self.env.max_steps

    def reset(self, key: PRNGKey) -> tuple[State, AutoResetTimeStep]:
        """Start the first episode; `key` goes to the environment as it is."""
        state, first = self.env.reset(key)
        return state, _joined(first, first)

    def step(
        self, key: PRNGKey, state: State, actions: Int32[Array, " n"]
    ) -> tuple[State, AutoResetTimeStep]:
        """Act once, and start the next episode if this one ended."""
        step_key, reset_key = split_key(key)
        state, taken = self.env.step(step_key, state, actions)
        ended = taken.terminated | taken.truncated
        state, follows = renewed(self.env, ended, reset_key, (state, taken))
        return state, _joined(taken, follows)

    def scene(self, state: State) -> Scene:
        """Describe what to draw, as data."""
        return self.env.scene(state)


class AutoResetWithoutPositions(AutoReset[State]):
    """For an environment whose agents have no places."""

    env: Environment[State]


class AutoResetWithPositions(AutoReset[State]):
    """For an environment whose agents have places, so that `HasPositions` stays true of it."""

    env: Environment[State]

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n k"]:
        """Where the agents are, in world units."""
        assert isinstance(self.env, HasPositions)  # `auto_reset` chose this class for it
        return self.env.positions(observation, state)


def auto_reset(env: Environment[State]) -> AutoReset[State]:
    """Wrap `env` so that an episode's end starts the next one."""
    if isinstance(env, HasPositions):
        return AutoResetWithPositions(env)
    return AutoResetWithoutPositions(env)


def split_key(key: PRNGKey) -> tuple[PRNGKey, PRNGKey]:
    """Keys of the wrapped step and of the reset after it."""
    step_key, reset_key = jax.random.split(key)
    return step_key, reset_key


def _joined(taken: TimeStep, follows: TimeStep) -> AutoResetTimeStep:
    return AutoResetTimeStep(
        observation=follows.observation,
        state=follows.state,
        mask=follows.mask,
        reward=taken.reward,
        agent_rewards=taken.agent_rewards,
        terminated=taken.terminated,
        truncated=taken.truncated,
        final_observation=taken.observation,
        final_state=taken.state,
        final_mask=taken.mask,
    )
