"""Sizes and encodings of a PettingZoo environment, read once and padded to fit all agents."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from jaxtyping import Float32, UInt8
from pettingzoo import ParallelEnv

from pairvdn.types import EnvSpec

_MASK = "action_mask"  # as PettingZoo's games call it, in observations or in infos
_UNLIMITED = 1_000  # steps of an episode without a limit of its own


class Encoder(NamedTuple):
    """Turns an observation or a state into `size` numbers."""

    size: int
    encode: Callable[[Any], np.ndarray]


class Images(NamedTuple):
    """The (rows, columns) to shrink images to, None to keep them; and whether to make them grey."""

    size: tuple[int, int] | None
    grey: bool


def observation_encoder(agent: str, space: Any, images: Images) -> Encoder:
    """For the observations of `agent`, without an action mask beside them."""
    if isinstance(space, spaces.Dict) and {"observation", _MASK} == set(space.spaces):
        inner = observation_encoder(agent, space["observation"], images)
        return Encoder(inner.size, lambda seen: inner.encode(seen["observation"]))
    if isinstance(space, spaces.Box):
        return array_encoder(space.shape, space.dtype, images)
    try:
        size = spaces.flatdim(space)
    except (NotImplementedError, ValueError):
        raise ValueError(
            f"{agent} observes {space}, which has no fixed size; only observations that gymnasium "
            "can flatten to a fixed size are supported."
        ) from None
    return Encoder(
        size, lambda seen: np.asarray(spaces.flatten(space, seen), np.float32).reshape(-1)
    )


def array_encoder(shape: tuple[int, ...], dtype: Any, images: Images) -> Encoder:
    """For arrays of this shape: images are shrunk and scaled, others are flattened."""
    if is_image(shape, np.dtype(dtype)):
        shrink = Shrink(shape, images.size, grey=images.grey)
        return Encoder(shrink.size, shrink)
    return Encoder(int(np.prod(shape)), lambda seen: np.asarray(seen, np.float32).reshape(-1))


def allowed_actions(seen: Any, info: Any, count: int) -> np.ndarray:
    """The allowed ones of an agent's `count` actions, from its observation or info; default: all.

    An agent without an allowed action, because it is not its turn, may take its first action.
    """
    given = seen.get(_MASK) if isinstance(seen, dict) else None
    given = info.get(_MASK) if given is None and isinstance(info, dict) else given
    mask = np.ones(count, bool) if given is None else np.asarray(given).astype(bool)
    return mask if mask.any() else np.arange(count) == 0


class Actions(NamedTuple):
    """The actions of one agent: `size` numbers from `start` on."""

    size: int
    start: int


class Layout(NamedTuple):
    """The agents in a fixed order, with their encoders and actions.

    All fields are tuples, so that an environment with a layout is hashable.
    """

    agents: tuple[str, ...]
    encoders: tuple[Encoder, ...]
    actions: tuple[Actions, ...]
    state: Encoder | None  # None: the concatenated observations
    spec: EnvSpec
    max_steps: int


def layout(env: Any, images: Images) -> Layout:
    """Read the sizes of an environment; ValueError if it is not supported."""
    _require_parallel(env)
    agents = tuple(env.possible_agents)
    actions = tuple(_actions(agent, env.action_space(agent)) for agent in agents)
    encoders = tuple(
        observation_encoder(agent, env.observation_space(agent), images) for agent in agents
    )
    observation_size = max(one.size for one in encoders)
    seen, _ = env.reset(seed=0)
    _warn_if_blank(env, seen)
    state = _state_encoder(env, images)
    return Layout(
        agents=agents,
        encoders=encoders,
        actions=actions,
        state=state,
        spec=EnvSpec(
            num_agents=len(agents),
            num_actions=max(one.size for one in actions),
            observation_size=observation_size,
            state_size=len(agents) * observation_size if state is None else state.size,
        ),
        max_steps=_own_limit(env),
    )


def _require_parallel(env: Any) -> None:
    if not isinstance(env, ParallelEnv):
        raise ValueError(
            f"{type(env).__name__} is not a PettingZoo ParallelEnv; convert an AECEnv with "
            "pettingzoo.utils.aec_to_parallel."
        )
    if not getattr(env, "possible_agents", None):
        raise ValueError(
            f"{type(env).__name__} does not list its possible_agents; all agents must be "
            "known from the start."
        )


def _actions(agent: str, space: Any) -> Actions:
    if isinstance(space, spaces.Discrete):
        return Actions(int(space.n), int(space.start))
    raise ValueError(
        f"{agent} acts in {space}, but only Discrete actions are supported; many environments "
        "have an option for them, such as continuous=False or continuous_actions=False."
    )


def _state_encoder(env: Any, images: Images) -> Encoder | None:
    """The encoder of `state()`, if there is one, for an environment that was reset."""
    try:
        state = env.state()
    except (NotImplementedError, AttributeError):
        return None
    return array_encoder(state.shape, state.dtype, images)


def _warn_if_blank(env: Any, seen: Mapping[str, Any]) -> None:
    """Some environments draw the agents' images only if rendering is on."""
    images_seen = [
        array
        for array in seen.values()
        if isinstance(array, np.ndarray) and is_image(array.shape, array.dtype)
    ]
    if images_seen and all(one.min() == one.max() for one in images_seen):
        warnings.warn(
            f"All agents of {env} see an empty image at the start; try "
            "render_mode='rgb_array' (--env.render-mode rgb_array).",
            stacklevel=3,
        )


def _own_limit(env: Any) -> int:
    """Steps after which the environment ends an episode itself: PettingZoo's `max_cycles`."""
    inside = env.unwrapped
    limits = (getattr(one, "max_cycles", None) for one in (inside, getattr(inside, "env", None)))
    return next((int(limit) for limit in limits if limit is not None), _UNLIMITED)


def is_image(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether an array is an image: bytes, height x width, with or without channels."""
    return dtype == np.uint8 and (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3, 4)))


class Shrink:
    """Turns an image of bytes into `size` numbers from 0 to 1, optionally grey.

    A new pixel is the mean of the area that it covers, fractions of old pixels included, so any
    size up to the old one works. A fourth channel, the opacity, is dropped.
    """

    def __init__(self, shape: tuple[int, ...], size: tuple[int, int] | None, *, grey: bool) -> None:
        height, width = shape[:2]
        rows, columns = (height, width) if size is None else size
        if not (1 <= rows <= height and 1 <= columns <= width):
            raise ValueError(
                f"image_size must be from 1,1 to {height},{width}, the size of the images, "
                f"not {rows},{columns}."
            )
        self._rows = np.linspace(0, height, rows + 1)
        self._columns = np.linspace(0, width, columns + 1)
        self._channels = 1 if len(shape) == 2 else min(shape[2], 3)
        self._grey = grey
        self.size = rows * columns * (1 if grey else self._channels)

    def __call__(self, image: UInt8[np.ndarray, "..."]) -> Float32[np.ndarray, " size"]:
        """The flat image, row by row."""
        low = _means(np.ascontiguousarray(image).reshape(len(image), -1), self._rows)
        low = low.reshape(len(low), image.shape[1], -1).swapaxes(0, 1)  # columns, rows, channels
        small = _means(low.reshape(len(low), -1), self._columns)
        small = small.reshape(len(small), len(self._rows) - 1, -1).swapaxes(0, 1)
        seen = small[:, :, : self._channels]
        if self._grey:
            seen = seen.mean(axis=2)
        return seen.reshape(-1) / np.float32(255)


def _means(lines: np.ndarray, edges: np.ndarray) -> Float32[np.ndarray, "new length"]:
    """The mean of the lines between successive edges; lines cut by an edge count in part.

    Whole lines are summed as bytes; a product with a matrix of shares would convert everything to
    floats first, which takes ten times as long.
    """
    whole = np.floor(edges).astype(np.int64)
    kind = np.uint32 if lines.dtype == np.uint8 else np.float32
    sums = np.add.reduceat(lines, whole[:-1], axis=0, dtype=kind).astype(np.float32)
    parts = (edges - whole).astype(np.float32)[:, None]
    cut = lines[np.minimum(whole, len(lines) - 1)] * parts
    totals: np.ndarray = sums - cut[:-1] + cut[1:]
    return totals * np.float32((len(edges) - 1) / len(lines))
