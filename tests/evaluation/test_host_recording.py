"""Recordings on the host: the episodes of evaluations, with pictures if they are rendered."""

import jax
import numpy as np
import pytest
from small_zoo import Drawn, Guess, Ladder

from pairvdn import values
from pairvdn.envs import HostEnvironment, from_pettingzoo
from pairvdn.evaluation import play_greedy, record_on_host
from pairvdn.evaluation.host_recording import TooManyFramesError
from pairvdn.values import Value


def made(make_env) -> tuple[HostEnvironment, Value]:
    env = from_pettingzoo(make_env)
    value = values.make("pairvdn", env.spec, key=jax.random.key(0), hidden_sizes=(8,))
    return env, value


def test_the_episodes_are_those_of_an_evaluation() -> None:
    env, value = made(Guess)
    played = play_greedy(env, value, episodes=20, seed=3)
    recordings = record_on_host(env, value, episodes=20, seed=3)
    assert [one.returns[-1] for one in recordings] == played.returns.tolist()
    assert 0 < np.mean([one.returns[-1] for one in recordings]) < 1  # both ends happen


@pytest.mark.parametrize("repeat", [1, 3])
def test_every_step_is_kept(repeat: int) -> None:
    env, value = made(lambda: Ladder(length=5))
    (one,) = record_on_host(env, value, episodes=1, seed=0, action_repeat=repeat)
    assert one.length == 5
    assert one.frames.reward.tolist() == [0, 11, 22, 33, 44, 55]
    assert one.frames.observation[:, 0, 0].tolist() == [0, 1, 2, 3, 4, 5]
    assert len(one.explanations.value) == -(-5 // repeat)
    for step in range(5):
        explanation = one.explanation(step)
        table = explanation.payoffs[0]
        assert table[*one.actions[step][explanation.edges[0]]] <= table.max()
        assert np.array_equal(one.actions[step], one.actions[step - step % repeat])


def test_pictures_are_what_the_environment_renders() -> None:
    env, value = made(lambda: Drawn(render_mode="rgb_array"))
    (one,) = record_on_host(env, value, episodes=1, seed=0)
    assert one.pictures is not None
    assert one.pictures.shape == (5, 40, 60, 3)
    assert one.pictures[:, 0, 59, 0].tolist() == [0, 50, 100, 150, 200]
    assert one.scene(2).bounds.tolist() == [0, 0, 60, 40]


def test_without_rendering_agents_are_dots() -> None:
    env, value = made(Drawn)
    (one,) = record_on_host(env, value, episodes=1, seed=0)
    assert one.pictures is None
    assert one.scene(4).circles.agent.tolist() == [0, 1]


def test_episodes_that_are_too_long_are_refused() -> None:
    env, value = made(lambda: Ladder(length=5))
    assert len(record_on_host(env, value, episodes=2, seed=0, most_frames=12)) == 2
    with pytest.raises(TooManyFramesError, match="choose fewer with --episodes, or shorter ones"):
        record_on_host(env, value, episodes=2, seed=0, most_frames=11)
