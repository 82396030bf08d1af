"""A person among the agents: what the others do while the person does something.

The person's action is fixed, and the others take the best of all joint actions that hold it,

    max over a_j, j ≠ i, of Q(a_1, .., a_i = the person's, .., a_n),

which is an ordinary maximisation with a mask that leaves agent i one action. A pair-wise value so
ANSWERS the person within the same step, exactly; the agents of IQL, VDN and QMIX, who each maximise
alone, do what they would do anyway, and learn of the person from the next observation.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int32, PyTree

from pairvdn.acting.exploration import random_actions
from pairvdn.envs import Environment
from pairvdn.envs.scene import Scene
from pairvdn.evaluation.explanation import Explanation, explain
from pairvdn.types import PRNGKey, TimeStep
from pairvdn.values import Value

# What all do, and why, when one agent takes this action.
CoPlayers = Callable[
    [PRNGKey, TimeStep, Int32[Array, ""]], tuple[Int32[Array, " n"], Explanation | None]
]


def trained_co_players(env: Environment[Any], value: Value[Any], agent: int) -> CoPlayers:
    """The others answer as `value` thinks best.

    An action that is not allowed is fixed too: the environment takes it for its no-op.
    """

    @eqx.filter_jit
    def answer(
        value: Value[Any], timestep: TimeStep, action: Int32[Array, ""]
    ) -> tuple[Int32[Array, " n"], Explanation]:
        only = jnp.arange(env.num_actions) == action
        mask = timestep.mask.at[agent].set(only)
        return explain(env, value, eqx.tree_at(lambda one: one.mask, timestep, mask))

    return lambda _, timestep, action: answer(value, timestep, action)


def random_co_players(agent: int) -> CoPlayers:
    """The others do anything that is allowed."""

    @jax.jit
    def answer(
        key: PRNGKey, timestep: TimeStep, action: Int32[Array, ""]
    ) -> tuple[Int32[Array, " n"], None]:
        return random_actions(key, timestep.mask).at[agent].set(action), None

    return answer


class Game:
    """An episode in which a person is one of the agents, step by step.

    All decide together, every `action_repeat` steps, as they did in training.
    """

    def __init__(
        self,
        env: Environment[Any],
        co_players: CoPlayers,
        *,
        agent: int = 0,
        action_repeat: int = 1,
        seed: int = 0,
    ) -> None:
        if not 0 <= agent < env.num_agents:
            raise ValueError(f"agent must be from 0 to {env.num_agents - 1}, not {agent}.")
        self.env, self.agent = env, agent
        self._co_players, self._action_hold = co_players, action_repeat
        self._key = jax.random.key(seed)
        self._reset, self._step = jax.jit(env.reset), jax.jit(env.step)
        self._scene = jax.jit(env.scene)
        self.restart()

    def restart(self) -> None:
        """Begin an episode, another one each time."""
        self._key, key = jax.random.split(self._key)
        self._state: PyTree[Array]
        self._state, self._timestep = self._reset(key)
        self.steps, self.total = 0, 0.0
        self.actions: Int32[Array, " n"] | None = None
        self.explanation: Explanation | None = None
        self.has_ended = False

    @property
    def is_deciding(self) -> bool:
        """Whether the next step begins with a decision; otherwise the last one holds on."""
        return self.steps % self._action_hold == 0

    @property
    def scene(self) -> Scene:
        """What there is to see."""
        scene: Scene = self._scene(self._state)
        return scene

    def step(self, action: int) -> None:
        """The person takes this action, if it is time to decide, and the others answer."""
        if self.has_ended:
            raise ValueError("The episode has ended; restart begins another.")
        self._key, others_key, step_key = jax.random.split(self._key, 3)
        if self.actions is None or self.is_deciding:
            self.actions, self.explanation = self._co_players(
                others_key, self._timestep, jnp.int32(action)
            )
        self._state, self._timestep = self._step(step_key, self._state, self.actions)
        self.steps += 1
        self.total += float(self._timestep.reward)
        self.has_ended = bool(self._timestep.terminated | self._timestep.truncated)
