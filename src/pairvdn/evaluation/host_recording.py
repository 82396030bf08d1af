"""Recordings of episodes in environments on the host, which are drawn by their own `render()`."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int32, PyTree, UInt8

from pairvdn.acting.host import batched
from pairvdn.acting.policy import GreedyPolicy
from pairvdn.acting.repeat import repeated
from pairvdn.envs import HasPictures, HostCopy, HostEnvironment, HostStep
from pairvdn.envs.scene import Scene, row_of_dots
from pairvdn.evaluation.explanation import Explanation, explain
from pairvdn.evaluation.host import episode_seeds
from pairvdn.evaluation.play import GREEDY
from pairvdn.evaluation.recording import Frame, Recording
from pairvdn.types import TimeStep
from pairvdn.values import Value

LONGEST_SIDE = 400  # pixels of a recorded picture
MOST_FRAMES = 3_000  # of all episodes together: they are held in memory


class TooManyFramesError(ValueError):
    """The episodes are too many, or too long, to be recorded."""


def record_on_host(
    env: HostEnvironment,
    value: Value[Any],
    *,
    episodes: int,
    seed: int,
    action_repeat: int = 1,
    most_frames: int = MOST_FRAMES,
) -> list[Recording]:
    """Greedy episodes, the same as those of `play_greedy`, with explanations and pictures."""
    copy = env.copy()
    _, seeds = episode_seeds((GREEDY, seed), episodes)
    recordings: list[Recording] = []
    for one in seeds:
        left = most_frames - sum(known.length + 1 for known in recordings)
        recordings.append(_episode(env, copy, value, one, action_repeat, left))
    return recordings


def _episode(
    env: HostEnvironment,
    copy: HostCopy,
    value: Value[Any],
    seed: int,
    action_repeat: int,
    most_frames: int,
) -> Recording:
    now = copy.reset(seed)
    steps, pictures = [now], [_picture(copy)]
    actions: list[np.ndarray] = []
    explanations: list[Explanation] = []
    carry = GreedyPolicy(env, value).init(jax.random.key(0))  # does not use the key
    while not (now.terminated or now.truncated):
        chosen, carry, explanation = _choose(env, value, carry, batched([now]))
        explanations.append(jax.tree.map(np.asarray, explanation))
        joint = np.asarray(chosen)
        for now, _ in repeated(functools.partial(copy.step, joint), action_repeat):
            actions.append(joint)
            steps.append(now)
            pictures.append(_picture(copy))
            if len(steps) > most_frames:
                raise TooManyFramesError(
                    f"The episodes of {env.name} are too long to be recorded: choose fewer with "
                    "--episodes, or shorter ones with --max-steps."
                )
    known = [one for one in pictures if one is not None]
    drawn = np.stack(known) if len(known) == len(pictures) else None
    return Recording(
        _frames(steps, _scene(env, drawn)),
        np.stack(actions),
        jax.tree.map(lambda *leaves: np.stack(leaves), *explanations),
        action_repeat,
        drawn,
    )


@eqx.filter_jit
def _choose(
    env: HostEnvironment, value: Value[Any], carry: PyTree[Array], timesteps: TimeStep
) -> tuple[Int32[Array, " n"], PyTree[Array], Explanation]:
    """The greedy joint action of a batch of one, the next carry, and the explanation."""
    timestep = jax.tree.map(lambda leaf: leaf[0], timesteps)
    actions, after = GreedyPolicy(env, value).act(jax.random.key(0), carry, timestep)
    return actions, after, explain(env, value, carry, timestep)


def _frames(steps: list[HostStep], scene: Scene) -> Frame:
    count = len(steps)
    frames: Frame = jax.tree.unflatten(
        jax.tree.structure(Frame(scene, jnp.zeros((1, 1)), jnp.zeros(()), {})),
        [
            *(np.broadcast_to(leaf, (count, *leaf.shape)) for leaf in jax.tree.leaves(scene)),
            np.stack([step.observation for step in steps]),
            np.array([step.reward for step in steps], np.float32),
        ],
    )
    return frames


def _scene(env: HostEnvironment, pictures: UInt8[np.ndarray, "t h w 3"] | None) -> Scene:
    """The area of the pictures; a row of dots if there are none."""
    if pictures is None:
        return row_of_dots(env.num_agents)
    height, width = pictures.shape[1:3]
    return Scene(bounds=jnp.array([0.0, 0.0, width, height]))


def _picture(copy: HostCopy) -> UInt8[np.ndarray, "h w 3"] | None:
    """The current picture, with every k-th pixel if it is large."""
    pixels = copy.picture() if isinstance(copy, HasPictures) else None
    if pixels is None:
        return None
    stride = -(-max(pixels.shape[:2]) // LONGEST_SIDE)
    return pixels[::stride, ::stride]
