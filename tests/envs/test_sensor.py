import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from play import assert_mean, policy_returns, random_returns

from pairvdn import envs
from pairvdn.envs.sensor import SCANS, SensorState, move_targets

SENSORS = [(row, column) for row in (0, 2, 4) for column in (0, 2, 4, 6, 8)]
FREE = {cell for cell in np.ndindex(5, 9) if cell not in SENSORS}
NOTHING = 8


def state_of(targets):
    return SensorState(
        jnp.asarray(targets, jnp.int32), jnp.asarray(SENSORS, jnp.int32), jnp.int32(0)
    )


def test_rewards_and_observations_are_those_of_a_plain_count():
    env, generator = envs.make("sensor"), np.random.default_rng(0)
    step, cells = jax.jit(env.step), sorted(FREE)
    paid = collections.Counter()
    for seed in range(80):
        targets = [cells[i] for i in generator.choice(len(cells), 3, replace=False)]
        actions = generator.integers(0, 9, 15)
        hits, costs = collections.Counter(), 0
        for (row, column), action in zip(SENSORS, actions, strict=True):
            if action == NOTHING:
                continue
            cell = (row + int(SCANS[action, 0]), column + int(SCANS[action, 1]))
            if 0 <= cell[0] < 5 and 0 <= cell[1] < 9:  # masked otherwise
                costs += 1
                hits[cell] += 1
        detected = sum(hits[target] >= 2 for target in targets)
        paid[detected] += 1
        after, told = step(jax.random.key(seed), state_of(targets), jnp.asarray(actions, jnp.int32))
        assert float(told.reward) == 3 * detected - costs
        now = {tuple(map(int, target)) for target in after.targets}
        assert len(now) == 3
        assert now <= FREE
        for sensor, (row, column) in enumerate(SENSORS):
            window = [(row + i, column + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
            seen = [
                (1 if cell in now else 0) if 0 <= cell[0] < 5 and 0 <= cell[1] < 9 else -1
                for cell in window
            ]
            assert told.observation[sensor].tolist() == [*seen, row, column]
    assert paid[0] > 0
    assert paid[1] > 0


def test_targets_start_everywhere_and_alone():
    keys = jax.random.split(jax.random.key(0), 2000)
    starts = np.asarray(jax.jit(jax.vmap(envs.make("sensor").reset))(keys)[0].targets)
    seen = collections.Counter(tuple(cell) for start in starts for cell in start.tolist())
    assert set(seen) == FREE
    assert min(seen.values()) > 0.7 * 6000 / 30
    assert all(len({tuple(cell) for cell in start.tolist()}) == 3 for start in starts)


def test_a_target_moves_as_if_drawn_again_until_free():
    targets = np.array([(0, 1), (1, 1), (2, 7)])
    others = {(1, 1), (2, 7)}  # the first target moves first, so these are where they were
    chances = collections.Counter()
    for row in range(-2, 3):
        for column in range(-2, 3):
            cell = (min(max(row, 0), 4), min(max(1 + column, 0), 8))
            if cell in FREE - others - {(0, 1)}:
                chances[cell] += 1
    keys = jax.random.split(jax.random.key(1), 20_000)
    moved = jax.jit(jax.vmap(move_targets, (0, None)))(keys, jnp.asarray(targets, jnp.int32))
    seen = collections.Counter(map(tuple, np.asarray(moved[:, 0]).tolist()))
    assert set(seen) == set(chances)
    for cell, weight in chances.items():
        chance = weight / chances.total()
        error = np.sqrt(chance * (1 - chance) / 20_000)
        assert abs(seen[cell] / 20_000 - chance) < 5 * error, cell


def assign(key, state, time_step):
    """Each target in turn, those with fewest sensors first, gets two that are not busy yet."""
    sensors = jnp.asarray(SENSORS, jnp.int32)
    offsets = state.targets[:, None] - sensors[None]
    near = (jnp.abs(offsets) <= 1).all(axis=-1)

    def send(actions, target):
        free = near[target] & (actions == NOTHING)
        chosen = free & (jnp.cumsum(free) <= 2) & (free.sum() >= 2)
        place = (offsets[target, :, 0] + 1) * 3 + offsets[target, :, 1] + 1
        return jnp.where(chosen, jnp.where(place > 4, place - 1, place), actions), None

    order = jnp.argsort(near.sum(axis=1))
    return jax.lax.scan(send, jnp.full(15, NOTHING, jnp.int32), order)[0]


def test_known_returns():
    env = envs.make("sensor")
    assert_mean(random_returns(env, 2048), -119, its_error=0.25)
    assert (policy_returns(env, lambda *_: jnp.full(15, NOTHING, jnp.int32), 2) == 0).all()
    informed = policy_returns(env, assign, 2048)
    assert_mean(informed, 26.8, its_error=0.05)
    assert informed.max() == 30


def test_sensors_stand_in_five_columns_of_three():
    env = envs.make("sensor")
    _, told = jax.jit(env.reset)(jax.random.key(0))
    x, y = np.asarray(env.positions(told.observation, told.state)).T
    assert sorted(collections.Counter(x.tolist()).values()) == [3] * 5
    assert y[0] > y[-1]  # they are numbered from the top


def test_scans_outside_the_map_are_masked():
    _, told = envs.make("sensor").reset(jax.random.key(0))
    corner, middle = told.mask[0], told.mask[7]  # at (0, 0) and (2, 4)
    assert np.flatnonzero(corner).tolist() == [4, 6, 7, NOTHING]
    assert middle.all()


def test_a_wrong_argument_is_explained():
    with pytest.raises(ValueError, match="max_steps must be at least 1, not 0"):
        envs.make("sensor", max_steps=0)
