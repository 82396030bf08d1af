"""Recordings: every step of an episode, for pictures, films and the watch page.

The same seed gives the same episodes as `play_greedy` and `play_random`, step by step.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32, PyTree, UInt8

from pairvdn.acting.policy import GreedyPolicy, Policy, RandomPolicy
from pairvdn.acting.repeat import EnvStep
from pairvdn.acting.rollout import AgentStep, Observer, rollout
from pairvdn.envs import Environment, HasMeasures, Task
from pairvdn.envs.scene import Scene
from pairvdn.evaluation.explanation import Explanation, explain
from pairvdn.evaluation.play import GREEDY, RANDOM
from pairvdn.types import TimeStep
from pairvdn.values import Value


class Frame(eqx.Module):
    """The environment after some number of steps; `reward` is that of the last step."""

    scene: Scene
    observation: Float[Array, "n o"]
    reward: Float[Array, ""]
    measures: dict[str, Float[Array, ""]]


class Recording(eqx.Module):
    """One episode, from its reset to its end, in NumPy arrays.

    | field | first axis |
    |---|---|
    | `frames` | length + 1: frame t comes after t steps, frame 0 is the reset |
    | `actions` | length: actions[t] lead from frame t to frame t + 1 |
    | `explanations` | agent steps: t // action_repeat led to actions[t]; None if random |
    | `pictures` | length + 1: what `render()` drew; None if scenes describe the drawing |
    """

    frames: Frame
    actions: Int32[np.ndarray, "t n"]
    explanations: Explanation | None
    action_repeat: int
    pictures: UInt8[np.ndarray, "frames h w 3"] | None = None

    @property
    def length(self) -> int:
        """The number of environment steps."""
        return len(self.actions)

    @property
    def returns(self) -> Float[np.ndarray, " frames"]:
        """The sum of rewards up to each frame."""
        return np.cumsum(self.frames.reward)

    def scene(self, step: int) -> Scene:
        """The scene after `step` steps."""
        scene: Scene = jax.tree.map(lambda leaf: leaf[step], self.frames.scene)
        return scene

    def explanation(self, step: int) -> Explanation | None:
        """The explanation of the actions of step `step`."""
        agent_step = step // self.action_repeat
        explanation: Explanation | None = jax.tree.map(
            lambda leaf: leaf[agent_step], self.explanations
        )
        return explanation


def record_greedy(
    env: Task, value: Value[Any], *, episodes: int = 1, seed: int, action_repeat: int = 1
) -> list[Recording]:
    """Episodes of the greedy policy of `value`, with explanations."""
    if not isinstance(env, Environment):
        raise ValueError(f"{env.name} is stepped on the host: use `record_on_host`.")
    key = jax.random.fold_in(jax.random.key(seed), GREEDY)
    tape = _record(env, GreedyPolicy(env, value), value, key, episodes, action_repeat)
    return _to_numpy(tape, action_repeat)


def record_random(env: Environment[Any], *, episodes: int = 1, seed: int) -> list[Recording]:
    """Episodes of uniformly random allowed actions."""
    key = jax.random.fold_in(jax.random.key(seed), RANDOM)
    return _to_numpy(_record(env, RandomPolicy(), None, key, episodes, 1), 1)


class _Tape(eqx.Module):
    """All episodes together; the leading axes are time or agent steps, then episodes."""

    frames: Frame
    actions: Int32[Array, "t episodes n"]
    explanations: PyTree[Array]
    lengths: Int32[Array, " episodes"]


@eqx.filter_jit
def _record(
    env: Environment[Any],
    policy: Policy,
    value: Value[Any] | None,
    key: Any,
    episodes: int,
    action_repeat: int,
) -> _Tape:
    return rollout(
        env,
        policy,
        _Recorder(env, value, action_repeat),
        key=key,
        num_episodes=episodes,
        action_repeat=action_repeat,
    )


class _Recorder(Observer[_Tape]):
    """Writes every step to a tape as long as the longest possible episode."""

    env: Environment[Any]
    value: Value[Any] | None  # whose choices are explained
    action_repeat: int = eqx.field(static=True)

    def begin(self, env_state: PyTree[Array], carry: PyTree[Array], timestep: TimeStep) -> _Tape:
        """An empty tape with the first frame."""
        longest, episodes = self.env.max_steps, len(timestep.reward)
        reset = jax.vmap(self._frame)(env_state, timestep)
        explanations = _blank(
            -(-longest // self.action_repeat), self._explanations(carry, timestep)
        )
        return _Tape(
            _write(_blank(longest + 1, reset), reset, jnp.int32(0)),
            jnp.zeros((longest, episodes, self.env.num_agents), jnp.int32),
            explanations,
            jnp.zeros(episodes, jnp.int32),
        )

    def acted(self, account: _Tape, step: Int32[Array, ""], choice: AgentStep) -> _Tape:
        """Write the explanation of a choice."""
        explanations = self._explanations(choice.carry, choice.timestep)
        written = _write(account.explanations, explanations, step // self.action_repeat)
        return _Tape(account.frames, account.actions, written, account.lengths)

    def stepped(self, account: _Tape, step: Int32[Array, ""], done: EnvStep) -> _Tape:
        """Write a frame, and the actions that led to it."""
        frame = jax.vmap(self._frame)(done.after, done.timestep)
        return _Tape(
            _write(account.frames, frame, step + 1),
            _write(account.actions, done.actions, step),
            account.explanations,
            account.lengths + done.running.astype(jnp.int32),
        )

    def _frame(self, env_state: PyTree[Array], timestep: TimeStep) -> Frame:
        env = self.env
        measures = env.measures(env_state) if isinstance(env, HasMeasures) else {}
        return Frame(env.scene(env_state), timestep.observation, timestep.reward, measures)

    def _explanations(self, carry: PyTree[Array], timestep: TimeStep) -> Explanation | None:
        value = self.value
        if value is None:
            return None
        explanations: Explanation = jax.vmap(lambda *step: explain(self.env, value, *step))(
            carry, timestep
        )
        return explanations


def _blank(length: int, example: PyTree[Array]) -> Any:
    return jax.tree.map(lambda leaf: jnp.zeros((length, *leaf.shape), leaf.dtype), example)


def _write(tape: PyTree[Array], now: PyTree[Array], index: Int32[Array, ""]) -> Any:
    return jax.tree.map(lambda leaf, new: leaf.at[index].set(new), tape, now)


def _to_numpy(tape: _Tape, action_repeat: int) -> list[Recording]:
    """One recording per episode, cut off at its end."""
    tape = jax.tree.map(np.asarray, tape)

    def part(tree: Any, episode: int, length: int) -> Any:
        return jax.tree.map(lambda leaf: leaf[:length, episode], tree)

    return [
        Recording(
            part(tape.frames, episode, length + 1),
            part(tape.actions, episode, length),
            part(tape.explanations, episode, -(-length // action_repeat)),
            action_repeat,
        )
        for episode, length in enumerate(map(int, tape.lengths))
    ]
