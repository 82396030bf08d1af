"""PettingZoo environments under our contract."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Int32, UInt8

from pairvdn.checks import raised, require_one_of, whole_number
from pairvdn.envs.adapters.pettingzoo.layout import Images, Layout, allowed_actions, layout
from pairvdn.envs.base import (
    HostCopy,
    HostEnvironment,
    HostStep,
    StepError,
    TeamReward,
    concrete_actions,
)
from pairvdn.types import EnvSpec


class FromPettingZoo(HostEnvironment):
    """A PettingZoo `ParallelEnv` with discrete actions, stepped in Python.

    Agents: `possible_agents`, in that order.

    Actions: as many as the agent with the most actions has. Actions that an agent lacks are masked,
    and so are those that an `action_mask` in its info or its observation forbids.

    Observation: flattened and padded with zeros to the longest. Images (bytes) are scaled to 0..1.

    State: `state()`, flattened; without one, the observations in a row.

    Reward: each agent's own. The team's is their sum, or their mean over all possible agents, dead
    or alive.

    Dead agents, which have left or not yet joined: observation 0, action 0 only, reward 0.

    End: when no agent is left. The end is a truncation if any agent was truncated and not
    terminated in the last step; such agents are still in the last observation. Otherwise it is a
    termination. Every episode is truncated after `max_steps`.

    Args:
        make_env: Makes a new environment; training plays several side by side.
        name: Name of the environment; None: the name in its metadata.
        max_steps: Steps after which an episode is truncated; None: the environment's own limit.
        team_reward: Whether the team's reward is the `sum` or the `mean` of the agents' rewards.
        image_size: Rows and columns to which images are shrunk, by averaging pixels; None: no
            shrinking.
        grey: Whether to average the colours of an image.
    """

    name: str = eqx.field(static=True)
    spec: EnvSpec = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    team_reward: TeamReward = eqx.field(static=True)
    make_env: Callable[[], Any] = eqx.field(static=True)
    _layout: Layout = eqx.field(static=True)

    def __init__(
        self,
        make_env: Callable[[], Any],
        *,
        name: str | None = None,
        max_steps: int | None = None,
        team_reward: TeamReward = "sum",
        image_size: Sequence[int] | None = None,
        grey: bool = True,
    ) -> None:
        require_one_of(("sum", "mean"), team_reward=team_reward)
        env = make_env()
        self._layout = layout(env, Images(_image_size(image_size), grey))
        self.spec = self._layout.spec
        self.name = name or str(getattr(env, "metadata", {}).get("name", type(env).__name__))
        self.make_env = make_env
        limit = self._layout.max_steps if max_steps is None else max_steps
        self.max_steps = whole_number("max_steps", limit, 1)
        self.team_reward = team_reward

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the agents, in the order of the rows of an observation."""
        return self._layout.agents

    def copy(self) -> HostCopy:
        """A new live copy, not reset yet."""
        return PettingZooCopy(
            self.make_env(),
            self._layout,
            name=self.name,
            max_steps=self.max_steps,
            mean_reward=self.team_reward == "mean",
        )


class PettingZooCopy(HostCopy):
    """One live environment: dicts by agent in, arrays of a fixed shape out."""

    def __init__(
        self, env: Any, layout: Layout, *, name: str, max_steps: int, mean_reward: bool
    ) -> None:
        self._env = env
        self._name = name
        self._layout = layout
        self._max_steps = max_steps
        self._share = 1 / len(layout.agents) if mean_reward else 1.0
        self._mask = np.zeros((len(layout.agents), layout.spec.num_actions), bool)
        self._steps = 0

    def reset(self, seed: int) -> HostStep:
        """Start an episode."""
        self._steps = 0
        with self._named("reset"):
            seen, infos = self._env.reset(seed=seed)
            return self._host_step(seen, infos, set(seen), {}, terminated=False, truncated=False)

    def step(self, actions: Int32[np.ndarray, " n"]) -> HostStep:
        """Act once, without dead agents; a masked action is replaced by the first allowed one."""
        joint = concrete_actions(actions, self._layout.spec)
        with self._named(f"step {self._steps + 1}"):
            return self._step(joint)

    @contextlib.contextmanager
    def _named(self, call: str) -> Iterator[None]:
        """Name the environment and the call in any error: other libraries may raise anything."""
        try:
            yield
        except Exception as error:
            raise StepError(f"{self._name} failed in {call}: {raised(error)}.") from error

    def _step(self, actions: Int32[np.ndarray, " n"]) -> HostStep:
        outcome = self._env.step(self._by_agent(actions))
        seen, rewards, terminated, truncated, infos = outcome
        self._steps += 1
        dead = {agent for agent, flag in terminated.items() if flag}
        cut = {agent for agent, flag in truncated.items() if flag} - dead
        active = set(self._env.agents) - dead - cut
        # Over when no agent is active. Truncated agents still have a future value.
        over = not active
        too_long = self._steps >= self._max_steps
        return self._host_step(
            seen,
            infos,
            cut if over else active,
            rewards,
            terminated=over and not cut,
            truncated=bool(over and cut) or (too_long and not over),
        )

    def picture(self) -> UInt8[np.ndarray, "h w 3"] | None:
        """The frame that `render()` returns, if the environment renders to arrays."""
        if getattr(self._env, "render_mode", None) != "rgb_array":
            return None
        try:
            frame = self._env.render()
        except NotImplementedError:
            return None
        return None if frame is None else np.asarray(frame, np.uint8)[..., :3]

    def _by_agent(self, actions: Int32[np.ndarray, " n"]) -> dict[str, int]:
        chosen = {}
        for row, agent in enumerate(self._layout.agents):
            if agent in self._env.agents:
                allowed = self._mask[row]
                action = actions[row] if allowed[actions[row]] else np.argmax(allowed)
                chosen[agent] = self._layout.actions[row].start + int(action)
        return chosen

    def _host_step(
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
        observation = np.zeros((len(layout.agents), layout.spec.observation_size), np.float32)
        mask = np.zeros((len(layout.agents), layout.spec.num_actions), bool)
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


def _image_size(given: Sequence[int] | None) -> tuple[int, int] | None:
    if given is None:
        return None
    if len(given) != 2:
        raise ValueError(f"image_size must be two numbers, rows and columns, not {given}.")
    return whole_number("image_size", given[0], 1), whole_number("image_size", given[1], 1)
