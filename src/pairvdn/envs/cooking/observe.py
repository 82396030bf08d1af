"""Observations: the objects of the meta file's classes, class by class."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.cooking.kitchen import Kitchen
from pairvdn.envs.cooking.level import Meta
from pairvdn.envs.cooking.state import (
    BLENDABLE,
    FEATURE_NAMES,
    FEATURES,
    FOODS,
    STATICS,
    CookingState,
)

Flags = Bool[Array, " k"]
ORIENTATIONS = 4


@dataclass(frozen=True, eq=False)
class Columns:
    """The layout of an observation."""

    size: int
    is_x: np.ndarray  # bool[o]
    is_y: np.ndarray
    agent: np.ndarray  # int32[o]: the agent that the number describes, or -1
    first_agent: int  # the first column of the agents


@functools.cache
def columns(meta: Meta) -> Columns:
    """The layout of an observation: for each class, in order, `count` times its features."""
    names = [
        (kind, i, part) for kind, n in meta for i in range(n) for part in range(FEATURES[kind])
    ]
    part = np.array([part for _, _, part in names])
    agent = np.array([i if kind == "Agent" else -1 for kind, i, _ in names], np.int32)
    return Columns(len(names), part == 0, part == 1, agent, int(np.argmax(agent >= 0)))


def observation_names(meta: Meta) -> tuple[str, ...]:
    """The name of each number of `observe`."""
    return tuple(
        f"{kind} {number}, {name}"
        for kind, count in meta
        for number in range(count)
        for name in FEATURE_NAMES[kind]
    )


def observe(
    state: CookingState, kitchen: Kitchen
) -> tuple[Float[Array, "n o"], Float[Array, " o"]]:
    """Observations of all agents, and the global state.

    Positions are (x - x_self) / width and (y - y_self) / height; an agent's own is x_self / width,
    y_self / height. In the global state positions are relative to the middle of the level.
    """
    layout, width, height = columns(kitchen.meta), kitchen.width, kitchen.height
    numbers, exists = _numbers(state, kitchen)
    is_x, is_y = exists & layout.is_x, exists & layout.is_y
    own = layout.agent[None] == np.arange(state.cooks.cell.shape[0])[:, None]
    x = (state.cooks.cell % width).astype(jnp.float32)[:, None]
    y = (state.cooks.cell // width).astype(jnp.float32)[:, None]
    origin = jnp.where(is_x[None], x, 0.0) + jnp.where(is_y[None], y, 0.0)
    unit = np.where(layout.is_x, width, np.where(layout.is_y, height, 1)).astype(np.float32)
    observation = (numbers[None] - jnp.where(own, 0.0, origin)) / unit[None]
    middle = jnp.where(is_x, width / 2, 0.0) + jnp.where(is_y, height / 2, 0.0)
    return observation, (numbers - middle) / unit


def _numbers(state: CookingState, kitchen: Kitchen) -> tuple[Float[Array, " o"], Bool[Array, " o"]]:
    """All numbers, positions in cells from the corner, and whether their object exists."""
    numbers, existing = [], []
    for kind, count in kitchen.meta:
        cells, flags = _VIEWS.get(kind, _nothing)(kind, state, kitchen)
        exists = cells >= 0
        parts = [cells % kitchen.width, cells // kitchen.width, *flags, exists]
        block = jnp.stack([part.astype(jnp.float32) for part in parts], axis=1)
        block = jnp.where(exists[:, None], block, 0.0)
        empty = count * FEATURES[kind] - block.size
        numbers.append(jnp.pad(block.ravel(), (0, empty)))
        existing.append(jnp.pad(jnp.repeat(exists, block.shape[1]), (0, empty)))
    return jnp.concatenate(numbers), jnp.concatenate(existing)


View = tuple[Int32[Array, " k"], list[Flags]]


def _nothing(kind: str, state: CookingState, kitchen: Kitchen) -> View:
    return jnp.zeros(0, jnp.int32), []


def _fixture(kind: str, state: CookingState, kitchen: Kitchen) -> View:
    return state.fixtures[np.array([name == kind for name in kitchen.fixtures], bool)], []


def _plate(kind: str, state: CookingState, kitchen: Kitchen) -> View:
    return state.objects.cell[_slots_of(kind, kitchen)], []


def _food(kind: str, state: CookingState, kitchen: Kitchen) -> View:
    mine = _slots_of(kind, kitchen)
    chopped, mashed = state.objects.chopped[mine], state.objects.mashed[mine]
    states = [chopped, mashed] if kind in BLENDABLE else [chopped]
    return state.objects.cell[mine], [~(chopped | mashed), *states]


def _agent(kind: str, state: CookingState, kitchen: Kitchen) -> View:
    facing = state.cooks.facing
    return state.cooks.cell, [facing == way for way in range(1, ORIENTATIONS + 1)]


def _slots_of(kind: str, kitchen: Kitchen) -> np.ndarray:
    return np.flatnonzero([name == kind for name in kitchen.slots.classes])


_VIEWS: dict[str, Callable[[str, CookingState, Kitchen], View]] = {
    **dict.fromkeys(STATICS, _fixture),
    **dict.fromkeys(FOODS, _food),
    "Plate": _plate,
    "Agent": _agent,
}
