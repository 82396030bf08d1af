"""The start of an episode: random choices of the level are drawn."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.cooking.actions import LEFT
from pairvdn.envs.cooking.kitchen import Draws, Kitchen
from pairvdn.envs.cooking.state import Cooks, Objects, Tile
from pairvdn.types import PRNGKey


def start(
    key: PRNGKey, kitchen: Kitchen
) -> tuple[Int32[Array, " cells"], Int32[Array, " f"], Objects, Cooks]:
    """Tiles, fixtures, things and agents of a new episode."""
    phases = (kitchen.statics, kitchen.dynamics, kitchen.agents)
    ends = np.cumsum([len(draws.total) for draws in phases])
    # Drawn in one call: random numbers dominate the compilation of a reset.
    uniform = jax.random.uniform(key, (int(ends[-1]), 2))
    for_statics, for_dynamics, for_agents = jnp.split(uniform, ends[:-1])
    layout = jnp.asarray(kitchen.layout)
    statics = _place(for_statics, kitchen.statics, jnp.zeros(layout.shape, bool))
    outside = layout.size
    tiles = layout.at[jnp.where(statics < 0, outside, statics)].set(
        kitchen.static_tiles, mode="drop"
    )
    dynamics = _place(for_dynamics, kitchen.dynamics, tiles != Tile.COUNTER)
    agents = _place(for_agents, kitchen.agents, tiles != Tile.FLOOR)
    num_slots, num_agents = kitchen.slots.count, kitchen.agents.num_slots
    objects = Objects(
        cell=_into_slots(dynamics, kitchen.dynamics),
        plate=jnp.full(num_slots, -1, jnp.int32),
        stuck=jnp.zeros(num_slots, bool),
        chopped=jnp.zeros(num_slots, bool),
        mashed=jnp.zeros(num_slots, bool),
    )
    cooks = Cooks(
        cell=agents,
        facing=jnp.full(num_agents, LEFT, jnp.int32),
        held=jnp.full(num_agents, -1, jnp.int32),
    )
    return tiles, _fixtures(tiles, statics, kitchen), objects, cooks


def _place(
    uniform: Float[Array, "k 2"], draws: Draws, taken: Bool[Array, " cells"]
) -> Int32[Array, " k"]:
    """A free cell for each object in turn, or -1 if it is dropped.

    An object is dropped with probability 1 - p before every try, and a try hits a free cell with
    probability q, so it is placed with probability p q / (1 - p (1 - q)).
    """
    if draws.is_fixed:  # `kitchen` checked that no two share a cell
        return jnp.asarray(draws.weights.argmax(axis=1), jnp.int32)

    def place(
        taken: Bool[Array, " cells"], thing: tuple[Array, Array, Array, Array]
    ) -> tuple[Bool[Array, " cells"], Int32[Array, ""]]:
        weights, total, p, uniform = thing
        reach = jnp.cumsum(jnp.where(taken, 0.0, weights))
        q = reach[-1] / total
        exists = (p == 1) | (uniform[0] * (1 - p * (1 - q)) < p * q)
        cell = jnp.sum(reach <= uniform[1] * reach[-1], dtype=jnp.int32)
        cell = jnp.where(exists, cell, -1)
        return taken | (jnp.arange(taken.size) == cell), cell

    things = (jnp.asarray(draws.weights), jnp.asarray(draws.total), jnp.asarray(draws.chance))
    return jax.lax.scan(place, taken, (*things, uniform))[1]


def _into_slots(cells: Int32[Array, " k"], draws: Draws) -> Int32[Array, " slots"]:
    """The existing objects, class by class without gaps; -1 in the other slots."""
    exists = cells >= 0
    before = jnp.sum(draws.earlier & exists[None], axis=1, dtype=jnp.int32)
    slot = jnp.where(exists, draws.first_slot + before, draws.num_slots)
    return jnp.full(draws.num_slots, -1, jnp.int32).at[slot].set(cells, mode="drop")


def _fixtures(
    tiles: Int32[Array, " cells"], statics: Int32[Array, " k"], kitchen: Kitchen
) -> Int32[Array, " f"]:
    """Cells of the observed statics: counters row by row, the others in the level's order."""
    placed = _into_slots(statics, kitchen.statics)
    num_counters = kitchen.fixtures.count("Counter")
    if num_counters == 0:
        return placed
    first = kitchen.fixtures.index("Counter")
    (counters,) = jnp.nonzero(tiles == Tile.COUNTER, size=num_counters, fill_value=-1)
    return placed.at[first : first + num_counters].set(counters.astype(jnp.int32))
