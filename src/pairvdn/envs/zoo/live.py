"""One living PettingZoo environment: dicts by agent in, arrays of a fixed shape out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Int32

from pairvdn.envs.host import HostCopy, HostStep
from pairvdn.envs.zoo.encode import allowed_actions
from pairvdn.envs.zoo.sizes import Layout


class ZooCopy(HostCopy):
    """Plays one episode at a time; see `Zoo` for the rules."""

    def __init__(self, env: Any, layout: Layout, *, max_steps: int, mean_reward: bool) -> None:
        self._env = env
        self._layout = layout
        self._max_steps = max_steps
        self._share = 1 / len(layout.agents) if mean_reward else 1.0
        self._mask = np.zeros((len(layout.agents), layout.num_actions), bool)
        self._steps = 0

    def reset(self, seed: int) -> HostStep:
        """Start an episode."""
        seen, infos = self._env.reset(seed=seed)
        self._steps = 0
        return self._tell(seen, infos, set(seen), {}, terminated=False, truncated=False)

    def step(self, actions: Int32[np.ndarray, " n"]) -> HostStep:
        """Act once; the dead are not asked, and a masked action is the lowest allowed one."""
        told = self._env.step(self._by_agent(actions))
        seen, rewards, terminated, truncated, infos = told
        self._steps += 1
        dead = {agent for agent, flag in terminated.items() if flag}
        cut = {agent for agent, flag in truncated.items() if flag} - dead
        going = set(self._env.agents) - dead - cut
        # Over when nobody goes on. Those who were only cut off still had a future.
        over = not going
        too_long = self._steps >= self._max_steps
        return self._tell(
            seen,
            infos,
            cut if over else going,
            rewards,
            terminated=over and not cut,
            truncated=bool(over and cut) or (too_long and not over),
        )

    def _by_agent(self, actions: Int32[np.ndarray, " n"]) -> dict[str, int]:
        chosen = {}
        for row, agent in enumerate(self._layout.agents):
            if agent in self._env.agents:
                allowed = self._mask[row]
                action = actions[row] if allowed[actions[row]] else np.argmax(allowed)
                chosen[agent] = self._layout.actions[row].start + int(action)
        return chosen

    def _tell(
        self,
        seen: Any,
        infos: Any,
        alive: set[str],
        rewards: Mapping[str, Any],
        *,
        terminated: bool,
        truncated: bool,
    ) -> HostStep:
        layout = self._layout
        observation = np.zeros((len(layout.agents), layout.observation_size), np.float32)
        mask = np.zeros((len(layout.agents), layout.num_actions), bool)
        for row, agent in enumerate(layout.agents):
            if agent in alive and agent in seen:
                encoder, count = layout.encoders[row], layout.actions[row].size
                observation[row, : encoder.size] = encoder.encode(seen[agent])
                mask[row, :count] = allowed_actions(seen[agent], infos.get(agent), count)
            else:
                mask[row, 0] = True
        self._mask = mask
        shares = np.array([rewards.get(agent, 0.0) for agent in layout.agents], np.float32)
        return HostStep(
            observation=observation,
            state=self._state(observation),
            mask=mask,
            reward=np.asarray(shares.sum() * np.float32(self._share)),
            agent_rewards=shares,
            terminated=np.asarray(terminated),
            truncated=np.asarray(truncated),
        )

    def _state(self, observation: np.ndarray) -> np.ndarray:
        encoder = self._layout.state
        if encoder is None:
            return observation.reshape(-1)
        return encoder.encode(self._env.state())
