"""Observations of the view `reach`: the objects that each action would touch, and held objects.

The information is that of the original observation. There, a tomato is in front of an agent if two
of 119 coordinates are exactly a sixth and zero, which a small network learns slowly. Here it is a
single 0 or 1.
"""

import functools

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.cooking.kitchen import Kitchen
from pairvdn.envs.cooking.state import PLACED_TILES, CookingState, Tile

DIRECTIONS = ("left", "right", "down", "up")
STEPS = np.array([(-1, 0), (1, 0), (0, 1), (0, -1)], np.int32)  # y grows downwards
TILES = tuple(tile.name.lower() for tile in Tile)


@functools.cache
def reach_names(kitchen: Kitchen) -> tuple[str, ...]:
    """The name of each number of `reach`."""
    things = _numbered(kitchen.slots.classes)
    agents = ("itself", *(f"agent {k} further" for k in range(1, kitchen.agents.num_slots)))
    where = [f"in column {x}" for x in range(kitchen.width)]
    where += [f"in row {y}" for y in range(kitchen.height)]
    plates = [thing for thing in things if thing.startswith("Plate")]
    beneath = (*(f"on {what}" for what in (*TILES, *plates)), "chopped", "mashed")
    return (
        *(f"{way}: {what}" for way in DIRECTIONS for what in (*TILES, "agent", *things)),
        *(f"{agent} {place}" for agent in agents for place in where),
        *(f"{agent} holds {thing}" for agent in agents for thing in things),
        *(f"{thing}, {part}" for thing in things for part in ("x", "y")),
        *(f"{thing} {part}" for thing in things for part in beneath),
        *(f"{thing}, {part}" for thing in _fixtures(kitchen) for part in ("x", "y")),
    )


def reach(state: CookingState, kitchen: Kitchen) -> Float[Array, "n o"]:
    """For every agent: its four neighbour cells, agents, held objects, all objects and fixtures.

    Agents are counted cyclically from the observer. x and y are relative to the observer and
    divided by width and height; all other numbers are 0 or 1. The contents of a held plate are
    held.
    """
    n = state.cooks.cell.shape[0]
    mine = np.array([kind in PLACED_TILES for kind in kitchen.fixtures], bool)
    things = _things(state, kitchen)
    parts = [
        _around(state, kitchen),
        _from_observer(_places(state.cooks.cell, kitchen)),
        _from_observer(_held(state)),
        _relative(state.objects.cell, state, kitchen),
        jnp.broadcast_to(things[None], (n, *things.shape)),
        _relative(state.fixtures[mine], state, kitchen),
    ]
    return jnp.concatenate([part.reshape(n, -1).astype(jnp.float32) for part in parts], axis=1)


def _around(state: CookingState, kitchen: Kitchen) -> Bool[Array, "n 4 k"]:
    """Tile, agent and objects of the neighbour cells; zeros outside the level."""
    cell = state.cooks.cell
    x = (cell % kitchen.width)[:, None] + STEPS[None, :, 0]
    y = (cell // kitchen.width)[:, None] + STEPS[None, :, 1]
    inside = (x >= 0) & (x < kitchen.width) & (y >= 0) & (y < kitchen.height)
    place = jnp.where(inside, y * kitchen.width + x, 0)
    tile = state.tiles[place][..., None] == np.arange(len(TILES))[None, None]
    agent = (place[..., None] == cell[None, None]).any(axis=-1, keepdims=True)
    things = place[..., None] == state.objects.cell[None, None]
    return jnp.concatenate([tile, agent, things], axis=-1) & inside[..., None]


def _places(cell: Int32[Array, " n"], kitchen: Kitchen) -> Bool[Array, "n k"]:
    """Column and row, one-hot."""
    column = (cell % kitchen.width)[:, None] == np.arange(kitchen.width)[None]
    row = (cell // kitchen.width)[:, None] == np.arange(kitchen.height)[None]
    return jnp.concatenate([column, row], axis=1)


def _held(state: CookingState) -> Bool[Array, "n m"]:
    held, objects = state.cooks.held[:, None], state.objects
    slots = np.arange(objects.cell.shape[0])[None]
    return (held >= 0) & ((held == slots) | (held == objects.plate[None]))


def _things(state: CookingState, kitchen: Kitchen) -> Bool[Array, "m k"]:
    """The tile and plate beneath each object, and whether it is chopped or mashed."""
    objects = state.objects
    exists = (objects.cell >= 0)[:, None]
    tile = state.tiles[objects.cell][:, None] == np.arange(len(TILES))[None]
    plate = objects.plate[:, None] == np.flatnonzero(kitchen.slots.is_plate)[None]
    done = jnp.stack([objects.chopped, objects.mashed], axis=1)
    return jnp.concatenate([tile, plate, done], axis=1) & exists


def _relative(
    cells: Int32[Array, " k"], state: CookingState, kitchen: Kitchen
) -> Float[Array, "n k 2"]:
    """Offsets from every agent to these cells; 0 for objects that do not exist."""
    there = jnp.stack([cells % kitchen.width, cells // kitchen.width], axis=1)
    cook = state.cooks.cell
    here = jnp.stack([cook % kitchen.width, cook // kitchen.width], axis=1)
    size = np.array([kitchen.width, kitchen.height], np.float32)
    way = (there[None] - here[:, None]).astype(jnp.float32) / size[None, None]
    return jnp.where((cells >= 0)[None, :, None], way, 0.0)


def _from_observer(rows: Bool[Array, "n k"]) -> Bool[Array, "n n k"]:
    """All rows for every agent, its own first."""
    n = rows.shape[0]
    return rows[(np.arange(n)[:, None] + np.arange(n)[None]) % n]


def _fixtures(kitchen: Kitchen) -> tuple[str, ...]:
    return _numbered(tuple(kind for kind in kitchen.fixtures if kind in PLACED_TILES))


def _numbered(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Each kind with its running number."""
    return tuple(f"{kind} {kinds[:index].count(kind)}" for index, kind in enumerate(kinds))
