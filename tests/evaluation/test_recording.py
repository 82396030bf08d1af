"""Recordings hold the episodes that evaluation plays, with what led to them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pairvdn import values
from pairvdn.acting.policy import tables
from pairvdn.envs import make
from pairvdn.evaluation import Recording, play_greedy, play_random, record_greedy, record_random
from pairvdn.values import Inputs

HOLD, EPISODES, AGENTS = 3, 2, 2


@pytest.fixture(scope="module")
def env():
    return make("gather", num_agents=AGENTS, max_steps=20)


def value_for(env, method: str, **arguments):
    return values.maker(method, env.spec, hidden_sizes=(8,), **arguments)(key=jax.random.key(1))


@pytest.fixture(scope="module")
def nearest(env):
    return value_for(env, "pairvdn-nearest", utilities=True)


@pytest.fixture(scope="module")
def recordings(env, nearest) -> list[Recording]:
    return record_greedy(env, nearest, episodes=EPISODES, seed=5, action_repeat=HOLD)


def test_the_episodes_are_those_of_an_evaluation(env, nearest, recordings) -> None:
    played = play_greedy(env, nearest, episodes=4, seed=5, action_repeat=HOLD)
    assert [one.returns[-1] for one in recordings] == played.returns[:EPISODES].tolist()


def test_random_episodes_stop_where_they_end(env) -> None:
    chance = play_random(env, episodes=8, seed=5)
    recorded = record_random(env, episodes=8, seed=5)
    assert [one.returns[-1] for one in recorded] == chance.returns.tolist()
    assert all(one.explanations is None and one.explanation(0) is None for one in recorded)
    assert len({one.length for one in recorded}) > 1
    for one in recorded:
        assert (one.frames.reward[1:-1] == 0).all()  # only the end is paid


def test_frames_begin_at_the_reset(recordings) -> None:
    for one in recordings:
        assert one.frames.observation.shape == (one.length + 1, AGENTS, 4)
        assert one.frames.reward[0] == 0
        assert len(one.explanations.value) == -(-one.length // HOLD)
        assert one.scene(one.length).circles.centre.shape == (AGENTS, 2)


def test_a_thought_is_what_the_value_holds_of_the_frame(env, nearest, recordings) -> None:
    one = recordings[0]
    for step in range(one.length):
        explanation = one.explanation(step)
        i, j = explanation.edges.T
        actions = one.actions[step]
        contributions = explanation.payoffs[np.arange(AGENTS), actions[i], actions[j]]
        utilities = explanation.utilities[np.arange(AGENTS), actions]
        assert contributions.sum() + utilities.sum() == pytest.approx(
            explanation.value[0], abs=1e-5
        )
        seen = one.frames.observation[step - step % HOLD]
        again = nearest.heads.utilities(Inputs(jnp.asarray(seen), jnp.zeros(0)))
        assert np.allclose(explanation.utilities, again, atol=1e-5)


def test_held_actions_have_one_thought(recordings) -> None:
    one = recordings[0]
    for step in range(one.length):
        assert np.array_equal(one.actions[step], one.actions[step - step % HOLD])


@pytest.mark.parametrize("method", ["iql", "qmix"])
def test_methods_of_single_agents_show_their_utilities(method: str) -> None:
    env = make("climbing")
    (one,) = record_greedy(env, value_for(env, method), seed=0)
    explanation = one.explanation(0)
    assert one.actions[0].tolist() == explanation.utilities.argmax(axis=1).tolist()
    assert explanation.payoffs is None
    assert explanation.additive is None


def test_a_table_of_joint_actions_shows_its_value() -> None:
    env = make("climbing")
    value = value_for(env, "dqn")
    (one,) = record_greedy(env, value, seed=0)
    explanation = one.explanation(0)
    assert explanation.utilities is None
    held = tables(env, value, jnp.ones((2, 1)), jnp.ones(1))
    assert explanation.value.tolist() == pytest.approx([float(held.max())])
    assert one.length == 1
    assert one.frames.measures == {}
