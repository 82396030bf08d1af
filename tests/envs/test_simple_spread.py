import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mpe2_spread import SETTINGS, Reference
from play import assert_mean, policy_returns, random_returns
from unchecked_types import unchecked_types

from pairvdn import envs
from pairvdn.envs.simple_spread import SimpleSpreadState


@pytest.mark.parametrize(("num_agents", "local_ratio"), SETTINGS)
def test_every_step_from_the_state_of_mpe2_is_the_same(num_agents, local_ratio):
    env = envs.make("simple-spread", num_agents=num_agents, local_ratio=local_ratio)
    step, close = jax.jit(env.step), {"rtol": 1e-5, "atol": 1e-5}
    generator, touched = np.random.default_rng(num_agents), 0
    for seed in range(4):
        reference = Reference(num_agents, local_ratio, seed)
        reference.crowd(1.0 if seed % 2 else 0.5)
        while reference.env.agents:
            actions = generator.integers(0, 5, num_agents)
            before = reference.state(0)
            observed, rewards, _ = reference.step(actions)
            after, told = step(jax.random.key(0), before, jnp.asarray(actions, jnp.int32))
            expected = reference.state(1)
            np.testing.assert_allclose(after.position, expected.position, **close)
            np.testing.assert_allclose(after.velocity, expected.velocity, **close)
            np.testing.assert_allclose(told.observation, observed, **close)
            np.testing.assert_allclose(told.state, reference.env.state(), **close)
            np.testing.assert_allclose(told.agent_rewards, rewards, **close)
            np.testing.assert_allclose(told.reward, rewards.sum(), **close)
            freely = (
                0.75 * before.velocity
                + 0.5 * jnp.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]], jnp.float32)[actions]
            )
            touched += int((jnp.abs(after.velocity - freely) > 1e-3).any())
    assert touched >= 10


def test_whole_episodes_are_the_same_in_64_bits():
    # In a process of its own, since the precision of JAX is fixed when it starts.
    script = Path(__file__).with_name("mpe2_spread.py")
    found = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "JAX_ENABLE_X64": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    episodes = json.loads(found.stdout)
    assert {tuple(episode["setting"]) for episode in episodes} == set(SETTINGS)
    for episode in episodes:
        assert episode["worst"] < 1e-5, episode["setting"]
        assert episode["truncated"] == [[False, False]] * 24 + [[True, True]]
    assert sum(episode["collisions"] for episode in episodes) > 100


def test_a_random_policy_returns_what_is_known():
    assert_mean(random_returns(envs.make("simple-spread"), 2048), -78.8, its_error=0.4)


def test_doing_nothing_returns_what_is_known():
    def idle(key, state, time_step):
        return jnp.zeros(3, jnp.int32)

    assert_mean(policy_returns(envs.make("simple-spread"), idle, 2048), -73.5, its_error=0.4)


def test_the_team_gets_the_sum_or_the_mean():
    rewards = {}
    for team_reward in ("sum", "mean"):
        env = envs.make("simple-spread", num_agents=5, team_reward=team_reward)
        state, _ = env.reset(jax.random.key(0))
        _, told = jax.jit(env.step)(jax.random.key(0), state, jnp.zeros(5, jnp.int32))
        rewards[team_reward] = float(told.reward)
        assert env.team_reward == team_reward
    assert rewards["sum"] == pytest.approx(5 * rewards["mean"])


def test_two_agents_in_one_place_do_not_break_the_world():
    env = envs.make("simple-spread")
    state, _ = env.reset(jax.random.key(0))
    state = type(state)(jnp.zeros((3, 2)), state.velocity, state.landmarks, state.steps)
    after, told = jax.jit(env.step)(jax.random.key(0), state, jnp.zeros(3, jnp.int32))
    assert np.isfinite(after.velocity).all()
    assert np.isfinite(told.observation).all()


def test_measures_count_what_is_covered_and_what_overlaps():
    """Agent 0 covers landmark 0; agents 1 and 2 overlap, away from any landmark."""
    state = SimpleSpreadState(
        position=jnp.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.2]]),
        velocity=jnp.zeros((3, 2)),
        landmarks=jnp.array([[0.1, 0.0], [1.0, -1.0], [3.0, 1.0]]),
        steps=jnp.int32(3),
    )
    found = envs.make("simple-spread").measures(state)
    assert float(found["covered"]) == 1
    assert float(found["overlaps"]) == 1
    assert float(found["distance"]) == pytest.approx((0.1 + 2**0.5 + 2) / 3)


def test_positions_are_those_of_the_state():
    env = envs.make("simple-spread", num_agents=4)
    state, told = env.reset(jax.random.key(1))
    np.testing.assert_array_equal(env.positions(told.observation, told.state), state.position)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_agents": 1}, "num_agents must be at least 2, not 1"),
        ({"local_ratio": 1.5}, "local_ratio must be a finite number from 0 to 1, not 1.5"),
        ({"local_ratio": float("nan")}, "local_ratio must be a finite number from 0 to 1"),
        ({"max_steps": 0}, "max_steps must be at least 1"),
        ({"team_reward": "max"}, "team_reward must be one of sum, mean, not 'max'"),
    ],
)
def test_a_wrong_argument_is_explained(arguments, message):
    with pytest.raises(ValueError, match=message), unchecked_types():
        envs.make("simple-spread", **arguments)
