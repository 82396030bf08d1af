"""Small PettingZoo environments whose every number is known beforehand."""

from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv


class Ladder(ParallelEnv):
    """Two agents that count steps: `short` sees 1 number and has 2 actions, `long` 3 of each.

    In step t `short` gets t and `long` 10 t. `short` sees t; `long` sees t, the seed, and the
    number of its last action, which counts from 5. `short` dies in step `dies`, if that is not 0;
    `long` ends in step `length`, terminated or truncated, and whoever is left then is truncated.
    """

    metadata: ClassVar = {"name": "ladder"}

    def __init__(
        self,
        dies: int = 0,
        length: int = 4,
        end: Literal["terminated", "truncated"] = "truncated",
        has_state: bool = False,
        render_mode: str | None = None,
    ) -> None:
        self.possible_agents = ["short", "long"]
        self.dies, self.length, self.end, self.has_state = dies, length, end, has_state
        self.render_mode = render_mode
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Box:
        return spaces.Box(-np.inf, np.inf, (1,) if agent == "short" else (3,), np.float64)

    def action_space(self, agent: str) -> spaces.Discrete:
        return spaces.Discrete(2) if agent == "short" else spaces.Discrete(3, start=5)

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[dict, dict]:
        self.agents = list(self.possible_agents)
        self.time, self.seed, self.last = 0, seed, 0
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        assert set(actions) == set(self.agents)
        assert all(self.action_space(agent).contains(one) for agent, one in actions.items())
        self.time += 1
        self.last = actions.get("long", 0)
        acted = list(self.agents)
        over = self.time == self.length
        dead = {"short": self.time == self.dies, "long": over and self.end == "terminated"}
        cut = {"short": over, "long": over and self.end == "truncated"}
        rewards = {"short": float(self.time), "long": 10.0 * self.time}
        seen = {agent: one for agent, one in self._seen().items() if agent in acted}
        self.agents = [agent for agent in acted if not (dead[agent] or cut[agent])]
        return (
            seen,
            *({agent: told[agent] for agent in acted} for told in (rewards, dead, cut)),
            {agent: {} for agent in acted},
        )

    def _seen(self) -> dict[str, np.ndarray]:
        return {
            "short": np.array([self.time], float),
            "long": np.array([self.time, (self.seed or 0) % 1000, self.last], float),
        }

    def state(self) -> np.ndarray:
        if not self.has_state:
            raise NotImplementedError
        return np.full((2, 2), self.time, np.float64)


class Continuous(Ladder):
    """As `Ladder`, but `long` may do anything."""

    def action_space(self, agent: str) -> spaces.Space:
        return spaces.Box(-1, 1, (2,)) if agent == "long" else spaces.Discrete(2)


class Masked(Ladder):
    """As `Ladder`; `short` has its mask in its info, `long` beside its observation."""

    def observation_space(self, agent: str) -> spaces.Space:
        inner = super().observation_space(agent)
        if agent == "short":
            return inner
        return spaces.Dict({"observation": inner, "action_mask": spaces.MultiBinary(3)})

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[dict, dict]:
        seen, _ = super().reset(seed)
        return seen, self._infos()

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        *told, _ = super().step(actions)
        return (*told, self._infos())

    def _infos(self) -> dict[str, dict]:
        return {"short": {"action_mask": np.array([0, 1], np.int8)}, "long": {}}

    def _seen(self) -> dict[str, Any]:
        seen = super()._seen()
        mask = np.array([0, 1, 1] if self.time < 2 else [0, 0, 0], np.int8)
        return {"short": seen["short"], "long": {"observation": seen["long"], "action_mask": mask}}


class Pictures(Ladder):
    """As `Ladder`, but agents see a picture of 4 x 6 pixels, its upper half red: 51 t + 1."""

    def observation_space(self, agent: str) -> spaces.Box:
        return spaces.Box(0, 255, (4, 6, 3), np.uint8)

    def _seen(self) -> dict[str, np.ndarray]:
        picture = np.zeros((4, 6, 3), np.uint8)
        picture[:2, :, 0] = 51 * self.time + 1
        return {"short": picture, "long": picture}


class Drawn(Ladder):
    """As `Ladder`, but it renders 40 x 60 pixels: blue at the left, 50 t red at the right."""

    def render(self) -> np.ndarray | None:
        if self.render_mode != "rgb_array":
            return None
        frame = np.zeros((40, 60, 3), np.uint8)
        frame[:, :30, 2] = 200
        frame[:, 30:, 0] = 50 * self.time
        return frame


class Guess(ParallelEnv):
    """Two agents see a bit each and must both name their own; one step."""

    metadata: ClassVar = {"name": "guess"}

    def __init__(self, prize: float = 1.0) -> None:
        self.possible_agents = ["left", "right"]
        self.prize = prize
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Discrete:
        return spaces.Discrete(2)

    def action_space(self, agent: str) -> spaces.Discrete:
        return spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[dict, dict]:
        self.agents = list(self.possible_agents)
        bits = np.random.default_rng(seed).integers(2, size=2)
        self.bits = dict(zip(self.agents, bits, strict=True))
        return dict(self.bits), {}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        right = all(actions[agent] == self.bits[agent] for agent in self.possible_agents)
        over = dict.fromkeys(self.possible_agents, True)
        self.agents = []
        rewards = dict.fromkeys(self.possible_agents, self.prize * right / 2)
        return dict(self.bits), rewards, over, dict.fromkeys(over, False), {}


def not_an_environment(**keywords: Any) -> None:
    """Must never be called by its name alone."""
    raise AssertionError(f"called with {keywords}")


class Faulty(Ladder):
    """A ladder that breaks: in its second reset, in step 3, or by a longer observation there."""

    metadata: ClassVar = {"name": "faulty"}

    def __init__(self, fault: str = "step") -> None:
        super().__init__()
        self.fault, self.resets = fault, 0

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[dict, dict]:
        self.resets += 1
        if self.fault == "reset" and self.resets == 2:
            raise KeyError("worn out")
        return super().reset(seed, options)

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        seen, *others = super().step(actions)
        if self.time == 3 and self.fault == "step":
            raise ZeroDivisionError("a rung broke")
        if self.time == 3 and self.fault == "shape":
            seen["long"] = np.zeros(7)
        return (seen, *others)
