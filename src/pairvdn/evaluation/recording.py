"""Episodes with everything in them: what a picture, a film or a page of them needs.

They are those that `play_greedy` and `play_random` play from the same seed, step by step.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32, PyTree

from pairvdn.acting.exploration import random_actions
from pairvdn.envs import Environment, HasMeasures, Task
from pairvdn.envs.scene import Scene
from pairvdn.evaluation.explanation import Explanation, explain
from pairvdn.evaluation.loop import Moment, Policy, play
from pairvdn.evaluation.play import GREEDY, RANDOM
from pairvdn.types import TimeStep
from pairvdn.values import Value


class Frame(eqx.Module):
    """What there is after some number of steps; `reward` is that of the last of them."""

    scene: Scene
    observation: Float[Array, "n o"]
    reward: Float[Array, ""]
    measures: dict[str, Float[Array, ""]]


class Recording(eqx.Module):
    """One episode, from its reset to its end, in NumPy arrays.

    | field | first axis |
    |---|---|
    | `frames` | length + 1: frame t is what there is after t steps, frame 0 the reset |
    | `actions` | length: actions[t] lead from frame t to frame t + 1 |
    | `explanations` | agent steps: t // action_repeat led to actions[t]; None if random |
    """

    frames: Frame
    actions: Int32[np.ndarray, "t n"]
    explanations: Explanation | None
    action_repeat: int

    @property
    def length(self) -> int:
        """How many steps there are."""
        return len(self.actions)

    @property
    def returns(self) -> Float[np.ndarray, " frames"]:
        """The sum of rewards up to each frame."""
        return np.cumsum(self.frames.reward)

    def scene(self, step: int) -> Scene:
        """What there is to see after so many steps."""
        scene: Scene = jax.tree.map(lambda leaf: leaf[step], self.frames.scene)
        return scene

    def explanation(self, step: int) -> Explanation | None:
        """What led to the actions of step `step`."""
        decision = step // self.action_repeat
        explanation: Explanation | None = jax.tree.map(
            lambda leaf: leaf[decision], self.explanations
        )
        return explanation


def record_greedy(
    env: Task, value: Value[Any], *, episodes: int = 1, seed: int, action_repeat: int = 1
) -> list[Recording]:
    """Episodes in which the agents do what `value` thinks best."""
    if not isinstance(env, Environment):
        raise ValueError(f"{env.name} is stepped on the host and has no scenes to record.")
    key = jax.random.fold_in(jax.random.key(seed), GREEDY)
    return _to_numpy(_greedy(env, value, key, episodes, action_repeat), action_repeat)


def record_random(env: Environment[Any], *, episodes: int = 1, seed: int) -> list[Recording]:
    """Episodes of uniformly random allowed actions."""
    key = jax.random.fold_in(jax.random.key(seed), RANDOM)
    return _to_numpy(_random(env, key, episodes), 1)


class _Tape(eqx.Module):
    """All episodes at once: the leading axes are time or decisions, then episodes."""

    frames: Frame
    actions: Int32[Array, "t episodes n"]
    explanations: PyTree[Array]
    lengths: Int32[Array, " episodes"]


@eqx.filter_jit
def _greedy(
    env: Environment[Any], value: Value[Any], key: Any, episodes: int, action_repeat: int
) -> _Tape:
    return _record(
        env, lambda _, timestep: explain(env, value, timestep), key, episodes, action_repeat
    )


@eqx.filter_jit
def _random(env: Environment[Any], key: Any, episodes: int) -> _Tape:
    def policy(key: Any, timestep: TimeStep) -> tuple[Int32[Array, " n"], None]:
        return random_actions(key, timestep.mask), None

    return _record(env, policy, key, episodes, 1)


def _record(
    env: Environment[Any], policy: Policy, key: Any, episodes: int, action_repeat: int
) -> _Tape:
    """Write every moment to a tape that is as long as the longest episode can be."""
    decisions = -(-env.max_steps // action_repeat)

    def look(env_state: PyTree[Array], timestep: TimeStep) -> Frame:
        measures = env.measures(env_state) if isinstance(env, HasMeasures) else {}
        return Frame(env.scene(env_state), timestep.observation, timestep.reward, measures)

    def begin(env_state: PyTree[Array], timestep: TimeStep, explanation: PyTree[Array]) -> _Tape:
        reset = jax.vmap(look)(env_state, timestep)
        return _Tape(
            _write(_blank(env.max_steps + 1, reset), reset, jnp.int32(0)),
            jnp.zeros((env.max_steps, episodes, env.num_agents), jnp.int32),
            _blank(decisions, explanation),
            jnp.zeros(episodes, jnp.int32),
        )

    def tell(tape: _Tape, moment: Moment) -> _Tape:
        seen = jax.vmap(look)(moment.after, moment.timestep)
        return _Tape(
            _write(tape.frames, seen, moment.step + 1),
            _write(tape.actions, moment.actions, moment.step),
            _write(tape.explanations, moment.explanation, moment.step // action_repeat),
            tape.lengths + moment.running.astype(jnp.int32),
        )

    return play(
        env,
        policy,
        key=key,
        num_episodes=episodes,
        max_steps=None,
        action_repeat=action_repeat,
        begin=begin,
        tell=tell,
    )


def _blank(length: int, example: PyTree[Array]) -> Any:
    return jax.tree.map(lambda leaf: jnp.zeros((length, *leaf.shape), leaf.dtype), example)


def _write(tape: PyTree[Array], now: PyTree[Array], place: Int32[Array, ""]) -> Any:
    return jax.tree.map(lambda leaf, new: leaf.at[place].set(new), tape, now)


def _to_numpy(tape: _Tape, action_repeat: int) -> list[Recording]:
    """One recording for each episode, without what comes after its end."""
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
