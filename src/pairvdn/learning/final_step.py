"""Episodes with one step more than their length, as in the random phase of the paper's code."""

from typing import Any, Generic, TypeVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32

from pairvdn.envs import Environment
from pairvdn.envs.scene import Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

State = TypeVar("State")


class FinalStepState(eqx.Module, Generic[State]):
    """The state of the wrapped environment, and whether its episode was truncated."""

    env_state: State
    over: Bool[Array, ""]


class WithFinalStep(Environment[FinalStepState[Any]]):
    """An environment whose truncated episodes go on for one step, which ends without reward.

    The authors' random phase acts until the environment says that it has ended, which it says a
    step after its last reward. So the replay holds a few transitions of value 0.
    """

    env: Environment[Any]
    name: str = eqx.field(static=True)
    spec: EnvSpec = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)

    def __init__(self, env: Environment[Any]) -> None:
        self.env = env
        self.name, self.spec, self.max_steps = env.name, env.spec, env.max_steps + 1

    def reset(self, key: PRNGKey) -> tuple[FinalStepState[Any], TimeStep]:
        """Start an episode of the wrapped environment."""
        env_state, timestep = self.env.reset(key)
        return FinalStepState(env_state, jnp.bool_(False)), timestep

    def step(
        self, key: PRNGKey, state: FinalStepState[Any], actions: Int32[Array, " n"]
    ) -> tuple[FinalStepState[Any], TimeStep]:
        """Act once; the step after the truncation terminates with reward 0."""
        env_state, timestep = self.env.step(key, state.env_state, actions)
        final = TimeStep(
            observation=timestep.observation,
            state=timestep.state,
            mask=timestep.mask,
            reward=jnp.where(state.over, 0.0, timestep.reward),
            agent_rewards=jnp.where(state.over, 0.0, timestep.agent_rewards),
            terminated=timestep.terminated | state.over,
            truncated=jnp.bool_(False),
        )
        return FinalStepState(env_state, timestep.truncated), final

    def scene(self, state: FinalStepState[Any]) -> Scene:
        """The wrapped environment's."""
        return self.env.scene(state.env_state)
