"""`table1` beside the authors' rules on real Box2D: observations and rewards, step by step."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from authors_box_jump import AuthorsBoxJump
from box2d_world import start_like
from box_jump_scenes import place
from gate import first

from pairvdn.envs.box_jump.env import BoxJump
from pairvdn.envs.box_jump.types import BoxJumpState

STEPS = 30
NOTHING, LEFT, RIGHT, JUMP = 0, 1, 2, 3
BEST, JUMP_FLAG = 11, 10
# Both engines agree up to rounding, but a collision may come a step earlier, and with rotation it
# turns boxes a little differently.
TOLERANCE = np.array([5e-3, 5e-3, 0.02, 0.02, 0.03, 0.5, 5e-3, 5e-3, 5e-3, 5e-3, 1, 1e-4])


@eqx.filter_jit
def reset(env: BoxJump, seed: int) -> Any:
    return env.reset(jax.random.key(seed))


@eqx.filter_jit
def step(env: BoxJump, state: BoxJumpState, actions: jax.Array) -> Any:
    return env.step(jax.random.key(0), state, actions)


def both(env: BoxJump, state: BoxJumpState, actions: Any) -> tuple[np.ndarray, ...]:
    """Observations [t, n, 12] and rewards [t] of ours and of the authors' environment."""
    authors = AuthorsBoxJump(start_like(state, env.parameters))
    ours, theirs = [], []
    for action in np.asarray(actions, np.int32):
        state, timestep = step(env, state, jnp.asarray(action))
        ours.append((timestep.observation, timestep.reward))
        theirs.append(authors.step(action))
    return tuple(np.array(column) for pair in (ours, theirs) for column in zip(*pair, strict=True))


def random_actions(time: int, rng: np.random.Generator) -> Any:
    return rng.integers(0, 4, 16)


def everybody_jumps(time: int, rng: np.random.Generator) -> Any:
    return np.full(16, JUMP)


def everybody_walks(time: int, rng: np.random.Generator) -> Any:
    return np.full(16, RIGHT)


def half_walks_then_jumps(time: int, rng: np.random.Generator) -> Any:
    return np.where(np.arange(16) % 2, LEFT if time < 20 else JUMP, NOTHING)


SCRIPTS = [random_actions, half_walks_then_jumps, everybody_jumps, everybody_walks]


@pytest.mark.parametrize("script", first(2, SCRIPTS))
@pytest.mark.parametrize("fixed_rotation", [True, False])
def test_every_number_and_reward_of_the_first_steps(
    fixed_rotation: bool, script: Callable[[int, np.random.Generator], Any]
) -> None:
    env = BoxJump("table1", fixed_rotation=fixed_rotation)
    for seed in range(3):
        state, _ = reset(env, seed)
        rng = np.random.default_rng(seed)
        actions = [script(time, rng) for time in range(STEPS)]
        observed, rewards, expected, expected_rewards = both(env, state, actions)
        assert observed.shape == (STEPS, 16, 12)
        difference = np.abs(observed - expected)
        assert (difference <= TOLERANCE).all(axis=(0, 1)).tolist() == [True] * 12
        # A collision may lift one box just above the speed limit in one engine only.
        assert difference[..., JUMP_FLAG].sum() <= 1
        np.testing.assert_allclose(rewards, expected_rewards, atol=1e-4)


def test_the_flag_is_set_in_some_step_and_one_step_after_the_rule_allows_the_jump() -> None:
    env = BoxJump("table1", fixed_rotation=True)
    exact = BoxJump("table1", fixed_rotation=True, jump_flag_lags=False)
    state, first = reset(env, 0)
    late, early = [first.observation[:, JUMP_FLAG]], [first.observation[:, JUMP_FLAG]]
    for _ in range(40):
        _, timestep = step(exact, state, jnp.zeros(16, jnp.int32))
        early.append(timestep.observation[:, JUMP_FLAG])
        state, timestep = step(env, state, jnp.zeros(16, jnp.int32))
        late.append(timestep.observation[:, JUMP_FLAG])
    assert np.array(early)[:-1].any()
    np.testing.assert_array_equal(np.array(late)[1:], np.array(early)[:-1])


@pytest.mark.parametrize("variant", ["paper", "table1", "v1"])
def test_no_box_observes_that_it_could_jump_at_the_start(variant: Any) -> None:
    _, timestep = reset(BoxJump(variant), 0)
    assert not np.asarray(timestep.observation[:, JUMP_FLAG]).any()


def test_v1_observes_the_flag_of_the_last_physics_step() -> None:
    """Two steps of six physics steps: ten are calm before the eleventh, so the twelfth sees it."""
    env = BoxJump("v1", num_boxes=2, start_noise=0.0)
    state, _ = reset(env, 0)
    idle = jnp.zeros(2, jnp.int32)
    state, timestep = step(env, state, idle)
    assert timestep.observation[:, JUMP_FLAG].tolist() == [0, 0]
    state, timestep = step(env, state, idle)
    assert timestep.observation[:, JUMP_FLAG].tolist() == [1, 1]
    # With a look-back of 12 the rule allows the jump now, but did not in the last physics step.
    env = BoxJump("v1", num_boxes=2, start_noise=0.0, look_back=12)
    state, _ = reset(env, 0)
    for _ in range(2):
        state, timestep = step(env, state, idle)
    assert timestep.observation[:, JUMP_FLAG].tolist() == [0, 0]
    jumped, _ = step(env, state, jnp.array([JUMP, NOTHING]))
    assert float(jumped.bodies.y[0] - state.bodies.y[0]) > 0.5


def test_the_first_two_observations_hide_the_kick_and_the_best_height() -> None:
    env = BoxJump("table1")
    state, first = reset(env, 3)
    authors = AuthorsBoxJump(start_like(state, env.parameters))
    np.testing.assert_allclose(first.observation, authors.first_observation(), atol=1e-6)
    assert np.abs(np.asarray(state.bodies.velocity.x)).max() > 1
    assert not np.asarray(first.observation[:, 2]).any()
    idle = jnp.zeros(16, jnp.int32)
    shown, rewards = [float(first.observation[0, BEST])], []
    for _ in range(3):
        state, timestep = step(env, state, idle)
        shown.append(float(timestep.observation[0, BEST]))
        rewards.append(float(timestep.reward))
    assert shown == pytest.approx([-1, -1, 1 / 30, 1 / 30])
    assert rewards == pytest.approx([1 + 1 / 30, 0, 0])
    _, timestep = step(env, reset(env, 3)[0], idle)
    assert np.abs(np.asarray(timestep.observation[:, 2])).max() > 1 / 40


@pytest.mark.parametrize("fixed_rotation", [True, False])
def test_fallen_boxes_are_seen_and_see_how_far_below_the_floor_they_are(
    fixed_rotation: bool,
) -> None:
    env = BoxJump("table1", num_boxes=4, fixed_rotation=fixed_rotation)
    state = place(env, [27.0, 30.9, 31.0, 32.5], [1.0, 1.0, 2.5, 1.0])
    observed, _, expected, _ = both(env, state, np.zeros((STEPS, 4), int))
    np.testing.assert_allclose(observed[..., :BEST], expected[..., :BEST], atol=5e-3)
    assert observed[-1, 1, 9] < -0.05  # true distance to the floor
    assert 0 < observed[-1, 1, 7] < 1  # its fallen neighbour
    hidden = BoxJump("table1", num_boxes=4, fixed_rotation=fixed_rotation, fallen_seen=False)
    for _ in range(STEPS):
        state, timestep = step(hidden, state, jnp.zeros(4, jnp.int32))
    np.testing.assert_array_equal(timestep.observation[1, 6:10], [1, 1, 1, 0])


def test_the_return_is_the_papers_score() -> None:
    env = BoxJump("table1", max_steps=80)
    state, _ = reset(env, 1)
    total, rng = 0.0, np.random.default_rng(1)
    for _ in range(env.max_steps):
        state, timestep = step(env, state, jnp.asarray(rng.integers(0, 4, 16), jnp.int32))
        total += float(timestep.reward)
    measures = env.measures(state)
    assert total == pytest.approx(float(measures["paper_score"]), abs=1e-5)
    assert total == pytest.approx(1 + float(measures["best_height"]) / 15, abs=1e-5)
