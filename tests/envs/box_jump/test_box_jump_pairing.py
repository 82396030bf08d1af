"""Sweeps visit the pairs that they promise, and near pairs are as good as all."""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from box_jump_scenes import REST, STACK, place

from pairvdn.envs.box_jump import nearby_pairs, physics
from pairvdn.envs.box_jump.env import BoxJump
from pairvdn.envs.box_jump.pair_sweeps import (
    BLOCK,
    Sweep,
    all_pairs,
    meetings,
    near_pairs,
    no_rows,
    run,
)


def notes(sweep: Sweep, bodies: int) -> tuple[jax.Array, list[tuple[int, int]]]:
    def visit(a: jax.Array, b: jax.Array, row: Any, kept: Any) -> Any:
        return a, b, (a, b)

    empty = no_rows(sweep, bodies, jnp.int32)
    seats, met = run(sweep, visit, jnp.arange(bodies, dtype=jnp.int32), (), (empty, empty))
    for found, promised in zip(met, meetings(sweep, bodies), strict=True):
        np.testing.assert_array_equal(found, promised)
    pairs: list[tuple[int, int]] = []
    for one_round in np.stack(met, axis=1):
        boxes = one_round.ravel().tolist()
        assert len(set(boxes)) == len(boxes)  # disjoint: nobody is in two pairs of a round
        pairs += zip(*np.sort(one_round.reshape(2, -1), axis=0).tolist(), strict=True)
    return seats, pairs


@pytest.mark.parametrize("bodies", [2, 4, 16])
def test_all_pairs_meet_once_and_return_to_their_seats(bodies: int) -> None:
    seats, pairs = notes(all_pairs(bodies), bodies)
    np.testing.assert_array_equal(seats, np.arange(bodies))
    assert sorted(pairs) == list(itertools.combinations(range(bodies), 2))


@pytest.mark.parametrize("bodies", [32, 64])
def test_near_pairs_meet_once_and_return_to_their_places(bodies: int) -> None:
    seats, pairs = notes(near_pairs(bodies), bodies)
    np.testing.assert_array_equal(seats, np.arange(bodies))
    assert len(set(pairs)) == len(pairs)
    neighbours = {(i, j) for i, j in itertools.combinations(range(bodies), 2) if j - i <= BLOCK}
    assert neighbours <= set(pairs)


def falls(env: BoxJump, state: Any, steps: int) -> np.ndarray:
    """Largest distance that any box came down in `steps` without actions."""
    step = eqx.filter_jit(env.step)
    start = np.asarray(state.bodies.y)
    for _ in range(steps):
        state, _ = step(jax.random.key(0), state, jnp.zeros(env.num_agents, jnp.int32))
    return start - np.asarray(state.bodies.y)


@pytest.mark.parametrize("tower", [6, 14], ids=["near pairs", "too many for near pairs"])
def test_towers_among_many_boxes_stand(tower: int) -> None:
    boxes = 33
    env = BoxJump(num_boxes=boxes, fixed_rotation=True)
    assert boxes >= nearby_pairs.LEAST_BOXES
    heights = np.full(boxes, REST)
    heights[:tower] = REST + STACK * np.arange(tower)
    x = 1.0 + 1.5 * np.arange(boxes)
    x[:tower] = 2.0 + 0.1 * (np.arange(tower) % 3)
    # Boxes of a tower that are mixed up in the row by x still carry each other.
    assert np.abs(falls(env, place(env, x, heights), 80)).max() < 0.1


@pytest.mark.parametrize("fixed_rotation", [pytest.param(False, marks=pytest.mark.slow), True])
def test_near_pairs_move_boxes_as_all_pairs_do(
    fixed_rotation: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the order in which pairs are solved differs, so a short run ends almost equally."""

    def run() -> np.ndarray:
        env = BoxJump("table1", num_boxes=32, fixed_rotation=fixed_rotation)
        state, _ = env.reset(jax.random.key(0))
        step = jax.jit(env.step)
        for key in jax.random.split(jax.random.key(1), 40):
            actions = jax.random.randint(key, (32,), 0, 4, dtype=jnp.int32)
            state, _ = step(key, state, actions)
        return np.array([state.bodies.x, state.bodies.y])

    by_near = run()
    monkeypatch.setattr(nearby_pairs, "LEAST_BOXES", 1000)
    assert isinstance(physics.no_memory(BoxJump(num_boxes=32).parameters), physics.Impulses)
    difference = np.abs(by_near - run())
    assert np.median(difference) < 0.001
    assert difference.max() < 0.1
