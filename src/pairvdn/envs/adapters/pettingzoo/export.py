"""Our environments with PettingZoo's interface: the class behind `to_pettingzoo`."""

import secrets
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from pairvdn.checks import require_one_of
from pairvdn.envs.base import Environment, concrete_actions, seconds_per_step
from pairvdn.types import TimeStep

_RENDER_MODES = ("rgb_array", "human")


class PettingZooEnv(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """One of our environments with PettingZoo's interface: dicts by agent, NumPy arrays.

    Agents are `agent_0`, `agent_1`, ... Each gets its own entry of `agent_rewards`. Its info holds
    `action_mask` (int8, as `Discrete.sample` expects) and `team_reward`, from which the methods of
    this library learn. All agents end together. `reset(seed)` determines everything that follows,
    including later resets without a seed; without any seed every run is different. If the user
    closes the window (`human`), it stays closed and the episode continues; after `close` a new one
    may open.
    """

    def __init__(self, env: Environment[Any], render_mode: str | None = None) -> None:
        if render_mode is not None:
            require_one_of(_RENDER_MODES, render_mode=render_mode)
        self.metadata = {
            "name": env.name,
            "render_modes": list(_RENDER_MODES),
            "render_fps": max(1, round(1 / seconds_per_step(env))),
            "is_parallelizable": True,
        }
        self.env = env
        self.render_mode = render_mode
        self.possible_agents = [f"agent_{i}" for i in range(env.num_agents)]
        self.agents: list[str] = []
        self.state_space = _box(env.state_size)
        # One object per agent, since each has its own random state.
        self._observation_spaces = {
            agent: _box(env.observation_size) for agent in self.possible_agents
        }
        self._action_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Discrete(env.num_actions) for agent in self.possible_agents
        }
        self._reset = jax.jit(env.reset)
        self._step = jax.jit(env.step)
        self._scene = jax.jit(env.scene)
        self._key: Any = None
        self._env_state: Any = None
        self._time_step: TimeStep | None = None
        self._window: Any = None

    def observation_space(self, agent: str) -> spaces.Box:
        """Numbers without bounds."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The actions by number."""
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; there are no options."""
        del options
        if seed is not None or self._key is None:
            self._key = jax.random.key(secrets.randbits(31) if seed is None else seed)
        self._key, key = jax.random.split(self._key)
        self._env_state, time_step = self._reset(key)
        self._time_step = jax.device_get(time_step)
        self.agents = list(self.possible_agents)
        self._show()
        return self._by_agent(self._time_step.observation), self._infos()

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Act once; after the last step of an episode there are no agents left."""
        if not self.agents:
            raise RuntimeError("There is no episode to step in; call reset first.")
        missing = [agent for agent in self.agents if agent not in actions]
        if missing:
            raise ValueError(f"Every agent must act; actions are missing for {', '.join(missing)}.")
        joint = concrete_actions([actions[agent] for agent in self.agents], self.env.spec)
        self._key, key = jax.random.split(self._key)
        self._env_state, time_step = self._step(key, self._env_state, jnp.asarray(joint))
        now: TimeStep = jax.device_get(time_step)
        self._time_step = now
        terminated, truncated = bool(now.terminated), bool(now.truncated)
        result = (
            self._by_agent(now.observation),
            {agent: float(reward) for agent, reward in self._by_agent(now.agent_rewards).items()},
            dict.fromkeys(self.agents, terminated),
            dict.fromkeys(self.agents, truncated),
            self._infos(),
        )
        if terminated or truncated:
            self.agents = []
        self._show()
        return result

    def state(self) -> np.ndarray:
        """The global state."""
        return np.array(self._current().state)

    def render(self) -> np.ndarray | None:
        """An image for `rgb_array`; a window (`human`) is updated at every step."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode; give one to to_pettingzoo.")
        return self._image() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def _current(self) -> TimeStep:
        if self._time_step is None:
            raise RuntimeError("There is no episode yet; call reset first.")
        return self._time_step

    def _by_agent(self, rows: Any) -> dict[str, Any]:
        return {agent: np.array(row) for agent, row in zip(self.agents, rows, strict=True)}

    def _infos(self) -> dict[str, Any]:
        now = self._current()
        return {
            agent: {"action_mask": mask.astype(np.int8), "team_reward": float(now.reward)}
            for agent, mask in self._by_agent(now.mask).items()
        }

    # Drawing is imported on first use, since only rendering needs it.

    def _image(self) -> np.ndarray:
        from pairvdn.viewing.raster import draw

        self._current()  # raises before the first reset
        return draw(self._scene(self._env_state))

    def _show(self) -> None:
        if self.render_mode != "human":
            return
        from pairvdn.viewing.window import Window

        if self._window is None:
            self._window = Window(self.env.name, 1 / seconds_per_step(self.env))
        self._window.show(self._image())


def _box(size: int) -> spaces.Box:
    return spaces.Box(-np.inf, np.inf, (size,), np.float32)
