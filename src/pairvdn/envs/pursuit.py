"""Pursuit: predators must catch prey in pairs, and from the right side."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.checks import whole_number
from pairvdn.envs.base import Environment
from pairvdn.envs.grid import centres, grid_lines, inside, same_cell, upright
from pairvdn.envs.scene import Circles, Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

SIZE = 10  # rows and columns
NUM_PREDATORS, NUM_PREY = 10, 5
CATCHERS = 2  # predators that must catch at once
CAPTURE, MISS = 1.0, -1.0  # rewards
STAY = (0, 0)
WAYS = {"right": (0, 1), "down": (1, 0), "left": (0, -1), "up": (-1, 0)}
# Catch in four directions, move in four, stop.
CATCHES = np.array([*WAYS.values(), *[STAY] * 5], np.int32)  # the cell that an action catches at
MOVES = np.array([*[STAY] * 4, *WAYS.values(), STAY], np.int32)  # the cell that it moves to
STOP = len(MOVES) - 1
IS_CATCH = np.arange(len(MOVES)) < len(WAYS)
PREY_MOVES = np.array([*WAYS.values(), STAY], np.int32)
WINDOW = np.array(list(np.ndindex(5, 5)), np.int32) - 2  # the cells that a predator sees
PREDATOR_COLOUR, PREY_COLOUR = (0.8, 0.3, 0.2), (0.3, 0.6, 0.3)


class PursuitState(eqx.Module):
    """The cells of predators and prey; those that are gone keep their last one."""

    predators: Int32[Array, "n 2"]
    hunting: Bool[Array, " n"]  # predators that are not gone
    prey: Int32[Array, "k 2"]
    alive: Bool[Array, " k"]
    steps: Int32[Array, ""]


def start(key: PRNGKey) -> PursuitState:
    """Predators and prey at different random cells."""
    cells = jax.random.permutation(key, jnp.arange(SIZE * SIZE, dtype=jnp.int32))
    grid = jnp.stack([cells // SIZE, cells % SIZE], axis=1)
    return PursuitState(
        predators=grid[:NUM_PREDATORS],
        hunting=jnp.ones((NUM_PREDATORS,), bool),
        prey=grid[NUM_PREDATORS : NUM_PREDATORS + NUM_PREY],
        alive=jnp.ones((NUM_PREY,), bool),
        steps=jnp.int32(0),
    )


def allowed(state: PursuitState) -> Bool[Array, "n a"]:
    """Catches at prey and moves inside the map; all can stop, and those that are gone only that."""
    beside = state.predators[:, None] + jnp.array([list(WAYS.values())], jnp.int32)
    at_prey = same_cell(beside[:, :, None], state.prey[None, None]) & state.alive[None, None]
    ways = [jnp.any(at_prey, axis=2), inside(beside, SIZE, SIZE)]
    stop = jnp.ones((NUM_PREDATORS, 1), bool)
    return jnp.concatenate([jnp.concatenate(ways, axis=1) & state.hunting[:, None], stop], axis=1)


def catch(
    state: PursuitState, actions: Int32[Array, " n"]
) -> tuple[PursuitState, Float[Array, ""]]:
    """Remove captured prey, each with its first two catchers; the reward of the team.

    A predator catches at one cell, so that the order of the prey does not matter.
    """
    cells = state.predators + jnp.asarray(CATCHES)[actions]
    catching = (jnp.asarray(IS_CATCH)[actions] & state.hunting)[:, None] & state.alive[None]
    catchers = same_cell(cells[:, None], state.prey[None]) & catching
    count = jnp.sum(catchers, axis=0)
    captured = count >= CATCHERS
    first = catchers & (jnp.cumsum(catchers, axis=0) <= CATCHERS)
    after = dataclasses.replace(
        state,
        hunting=state.hunting & ~jnp.any(first & captured[None], axis=1),
        alive=state.alive & ~captured,
    )
    captures, misses = (jnp.sum(one, dtype=jnp.float32) for one in (captured, count == 1))
    return after, CAPTURE * captures + MISS * misses


def move(
    state: PursuitState, actions: Int32[Array, " n"], draws: Int32[Array, " k"]
) -> PursuitState:
    """Predators, then prey, move one after the other, unless the cell ahead is taken.

    Each moves once, from the cell where it is now, so only the check for a free cell is sequential.
    """
    cells = jnp.concatenate([state.predators, state.prey])
    present = jnp.concatenate([state.hunting, state.alive])
    ahead = cells + jnp.concatenate([jnp.asarray(MOVES)[actions], jnp.asarray(PREY_MOVES)[draws]])
    may = present & inside(ahead, SIZE, SIZE)

    def turn(cells: Int32[Array, "m 2"], index: Int32[Array, ""]) -> tuple[Array, None]:
        taken = jnp.any(same_cell(cells, ahead[index][None]) & present)
        mine = jnp.arange(cells.shape[0], dtype=jnp.int32) == index
        goes = mine & may & ~taken
        return jnp.where(goes[:, None], ahead, cells), None

    cells, _ = jax.lax.scan(turn, cells, jnp.arange(cells.shape[0], dtype=jnp.int32))
    return dataclasses.replace(state, predators=cells[:NUM_PREDATORS], prey=cells[NUM_PREDATORS:])


def observe(state: PursuitState) -> Float[Array, "n 70"]:
    """A plane of predators' numbers, one of prey, own row and column; zeros when it is gone."""
    cells = state.predators[:, None] + jnp.asarray(WINDOW)[None]
    numbers = jnp.where(state.hunting, jnp.arange(1, NUM_PREDATORS + 1, dtype=jnp.int32), 0)
    predators = same_cell(cells[:, :, None], state.predators[None, None])
    prey = same_cell(cells[:, :, None], state.prey[None, None]) & state.alive[None, None]
    line = jnp.arange(SIZE, dtype=jnp.int32)[None]
    parts = [
        jnp.sum(jnp.where(predators, numbers[None, None], 0), axis=2),
        jnp.any(prey, axis=2).astype(jnp.int32),
        *((state.predators[:, axis, None] == line).astype(jnp.int32) for axis in (0, 1)),
    ]
    seen = jnp.concatenate(parts, axis=1)
    return jnp.where(state.hunting[:, None], seen, 0).astype(jnp.float32)


class Pursuit(Environment[PursuitState]):
    """Predators on a grid catch a prey only if two reach for its cell; one alone is punished.

    Map: 10 x 10 cells with walls around.

    Start: 10 predators and 5 prey are at different random cells.

    Actions (9): catch to the right, below, to the left, above; move right, down, left, up; stop. A
    catch without prey at that cell and a move into a wall are masked and act as stop.

    Step: first the catches. A prey that two or more predators catch is gone, and so are the two of
    them with the smallest numbers. Then the predators move in the order of their numbers, then the
    prey in theirs. Each prey draws one of five moves, the four directions and to stay. A predator
    or prey stays if the cell ahead is taken at that moment. A predator that is gone can only stop.

    Observation (70): the 5 x 5 cells around the predator, row by row: a plane with the number + 1
    of the predator there, itself included, then a plane of prey; own row and own column, one-hot.
    All zeros when it is gone. State (700): all observations, agent by agent.

    Reward: 1 for every prey that is caught, -1 for every prey that exactly one predator tries to
    catch. Each agent gets 1/n of it. The maximum is 5. The trap is that no predator catches.

    End: terminated when no prey is left, truncated after `max_steps`.

    Args:
        max_steps: Steps after which an episode is truncated.
    """

    name = "pursuit"
    spec = EnvSpec(
        num_agents=NUM_PREDATORS,
        num_actions=len(MOVES),
        observation_size=2 * len(WINDOW) + 2 * SIZE,
        state_size=NUM_PREDATORS * (2 * len(WINDOW) + 2 * SIZE),
        has_positions=True,
    )
    action_names = (*(f"catch {way}" for way in WAYS), *WAYS, "stop")
    observation_names = (
        *(
            f"{kind} {row:+d} down, {column:+d} right"
            for kind in ("predator", "prey")
            for row, column in WINDOW.tolist()
        ),
        *(f"row {row}" for row in range(SIZE)),
        *(f"column {column}" for column in range(SIZE)),
    )
    max_steps: int = eqx.field(static=True)

    def __init__(self, max_steps: int = 50) -> None:
        self.max_steps = whole_number("max_steps", max_steps, 1)

    def reset(self, key: PRNGKey) -> tuple[PursuitState, TimeStep]:
        """Predators and prey at random cells."""
        state = start(key)
        return state, self._time_step(state)

    def step(
        self, key: PRNGKey, state: PursuitState, actions: Int32[Array, " n"]
    ) -> tuple[PursuitState, TimeStep]:
        """Catch, then move."""
        actions = self.as_actions(actions, no_op=STOP)
        may = jnp.take_along_axis(allowed(state), actions[:, None], axis=1)[:, 0]
        actions = jnp.where(may, actions, STOP)
        draws = jax.random.randint(key, (NUM_PREY,), 0, len(PREY_MOVES), jnp.int32)
        state, reward = catch(state, actions)
        state = dataclasses.replace(move(state, actions, draws), steps=state.steps + 1)
        return state, self._time_step(state, reward)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """The predators, x to the right, y up; those that are gone are together, far away."""
        del state
        rows, columns = jnp.split(observation[:, -2 * SIZE :], 2, axis=1)
        cells = jnp.stack([jnp.argmax(rows, axis=1), jnp.argmax(columns, axis=1)], axis=1)
        there = jnp.any(rows > 0, axis=1, keepdims=True)
        return upright(jnp.where(there, cells.astype(jnp.float32), -2.0 * SIZE))

    def measures(self, state: PursuitState) -> dict[str, Float[Array, ""]]:
        """`caught`: prey that is gone."""
        return {"caught": jnp.sum(~state.alive, dtype=jnp.float32)}

    def scene(self, state: PursuitState) -> Scene:
        """Predators and smaller prey; those that are gone have no size."""
        n, k = NUM_PREDATORS, NUM_PREY
        radius = [jnp.where(state.hunting, 0.4, 0.0), jnp.where(state.alive, 0.25, 0.0)]
        agents = [np.arange(n, dtype=np.int32), np.full((k,), -1, np.int32)]
        return Scene(
            bounds=jnp.array([0.0, 0.0, SIZE, SIZE]),
            circles=Circles(
                centre=centres(jnp.concatenate([state.predators, state.prey]), SIZE),
                radius=jnp.concatenate(radius),
                colour=jnp.array([PREDATOR_COLOUR] * n + [PREY_COLOUR] * k),
                agent=jnp.asarray(np.concatenate(agents)),
            ),
            lines=grid_lines(SIZE, SIZE),
        )

    def _time_step(self, state: PursuitState, reward: Float[Array, ""] | None = None) -> TimeStep:
        observation = observe(state)
        return self.time_step(
            observation=observation,
            state=observation.reshape(-1),
            mask=allowed(state),
            rewards=reward,
            terminated=~jnp.any(state.alive),
            truncated=state.steps >= self.max_steps,
        )
