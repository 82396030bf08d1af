"""What boxes may do, what they see and what they get for it."""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from box_jump_scenes import REST, STACK, place

from pairvdn.envs.box_jump.env import BoxJump
from pairvdn.envs.box_jump.observe import can_jump
from pairvdn.envs.box_jump.reward import REWARDS, agent_rewards, spread, stacking
from pairvdn.envs.box_jump.types import BoxJumpState
from pairvdn.types import TimeStep

NOTHING, LEFT, RIGHT, JUMP = 0, 1, 2, 3
KEY = jax.random.key(0)


@eqx.filter_jit
def step(env: BoxJump, state: BoxJumpState, actions: jax.Array) -> tuple[BoxJumpState, TimeStep]:
    return env.step(KEY, state, actions)


def act(env: BoxJump, state: BoxJumpState, *actions: int) -> tuple[BoxJumpState, TimeStep]:
    return step(env, state, jnp.array(actions, jnp.int32))


def wait(env: BoxJump, state: BoxJumpState, steps: int) -> tuple[BoxJumpState, list[TimeStep]]:
    time_steps = []
    for _ in range(steps):
        state, time_step = step(env, state, jnp.zeros(env.num_agents, jnp.int32))
        time_steps.append(time_step)
    return state, time_steps


@pytest.mark.parametrize(("variant", "look_back"), [("paper", 15), ("table1", 10)])
def test_a_box_can_jump_once_it_stood_for_the_look_back(variant: str, look_back: int) -> None:
    env = BoxJump(variant, num_boxes=2, fixed_rotation=True)
    state = place(env, [10.0, 20.0], [REST, REST])
    for elapsed in range(look_back + 1):
        jumped, _ = act(env, state, JUMP, NOTHING)
        rises = float(jumped.bodies.velocity.y[0]) > 5
        assert rises == (elapsed >= look_back)
        state, time_step = act(env, state, NOTHING, NOTHING)
        assert bool(time_step.observation[0, 10]) == (elapsed >= look_back)  # a step late
    assert float(jumped.bodies.velocity.y[0]) == pytest.approx(6.0)  # 6.25 less gravity's 0.25
    _, time_step = act(env, jumped, JUMP, NOTHING)
    assert time_step.observation[0, 10] == 0  # not in the air


def test_walking_stops_pushing_at_the_speed_limit() -> None:
    env = BoxJump("table1", num_boxes=2, fixed_rotation=True, floor_friction=0.0)
    state = place(env, [10.0, 20.0], [REST, REST], vx=[1.95, -2.05])
    state, _ = act(env, state, RIGHT, LEFT)
    np.testing.assert_allclose(state.bodies.velocity.x, [2.2, -2.05], atol=1e-5)
    state, _ = act(env, state, RIGHT, RIGHT)
    np.testing.assert_allclose(state.bodies.velocity.x, [2.2, -1.8], atol=1e-5)


def test_observation_of_paper() -> None:
    env = BoxJump(num_boxes=3, fixed_rotation=True, agent_ids=True)
    state = place(env, [10.0, 10.4, 20.0], [REST, REST + STACK, REST])
    state, (*_, time_step) = wait(env, state, 20)
    observed = np.asarray(time_step.observation)
    assert observed.shape == (3, 13 + 3)
    np.testing.assert_allclose(observed[:, 0], [10 / 15 - 1, 10.4 / 15 - 1, 20 / 15 - 1], atol=1e-3)
    np.testing.assert_allclose(observed[:, 1], [0.015, 1.03, 0.015], atol=2e-3)
    np.testing.assert_allclose(observed[:, 2:6], 0, atol=1e-3)
    np.testing.assert_allclose(observed[:, 6], [1, 1, 1 / 3], atol=1e-3)
    np.testing.assert_allclose(observed[:, 7], [1 / 3, 1, 1], atol=1e-3)
    np.testing.assert_allclose(observed[:, 8], [STACK / 20, 1, 1], atol=1e-3)
    np.testing.assert_allclose(observed[:, 9], [REST / 20, STACK / 20, REST / 20], atol=1e-3)
    np.testing.assert_array_equal(observed[:, 10], 1)
    np.testing.assert_allclose(observed[:, 11], 1.03, atol=2e-3)
    np.testing.assert_allclose(observed[:, 12], 20 / 400)
    np.testing.assert_array_equal(observed[:, 13:], np.eye(3))
    expected = np.concatenate([observed[:, :11].ravel(), observed[0, 11:13]])
    np.testing.assert_array_equal(time_step.state, expected)


def test_observation_of_table1() -> None:
    env = BoxJump("table1", num_boxes=2, fixed_rotation=True)
    state = place(env, [10.0, 20.0], [REST, 5.0], vx=[2.0, 0.0])
    _, first = jax.jit(env.reset)(KEY)
    assert np.asarray(first.observation[:, 11]).tolist() == [-1, -1]
    state, time_step = act(env, state, NOTHING, NOTHING)
    observed = np.asarray(time_step.observation)
    np.testing.assert_allclose(observed[:, 0], [10.05 / 30, 20 / 30], atol=1e-3)
    np.testing.assert_allclose(observed[:, 1], [(15 - REST) / 20, 10 / 20], atol=1e-3)
    assert observed[0, 2] == pytest.approx(1.9 / 40, abs=1e-3)
    assert observed[1, 3] == pytest.approx(0.25 / 40)  # downwards is positive
    np.testing.assert_array_equal(observed[:, 11], -1)
    state, (*_, time_step) = wait(env, state, 2)  # the best height is observed two steps late
    np.testing.assert_allclose(time_step.observation[:, 11], (5.0 - 0.5) / 15, atol=1e-3)


def test_v1_observes_the_number_of_boxes() -> None:
    _, time_step = jax.jit(BoxJump("v1", num_boxes=3).reset)(KEY)
    np.testing.assert_array_equal(time_step.observation[:, 11], 3)


@pytest.mark.parametrize("turns", [0.2, 0.5, -0.5, 0.7, 1.0, 2.3, -3.4])
def test_the_angle_is_observed_in_quarter_turns(turns: float) -> None:
    env = BoxJump(num_boxes=2, gravity=0.0)
    state = place(env, [10.0, 20.0], [5.0, 5.0], angle=turns * np.pi / 2)
    _, time_step = act(env, state, NOTHING, NOTHING)
    angle = float(time_step.observation[0, 4])
    assert -0.5 < angle <= 0.5 or abs(abs(angle) - 0.5) < 1e-5
    assert (angle - turns + 0.5) % 1 == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("variant", ["paper", "table1"])
def test_positions_are_those_of_the_boxes(variant: str) -> None:
    env = BoxJump(variant, num_boxes=2, fixed_rotation=True)
    state = place(env, [10.0, 21.0], [REST, 3.0])
    state, time_step = act(env, state, RIGHT, NOTHING)
    places = env.positions(time_step.observation, time_step.state)
    np.testing.assert_allclose(places[:, 0], state.bodies.x, atol=1e-4)
    np.testing.assert_allclose(places[:, 1], state.bodies.y, atol=1e-4)


def test_a_fallen_box_costs_is_seen_by_nobody_and_ends_nothing() -> None:
    env = BoxJump(num_boxes=2, fixed_rotation=True)
    state = place(env, [15.0, 31.0], [REST, 0.2])
    state, time_steps = wait(env, state, 60)
    assert np.asarray(state.fallen).tolist() == [False, True]
    last = time_steps[-1]
    np.testing.assert_allclose(last.agent_rewards, [0, -20 / 400], atol=1e-6)
    assert last.reward == pytest.approx(-20 / 400)
    assert not last.terminated
    assert last.observation[1, 1] == -1
    assert np.asarray(last.observation[0, 6:9]).tolist() == [1, 1, 1]
    assert last.observation[1, 10] == 0
    # The reward counts the steps since the fall, and height is still counted for the other.
    total = sum(float(time_step.reward) for time_step in time_steps)
    fallen = sum(bool(time_step.observation[1, 1] == -1) for time_step in time_steps)
    assert total == pytest.approx(0.015 - fallen * 20 / 400, abs=2e-3)


def test_a_fallen_box_falls_ever_on_through_everyone() -> None:
    env = BoxJump(num_boxes=3, max_steps=1000, fixed_rotation=True)
    state = place(env, [31.0, 31.1, 10.0], [-0.1, -4.0, REST])
    state, time_steps = wait(env, state, 1000)
    assert np.asarray(state.bodies.x).tolist() == pytest.approx([31.0, 31.1, 10.0], abs=1e-3)
    assert np.asarray(state.bodies.y)[:2].max() < -1000
    assert np.isfinite(np.asarray(time_steps[-1].observation)).all()
    assert bool(time_steps[-1].truncated)


def test_in_table1_boxes_fall_only_to_the_right() -> None:
    env = BoxJump("table1", num_boxes=2, fixed_rotation=True)
    state, _ = wait(env, place(env, [-5.0, 31.0], [0.6, 0.6]), 40)
    assert np.asarray(state.fallen).tolist() == [False, True]
    assert not np.asarray(wait(env, state, 1)[1][0].reward)


def test_v1_ends_at_the_physics_seenof_a_fall() -> None:
    env = BoxJump("v1", num_boxes=2)
    state = place(env, [15.0, 31.0], [REST, 0.2])
    _, time_steps = wait(env, state, 3)
    terminated = [bool(time_step.terminated) for time_step in time_steps]
    first = terminated.index(True)
    assert float(time_steps[first].reward) == pytest.approx(-100, abs=0.1)
    assert not any(bool(time_step.truncated) for time_step in time_steps)
    after, _ = wait(env, state, first + 1)
    assert -0.5 * 0.5 * 10 * (6 / 20) < float(after.bodies.y[1]) < 0  # it did not fall on


def test_the_episode_is_truncated_at_max_steps_and_not_before() -> None:
    env = BoxJump(num_boxes=2, max_steps=5, fixed_rotation=True)
    _, time_steps = wait(env, jax.jit(env.reset)(KEY)[0], 5)
    assert [bool(time_step.truncated) for time_step in time_steps] == [False] * 4 + [True]
    assert not any(bool(time_step.terminated) for time_step in time_steps)


def test_reaching_the_target_height_ends_the_episode() -> None:
    env = BoxJump(num_boxes=2, target_height=1.5, fixed_rotation=True)
    state, _ = wait(env, place(env, [10.0, 20.0], [REST, REST]), 20)
    state, time_step = act(env, state, JUMP, NOTHING)
    ends = [time_step, *wait(env, state, 25)[1]]
    heights = [float(time_step.observation[0, 11]) for time_step in ends]
    assert [bool(time_step.terminated) for time_step in ends] == [h >= 1.5 for h in heights]
    assert max(heights) >= 1.5 > min(heights)


@pytest.mark.parametrize(("variant", "scale", "offset"), [("paper", 1, 0), ("table1", 1 / 15, 1)])
def test_the_return_of_highest_is_the_best_height(
    variant: str, scale: float, offset: float
) -> None:
    env = BoxJump(variant, num_boxes=2, fixed_rotation=True)
    state, first = wait(env, place(env, [10.0, 20.0], [REST, REST]), 20)
    state, jump = act(env, state, JUMP, NOTHING)
    state, rest = wait(env, state, 60)
    time_steps = [*first, jump, *rest]
    total = sum(float(time_step.reward) for time_step in time_steps)
    assert total == pytest.approx(offset + (1.875 + 0.015) * scale, abs=1e-3)
    for time_step in time_steps:
        share = np.asarray(time_step.agent_rewards)
        np.testing.assert_allclose(share, float(time_step.reward) / 2, atol=1e-6)


def expected_rewards(h: np.ndarray, stands: np.ndarray, steps: int) -> dict[str, float]:
    top, stable = h.max(), np.where(stands, h, 0).max()
    return {
        "height_sq": np.mean(h**2) / steps,
        "stable_sum": 50 * np.mean(np.where(stands, h, 0) ** 2) / steps,
        "dense_height": 50 * top / steps,
        "dense_height_sq": 10 * top**2 / steps,
        "dense_height_cube": 10 * top**3 / steps,
        "dense_height_stable": 50 * stable / steps,
        "dense_height_stable_sq": 10 * stable**2 / steps,
        "dense_height_stable_cube": 10 * stable**3 / steps,
    }


@pytest.fixture(scope="module")
def climbed() -> list[BoxJumpState]:
    """Two boxes stand on each other, a third one falls from above: seven states in a row."""
    env = BoxJump(num_boxes=3, look_back=4, fixed_rotation=True)
    states = [place(env, [10.0, 10.0, 20.0], [REST, REST + STACK, 9.0])]
    for _ in range(6):
        states.append(wait(env, states[-1], 1)[0])
    return states


@pytest.mark.parametrize("mode", sorted(REWARDS))
def test_rewards(mode: str, climbed: list[BoxJumpState]) -> None:
    parameters = BoxJump(num_boxes=3, look_back=4, reward=mode).parameters
    rewards = [
        float(
            jnp.sum(
                agent_rewards(*pair, can_jump(pair[1], parameters), jnp.array(False), parameters)
            )
        )
        for pair in itertools.pairwise(climbed)
    ]
    h = np.asarray(climbed[-1].bodies.y) - 0.5
    if mode == "highest":
        assert sum(rewards) == pytest.approx(8.5, abs=0.01)
    elif mode == "highest_stable":
        assert sum(rewards) == pytest.approx(h[1], abs=0.01)
    else:
        expected = expected_rewards(h, np.array([True, True, False]), 400)[mode]
        assert rewards[-1] == pytest.approx(expected, rel=1e-4)


def team_reward(env: BoxJump, before: BoxJumpState, after: BoxJumpState) -> float:
    """The reward of a step of three boxes that all could jump after it."""
    standing = jnp.ones(3, bool)
    rewards = agent_rewards(before, after, standing, jnp.array(False), env.parameters)
    return float(jnp.sum(rewards))


def test_stacking_is_paid_if_asked_for_and_taken_back() -> None:
    env = BoxJump("table1", num_boxes=3, fixed_rotation=True, stacking_reward=0.5)
    apart = place(env, [10.0, 12.0, 20.0], [REST, REST, REST])
    stacked = place(env, [10.0, 10.3, 20.0], [REST, REST + 1, REST])
    assert float(stacking(apart)) == 1.0
    assert float(stacking(stacked)) == pytest.approx(5 / 3)
    gone = eqx.tree_at(lambda s: s.fallen, stacked, jnp.array([False, True, False]))
    assert float(stacking(gone)) == pytest.approx(2 / 3)

    assert team_reward(env, apart, stacked) == pytest.approx(0.5 * 2 / 3)
    assert team_reward(env, stacked, apart) == pytest.approx(-0.5 * 2 / 3)


def test_gathering_is_paid_if_asked_for_and_taken_back() -> None:
    env = BoxJump("table1", num_boxes=3, fixed_rotation=True, gathering_reward=0.5)
    apart = place(env, [10.0, 12.0, 20.0], [REST, REST, REST])
    closer = place(env, [11.0, 12.0, 17.0], [REST, REST, REST])
    assert float(spread(apart, env.parameters)) == pytest.approx(2 * (2 + 8 + 10) / 9)
    assert float(spread(closer, env.parameters)) == pytest.approx(2 * (1 + 5 + 6) / 9)
    gone = place(env, [10.0, 12.0, 33.0], [REST, REST, -50.0])  # where it left the floor, at 30
    assert float(spread(gone, env.parameters)) == pytest.approx(2 * (2 + 18 + 20) / 9)

    assert team_reward(env, apart, closer) == pytest.approx(0.5 * 16 / 9)
    assert team_reward(env, closer, apart) == pytest.approx(-0.5 * 16 / 9)


def test_everybody_may_see_where_the_highest_box_is() -> None:
    env = BoxJump(
        "table1", num_boxes=3, fixed_rotation=True, scaling="boxes", shared_numbers=("top",)
    )
    state, (seen,) = wait(env, place(env, [9.0, 12.0, 21.0], [REST, 4.0, REST]), 1)
    np.testing.assert_allclose(seen.observation[:, -1], (12.0 - 15.0) / 4, atol=1e-3)
    assert env.observation_names[-1] == "x of the highest box"
    gone = eqx.tree_at(lambda s: s.fallen, state, jnp.array([False, True, False]))
    observed = env.step(jax.random.key(0), gone, jnp.zeros(3, jnp.int32))[1].observation
    assert float(observed[0, -1]) in (float(observed[0, 0]), float(observed[2, 0]))


def test_the_window_grows_with_boxes_that_leave_the_map_and_with_the_tower() -> None:
    env = BoxJump("table1", num_boxes=3, fixed_rotation=True)
    inside = place(env, [10.0, 12.0, 20.0], [REST, REST, REST])
    np.testing.assert_allclose(env.scene(inside).bounds, [-1, -1, 31, 10])
    outside = place(env, [-7.0, 12.0, 20.0], [REST, REST, 14.5])
    outside = eqx.tree_at(lambda s: s.best, outside, jnp.float32(14.0))
    np.testing.assert_allclose(env.scene(outside).bounds, [-8, -1, 31, 16])
    fallen = eqx.tree_at(lambda s: s.fallen, outside, jnp.array([True, False, False]))
    np.testing.assert_allclose(env.scene(fallen).bounds, [-1, -1, 31, 16])


def test_scene_shows_boxes_floor_and_best_height() -> None:
    env = BoxJump(num_boxes=3, fixed_rotation=True)
    state, _ = wait(env, place(env, [10.0, 12.0, 20.0], [REST, REST, 4.0]), 3)
    scene = env.scene(state)
    assert scene.rectangles is not None
    assert scene.lines is not None
    np.testing.assert_array_equal(scene.rectangles.agent, [0, 1, 2, -1])
    np.testing.assert_array_equal(scene.rectangles.centre[:3, 0], state.bodies.x)
    np.testing.assert_allclose(scene.rectangles.size[3], [30, 1])
    assert float(scene.lines.start[0, 1]) == pytest.approx(float(state.best) + 1)
    colours: Any = {tuple(colour) for colour in np.asarray(scene.rectangles.colour).tolist()}
    assert len(colours) == 4
    stacked = jax.vmap(env.scene)(jax.tree.map(lambda x: jnp.stack([x, x]), state))
    assert stacked.bounds.shape == (2, 4)
