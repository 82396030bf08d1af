"""Where boxes are at the start, with and without a tower."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn.envs.box_jump.env import BoxJump

EPISODES = 256


def starts(env):
    return jax.vmap(env.reset)(jax.random.split(jax.random.key(0), EPISODES))[0]


@pytest.fixture(scope="module")
def towers():
    return starts(BoxJump("table1", num_boxes=6, start_tower=4))


def storeys(state):
    """How many boxes are above the first storey of each start, plus the one below them."""
    higher = np.asarray(state.bodies.y) > 1.25
    return np.where(higher.any(axis=1), higher.sum(axis=1) + 1, 0)


def test_towers_of_every_height_occur(towers):
    heights, counts = np.unique(storeys(towers), return_counts=True)
    np.testing.assert_array_equal(heights, [0, 2, 3, 4])  # one box alone is no tower
    assert (counts > EPISODES / 5 / 2).all()


def test_no_two_boxes_overlap(towers):
    x, y = np.asarray(towers.bodies.x), np.asarray(towers.bodies.y)
    apart = np.maximum(
        np.abs(x[:, :, None] - x[:, None]), np.abs(y[:, :, None] - y[:, None])
    ) + 9.0 * np.eye(6)
    assert apart.min() > 0.99


def test_a_tower_stands_straight_and_at_rest_and_is_no_gain(towers):
    env = BoxJump("table1", num_boxes=6, start_tower=4)
    idle = jnp.zeros((EPISODES, 6), jnp.int32)
    keys = jax.random.split(jax.random.key(1), EPISODES)
    after, timestep = jax.vmap(env.step)(keys, towers, idle)
    tall = storeys(towers) >= 2
    np.testing.assert_allclose(np.asarray(towers.best)[tall], storeys(towers)[tall] - 1.0)
    assert np.abs(np.asarray(timestep.reward)[tall]).max() < 0.01
    assert np.abs(np.asarray(after.bodies.y - towers.bodies.y)).max() < 0.05


def test_without_a_tower_the_start_is_that_of_the_paper():
    plain = starts(BoxJump("table1", num_boxes=6))
    np.testing.assert_array_equal(plain.bodies.y, np.float32(1.0))
    np.testing.assert_array_equal(plain.counted, np.float32(-15.0))
    np.testing.assert_array_equal(plain.best, np.float32(0.5))


def test_a_tower_of_more_boxes_than_there_are():
    with pytest.raises(ValueError, match="start_tower must be at most num_boxes, 6, not 7"):
        BoxJump("table1", num_boxes=6, start_tower=7)
