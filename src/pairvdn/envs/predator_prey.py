"""Predator-prey: predators on a grid must catch prey in pairs."""

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import MOST_AGENTS, number_within, whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.grid import MOVES, centres, grid_lines, inside, same_cell, upright
from pairvdn.envs.scene import Circles, Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

STAY, CATCH = len(MOVES), len(MOVES) + 1
NUM_ACTIONS = CATCH + 1
MOST_CELLS = 1000  # in a row of the map
DISPLACEMENTS = np.array([*MOVES, (0, 0), (0, 0)], np.int32)  # of each action
CATCHERS = 2  # predators that must catch at once
CAPTURE = 10.0  # the reward for it
WINDOW = np.array(list(np.ndindex(5, 5)), np.int32) - 2  # the cells that a predator sees
NUMBERS_EACH = 3  # numbers of every predator and prey in the global state
PREDATOR_COLOUR, PREY_COLOUR = (0.8, 0.3, 0.2), (0.3, 0.6, 0.3)


class PredatorPreyState(eqx.Module):
    """The positions of predators and prey; those that left keep their last cell."""

    predators: Int32[Array, "n 2"]
    hunting: Bool[Array, " n"]  # predators that have not left
    prey: Int32[Array, "k 2"]
    alive: Bool[Array, " k"]  # prey that was not captured
    steps: Int32[Array, ""]


class Hunt(NamedTuple):
    """The outcome of a step for each prey."""

    captured: Bool[Array, " k"]
    missed: Bool[Array, " k"]  # a single predator tried


def next_to(
    first: Int32[Array, "*#many 2"], second: Int32[Array, "*#many 2"]
) -> Bool[Array, "..."]:
    """Which cells have a side in common."""
    return jnp.sum(jnp.abs(first - second), axis=-1) == 1


def start(key: PRNGKey, num_predators: int, num_prey: int, size: int) -> PredatorPreyState:
    """Predators and prey at distinct random cells."""
    cells = jax.random.permutation(key, jnp.arange(size * size, dtype=jnp.int32))
    cells = cells[: num_predators + num_prey]
    grid = jnp.stack([cells // size, cells % size], axis=1)
    return PredatorPreyState(
        predators=grid[:num_predators],
        hunting=jnp.ones((num_predators,), bool),
        prey=grid[num_predators:],
        alive=jnp.ones((num_prey,), bool),
        steps=jnp.int32(0),
    )


def allowed(state: PredatorPreyState, size: int) -> Bool[Array, "n a"]:
    """Moves inside the map, staying, and catching next to prey; after leaving only staying."""
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
    """One after the other in random order, unless the cell ahead is taken."""
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
        after = dataclasses.replace(
            now,
            hunting=now.hunting & ~(captured & catchers),
            prey=now.prey.at[index].set(jnp.where(alive & ~captured, cell, place)),
            alive=now.alive.at[index].set(alive & ~captured),
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


def observe(state: PredatorPreyState) -> Float[Array, "n o"]:
    """A plane of predators, including itself, and one of prey; zeros after leaving."""
    cells = state.predators[:, None] + jnp.asarray(WINDOW)[None]

    def plane(places: Int32[Array, "m 2"], present: Bool[Array, " m"]) -> Bool[Array, "n w"]:
        there = same_cell(cells[:, :, None], places[None, None]) & present[None, None]
        return jnp.any(there, axis=-1)

    planes = [plane(state.predators, state.hunting), plane(state.prey, state.alive)]
    seen = jnp.concatenate(planes, axis=1) & state.hunting[:, None]
    return seen.astype(jnp.float32)


def global_state(state: PredatorPreyState, size: int) -> Float[Array, " s"]:
    """Row and column from 0 to 1, and a 1, of every predator and prey; zeros after leaving."""
    cells = jnp.concatenate([state.predators, state.prey]).astype(jnp.float32)
    present = jnp.concatenate([state.hunting, state.alive])[:, None]
    numbers = jnp.concatenate([cells / (size - 1), jnp.ones_like(cells[:, :1])], axis=1)
    return jnp.where(present, numbers, 0.0).reshape(-1)


class PredatorPrey(Environment[PredatorPreyState]):
    """Predators hunt on a grid: two must catch a prey at once; a lone attempt is punished.

    Map: `size` x `size` cells with walls around. Neighbours of a cell are the 4 cells that share a
    side with it.

    Start: predators and prey are at different random cells.

    Actions (6): up, down, left, right, stay, catch. Moves into walls are masked, and so is catch
    without a neighbouring prey; a masked action acts as stay.

    Step: predators move first, in random order; one whose way is blocked stays. Then each prey, in
    random order, is captured if two or more neighbouring predators catch: the prey and these
    predators leave the map. Otherwise it moves to a random free neighbouring cell, if there is one.
    A predator that has left can only stay.

    Observation (50): the 5 x 5 cells around the predator, row by row: a plane of predators, itself
    included, then a plane of prey. All zeros once it has left. State (3 per predator and prey): row
    and column from 0 to 1 and a 1 while it is on the map, else zeros.

    Reward: 10 for every capture, and `penalty` for every prey that exactly one predator tried to
    catch. Each agent gets 1/n of it. The maximum with 8 predators is 40. The lower the penalty, the
    harder it is for methods with a monotonic value to learn to catch.

    End: terminated when no prey or no predator is left, truncated after `max_steps`.

    Args:
        penalty: Reward, at most 0, for a prey that a single predator tries to catch.
        num_predators: Number of predators, which are the agents.
        num_prey: Number of prey.
        size: Rows and columns of the map.
        max_steps: Steps after which an episode is truncated.
    """

    name = "predator-prey"
    action_names = ("up", "down", "left", "right", "stay", "catch")
    observation_names = tuple(
        f"{kind} {row:+d} down, {column:+d} right"
        for kind in ("predator", "prey")
        for row, column in WINDOW.tolist()
    )
    spec: EnvSpec = eqx.field(static=True)
    penalty: float = eqx.field(static=True)
    num_prey: int = eqx.field(static=True)
    size: int = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)

    def __init__(
        self,
        penalty: float | int = -1.0,
        num_predators: int = 8,
        num_prey: int = 8,
        size: int = 10,
        max_steps: int = 200,
    ) -> None:
        self.penalty = number_within("penalty", penalty, -jnp.inf, 0)
        n = whole_number("num_predators", num_predators, 2, MOST_AGENTS)
        self.num_prey = whole_number("num_prey", num_prey, 1, MOST_AGENTS)
        self.size = whole_number("size", size, 2, MOST_CELLS)
        self.max_steps = whole_number("max_steps", max_steps, 1)
        if num_predators + num_prey > size * size:
            raise ValueError(
                f"num_predators + num_prey must be at most size * size = {size * size}, the number "
                f"of cells, not {num_predators + num_prey}."
            )
        self.spec = EnvSpec(
            num_agents=n,
            num_actions=NUM_ACTIONS,
            observation_size=2 * len(WINDOW),
            state_size=NUMBERS_EACH * (n + self.num_prey),
            has_positions=True,
        )

    def reset(self, key: PRNGKey) -> tuple[PredatorPreyState, TimeStep]:
        """Predators and prey at random cells."""
        state = start(key, self.num_agents, self.num_prey, self.size)
        return state, self._time_step(state)

    def step(
        self, key: PRNGKey, state: PredatorPreyState, actions: Int32[Array, " n"]
    ) -> tuple[PredatorPreyState, TimeStep]:
        """Predators move, then it is the prey's turn."""
        actions = self.as_actions(actions, no_op=STAY)
        move_key, hunt_key = jax.random.split(key)
        may = jnp.take_along_axis(allowed(state, self.size), actions[:, None], axis=1)[:, 0]
        actions = jnp.where(may, actions, STAY)
        moved = dataclasses.replace(
            state, predators=move_predators(move_key, state, actions), steps=state.steps + 1
        )
        state, happened = hunt(hunt_key, moved, actions == CATCH, self.size)
        captured = jnp.sum(happened.captured, dtype=jnp.float32)
        missed = jnp.sum(happened.missed, dtype=jnp.float32)
        return state, self._time_step(state, CAPTURE * captured + self.penalty * missed)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """The predators, x to the right, y up; those that left are together, far away."""
        del observation
        numbers = state.reshape(-1, NUMBERS_EACH)[: self.num_agents]
        there = numbers[:, 2:] > 0
        return upright(jnp.where(there, numbers[:, :2] * (self.size - 1), -2.0 * self.size))

    def scene(self, state: PredatorPreyState) -> Scene:
        """Predators and smaller prey; those that left have no size."""
        n, k = state.hunting.shape[0], state.alive.shape[0]
        radius = [jnp.where(state.hunting, 0.4, 0.0), jnp.where(state.alive, 0.25, 0.0)]
        colour = [
            jnp.tile(jnp.array([PREDATOR_COLOUR]), (n, 1)),
            jnp.tile(jnp.array([PREY_COLOUR]), (k, 1)),
        ]
        agents = [jnp.arange(n, dtype=jnp.int32), jnp.full((k,), -1, jnp.int32)]
        return Scene(
            bounds=jnp.array([0.0, 0.0, self.size, self.size]),
            circles=Circles(
                centre=centres(jnp.concatenate([state.predators, state.prey]), self.size),
                radius=jnp.concatenate(radius),
                colour=jnp.concatenate(colour),
                agent=jnp.concatenate(agents),
            ),
            lines=grid_lines(self.size, self.size),
        )

    def _time_step(
        self, state: PredatorPreyState, reward: Float[Array, ""] | None = None
    ) -> TimeStep:
        return self.time_step(
            observation=observe(state),
            state=global_state(state, self.size),
            mask=allowed(state, self.size),
            rewards=reward,
            terminated=~(jnp.any(state.hunting) & jnp.any(state.alive)),
            truncated=state.steps >= self.max_steps,
        )
