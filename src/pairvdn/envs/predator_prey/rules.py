"""Who may do what, how predators move, and what becomes of the prey."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int32

from pairvdn.envs.grid import MOVES, inside, same_cell
from pairvdn.envs.predator_prey.types import PredatorPreyState
from pairvdn.types import PRNGKey

STAY, CATCH = len(MOVES), len(MOVES) + 1
NUM_ACTIONS = CATCH + 1
DISPLACEMENTS = np.array([*MOVES, (0, 0), (0, 0)], np.int32)  # of each action
CATCHERS = 2  # so many predators must catch at once


class Hunt(NamedTuple):
    """What happened to each prey in a step."""

    captured: Bool[Array, " k"]
    missed: Bool[Array, " k"]  # a single predator tried


def next_to(
    first: Int32[Array, "*#many 2"], second: Int32[Array, "*#many 2"]
) -> Bool[Array, "..."]:
    """Which cells have a side in common."""
    return jnp.sum(jnp.abs(first - second), axis=-1) == 1


def start(key: PRNGKey, num_predators: int, num_prey: int, size: int) -> PredatorPreyState:
    """Everyone at a cell of its own, all choices equally likely."""
    cells = jax.random.permutation(key, jnp.arange(size * size, dtype=jnp.int32))
    cells = cells[: num_predators + num_prey]
    places = jnp.stack([cells // size, cells % size], axis=1)
    return PredatorPreyState(
        predators=places[:num_predators],
        hunting=jnp.ones((num_predators,), bool),
        prey=places[num_predators:],
        alive=jnp.ones((num_prey,), bool),
        steps=jnp.int32(0),
    )


def allowed(state: PredatorPreyState, size: int) -> Bool[Array, "n a"]:
    """Moves inside the map, to stay, and to catch if there is prey; those who left only stay."""
    moves = inside(state.predators[:, None] + jnp.array([MOVES], jnp.int32), size, size)
    stay = jnp.ones_like(state.hunting)[:, None]
    near = next_to(state.predators[:, None], state.prey[None]) & state.alive[None]
    catch = jnp.any(near, axis=1, keepdims=True)
    mask = jnp.concatenate([moves, stay, catch], axis=1)
    only_stay = (jnp.arange(NUM_ACTIONS, dtype=jnp.int32) == STAY)[None]
    return jnp.where(state.hunting[:, None], mask, only_stay)


def move_predators(
    key: PRNGKey, state: PredatorPreyState, actions: Int32[Array, " n"]
) -> Int32[Array, "n 2"]:
    """One after the other in random order, unless somebody is where it wants to go."""
    displacements = jnp.asarray(DISPLACEMENTS)[actions]

    def move(
        predators: Int32[Array, "n 2"], index: Int32[Array, ""]
    ) -> tuple[Int32[Array, "n 2"], None]:
        goal = predators[index] + displacements[index]
        blocked = jnp.any(same_cell(predators, goal[None]) & state.hunting) | jnp.any(
            same_cell(state.prey, goal[None]) & state.alive
        )
        return predators.at[index].set(jnp.where(blocked, predators[index], goal)), None

    order = jax.random.permutation(key, jnp.arange(actions.shape[0], dtype=jnp.int32))
    return jax.lax.scan(move, state.predators, order)[0]


def hunt(
    key: PRNGKey, state: PredatorPreyState, catching: Bool[Array, " n"], size: int
) -> tuple[PredatorPreyState, Hunt]:
    """Each prey in random order is captured or moves to a free neighbouring cell."""
    order_key, move_key = jax.random.split(key)
    num_prey = state.alive.shape[0]
    preferences = jax.random.uniform(move_key, (num_prey, len(MOVES)))

    def turn(
        now: PredatorPreyState, index: Int32[Array, ""]
    ) -> tuple[PredatorPreyState, tuple[Bool[Array, ""], Bool[Array, ""]]]:
        place, alive = now.prey[index], now.alive[index]
        catchers = next_to(now.predators, place[None]) & now.hunting & catching
        count = jnp.where(alive, jnp.sum(catchers), 0)
        captured = count >= CATCHERS
        cell = _flee(now, place, preferences[index], size)
        after = PredatorPreyState(
            predators=now.predators,
            hunting=now.hunting & ~(captured & catchers),
            prey=now.prey.at[index].set(jnp.where(alive & ~captured, cell, place)),
            alive=now.alive.at[index].set(alive & ~captured),
            steps=now.steps,
        )
        return after, (captured, count == 1)

    order = jax.random.permutation(order_key, jnp.arange(num_prey, dtype=jnp.int32))
    state, (captured, missed) = jax.lax.scan(turn, state, order)
    return state, Hunt(captured, missed)


def _flee(
    state: PredatorPreyState, place: Int32[Array, "2"], preferences: Array, size: int
) -> Int32[Array, "2"]:
    """The free neighbouring cell that the prey likes best; its own if none is free."""
    cells = place[None] + jnp.array(MOVES, jnp.int32)
    taken = jnp.any(same_cell(cells[:, None], state.predators[None]) & state.hunting[None], axis=1)
    taken |= jnp.any(same_cell(cells[:, None], state.prey[None]) & state.alive[None], axis=1)
    free = inside(cells, size, size) & ~taken
    best = cells[jnp.argmax(jnp.where(free, preferences, -1.0))]
    return jnp.where(jnp.any(free), best, place)
