"""An episode in which a person plays one of the agents."""

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Int32, PyTree

from pairvdn.acting.policy import GreedyPolicy, PersonPolicy, Policy, with_fixed_action
from pairvdn.acting.repeat import Totals, repeated
from pairvdn.checks import require_at_least, require_within
from pairvdn.envs import Environment
from pairvdn.envs.scene import Scene
from pairvdn.evaluation.explanation import Explanation, explain
from pairvdn.types import TimeStep


class Game:
    """A person acts for one agent, the policy `others` for the rest of the team.

    All agents choose at the same time, every `action_repeat` steps, as in training.
    """

    def __init__(
        self,
        env: Environment[Any],
        others: Policy,
        *,
        agent: int = 0,
        action_repeat: int = 1,
        seed: int = 0,
    ) -> None:
        require_within(0, env.num_agents - 1, agent=agent)
        require_at_least(1, action_repeat=action_repeat)
        self.env, self.agent = env, agent
        self._others, self._action_repeat = others, action_repeat
        self._policy = PersonPolicy(others, agent, lambda _: self._pressed)
        self._pressed = 0  # the action that the person chose last
        self._key = jax.random.key(seed)
        self._reset, self._step = jax.jit(env.reset), jax.jit(env.step)
        self._scene = jax.jit(env.scene)
        self.restart()

    def restart(self) -> None:
        """Start another episode."""
        self._key, reset_key, carry_key = jax.random.split(self._key, 3)
        self._state: PyTree[Array]
        self._timestep: TimeStep
        self._state, self._timestep = self._reset(reset_key)
        self._carry = self._policy.init(carry_key)
        self._repeats: Iterator[tuple[TimeStep, Totals]] | None = None
        self.steps, self.total = 0, 0.0
        self.actions: Int32[Array, " n"] | None = None
        self.explanation: Explanation | None = None
        self.has_ended = False

    @property
    def is_choosing(self) -> bool:
        """Whether the next step starts with a choice; otherwise the last one is repeated."""
        return self.steps % self._action_repeat == 0

    @property
    def scene(self) -> Scene:
        """The present scene."""
        scene: Scene = self._scene(self._state)
        return scene

    def step(self, action: int) -> None:
        """One environment step; `action` is the person's if this step starts with a choice."""
        if self.has_ended:
            raise ValueError("The episode has ended; call restart to start another.")
        if self._repeats is None or self.is_choosing:
            self._pressed = action
            self._choose()
        assert self._repeats is not None  # `_choose` made them
        self._timestep, _ = next(self._repeats)
        self.steps += 1
        self.total += float(self._timestep.reward)
        self.has_ended = bool(self._timestep.terminated | self._timestep.truncated)

    def _choose(self) -> None:
        self._key, key = jax.random.split(self._key)
        if isinstance(self._others, GreedyPolicy):
            fixed = with_fixed_action(self._timestep, self.agent, self._pressed)
            self.explanation = _explain(self.env, self._others.value, self._carry, fixed)
        self.actions, self._carry = self._policy.act(key, self._carry, self._timestep)
        self._repeats = repeated(self._env_step, self._action_repeat)

    def _env_step(self) -> TimeStep:
        self._key, key = jax.random.split(self._key)
        timestep: TimeStep
        self._state, timestep = self._step(key, self._state, self.actions)
        return timestep


_explain = eqx.filter_jit(explain)
