"""Our environments with JaxMARL's interface; only this module imports JaxMARL at the top."""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxmarl.environments.multi_agent_env import MultiAgentEnv
from jaxmarl.environments.spaces import Box, Discrete
from jaxtyping import Array, Bool, Int32

from pairvdn.envs.base import Environment, HasTeamReward, concrete_actions
from pairvdn.types import PRNGKey, TimeStep


class JaxMARLEnvState(eqx.Module):
    """Our state and time step, and the fields that every JaxMARL state has."""

    done: Bool[Array, ""]
    step: Int32[Array, ""]
    inner: Any
    time_step: TimeStep


# Observations, state, rewards, dones and infos.
_Stepped = tuple[dict[str, Array], Any, dict[str, Array], dict[str, Array], dict[str, Any]]


class JaxMARLEnv(MultiAgentEnv):
    """One of our environments with JaxMARL's interface: dicts by agent, pure functions.

    Agents are `agent_0`, `agent_1`, ... Their rewards add up to the team's, as JaxMARL's
    `CTRolloutManager` assumes. `step` resets automatically, like every JaxMARL environment. `infos`
    hold `terminated` and `truncated`, an entry per agent, which `dones` do not distinguish.
    `get_avail_actions` is our mask, `get_world_state` our global state. An action that does not
    exist is a ValueError, and acts as the no-op inside `jax.jit`, where values are not known.
    """

    def __init__(self, env: Environment[Any]) -> None:
        super().__init__(num_agents=env.num_agents)
        self.env = env
        self.max_steps = env.max_steps
        self.observation_spaces = {
            agent: Box(-jnp.inf, jnp.inf, (env.observation_size,)) for agent in self.agents
        }
        self.action_spaces = {agent: Discrete(env.num_actions) for agent in self.agents}
        averaged = isinstance(env, HasTeamReward) and env.team_reward == "mean"
        self._parts = env.num_agents if averaged else 1

    @property
    def name(self) -> str:
        """The id in `pairvdn.envs`."""
        return self.env.name

    @property
    def agent_classes(self) -> dict[str, list[str]]:
        """All agents are of one class."""
        return {"agents": self.agents}

    @partial(jax.jit, static_argnums=0)
    def reset(self, key: PRNGKey) -> tuple[dict[str, Array], JaxMARLEnvState]:
        """Start an episode."""
        inner, time_step = self.env.reset(key)
        state = JaxMARLEnvState(jnp.asarray(False), jnp.int32(0), inner, time_step)
        return self.get_obs(state), state

    def step(  # type: ignore[override]  # JaxMARL's is compiled and cannot see the actions
        self,
        key: PRNGKey,
        state: JaxMARLEnvState,
        actions: dict[str, Array],
        reset_state: JaxMARLEnvState | None = None,
    ) -> _Stepped:
        """Act once; start the next episode, or `reset_state`, after the last step of one."""
        stepped: _Stepped = super().step(key, state, self._checked(actions), reset_state)
        return stepped

    def step_env(self, key: PRNGKey, state: Any, actions: dict[str, Array]) -> _Stepped:
        """Act once, without a reset."""
        stepped: _Stepped = self._step_env(key, state, self._checked(actions))
        return stepped

    def _checked(self, actions: dict[str, Array]) -> dict[str, Array]:
        """The actions of all agents; ValueError, outside of `jax.jit`, if one does not exist."""
        missing = [agent for agent in self.agents if agent not in actions]
        if missing:
            raise ValueError(f"Every agent must act; actions are missing for {', '.join(missing)}.")
        given = [actions[agent] for agent in self.agents]
        if not any(isinstance(one, Tracer) for one in given):
            joint = concrete_actions([np.asarray(one).reshape(()) for one in given], self.env.spec)
            given = list(jnp.asarray(joint))
        return dict(zip(self.agents, given, strict=True))

    @partial(jax.jit, static_argnums=0)
    def _step_env(
        self, key: PRNGKey, state: JaxMARLEnvState, actions: dict[str, Array]
    ) -> _Stepped:
        joint = jnp.stack([jnp.asarray(actions[agent]).reshape(()) for agent in self.agents])
        inner, time_step = self.env.step(key, state.inner, joint)
        done = time_step.terminated | time_step.truncated
        state = JaxMARLEnvState(done, state.step + 1, inner, time_step)
        infos = {
            "terminated": jnp.full((self.num_agents,), time_step.terminated),
            "truncated": jnp.full((self.num_agents,), time_step.truncated),
        }
        rewards = self._by_agent(time_step.agent_rewards / self._parts)
        dones = dict.fromkeys([*self.agents, "__all__"], done)
        return self.get_obs(state), state, rewards, dones, infos

    def get_obs(self, state: Any) -> dict[str, Array]:
        """The observation of each agent."""
        return self._by_agent(state.time_step.observation)

    @partial(jax.jit, static_argnums=0)
    def get_avail_actions(self, state: JaxMARLEnvState) -> dict[str, Array]:
        """The allowed actions of each agent; a masked one acts as the no-op."""
        return self._by_agent(state.time_step.mask)

    def get_world_state(self, state: JaxMARLEnvState) -> Array:
        """The global state."""
        return state.time_step.state

    def _by_agent(self, rows: Array) -> dict[str, Array]:
        return dict(zip(self.agents, rows, strict=True))
