"""What agents observe, of any shape and kind, as lines of numbers."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from pairvdn.envs.zoo.images import Shrink, is_image

_MASK = "action_mask"  # as PettingZoo's games call it, in observations or in infos


class Encoder(NamedTuple):
    """How something becomes numbers, and how many."""

    size: int
    encode: Callable[[Any], np.ndarray]


class Images(NamedTuple):
    """What to do with pictures: `size` is (rows, columns), None if they keep theirs."""

    size: tuple[int, int] | None
    grey: bool


def observation_encoder(agent: str, space: Any, images: Images) -> Encoder:
    """For what `agent` observes; an observation with a mask beside it counts without it."""
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
            "can flatten to a fixed number of numbers can be learned from."
        ) from None
    return Encoder(
        size, lambda seen: np.asarray(spaces.flatten(space, seen), np.float32).reshape(-1)
    )


def array_encoder(shape: tuple[int, ...], dtype: Any, images: Images) -> Encoder:
    """For arrays of this shape: pictures are shrunk and scaled, all others only laid out."""
    if is_image(shape, np.dtype(dtype)):
        shrink = Shrink(shape, images.size, grey=images.grey)
        return Encoder(shrink.size, shrink)
    return Encoder(int(np.prod(shape)), lambda seen: np.asarray(seen, np.float32).reshape(-1))


def allowed_actions(seen: Any, info: Any, count: int) -> np.ndarray:
    """Which of its `count` actions an agent may choose; all, if neither place says.

    One that may do nothing at all, because others have the turn, may do its first action.
    """
    told = seen.get(_MASK) if isinstance(seen, dict) else None
    told = info.get(_MASK) if told is None and isinstance(info, dict) else told
    mask = np.ones(count, bool) if told is None else np.asarray(told).astype(bool)
    return mask if mask.any() else np.arange(count) == 0
