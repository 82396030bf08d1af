"""Variants and arguments of Box Jump."""

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest
from unchecked_types import unchecked_types

from pairvdn import envs
from pairvdn.envs.box_jump.env import BoxJump
from pairvdn.envs.box_jump.variants import VARIANTS, Parameters


def test_make_finds_it_and_paper_is_the_default() -> None:
    env = envs.make("box-jump")
    assert isinstance(env, BoxJump)
    assert isinstance(env, envs.HasPositions)
    assert env.name == "box-jump"
    assert env.parameters == VARIANTS["paper"] == Parameters()
    assert (env.num_agents, env.num_actions, env.max_steps) == (16, 4, 400)


@pytest.mark.parametrize(
    ("variant", "observation", "state"), [("paper", 13, 178), ("table1", 12, 177), ("v1", 12, 177)]
)
def test_sizes(variant: str, observation: int, state: int) -> None:
    env = BoxJump(variant)
    assert (env.observation_size, env.state_size) == (observation, state)
    _, time_step = jax.jit(env.reset)(jax.random.key(0))
    assert time_step.observation.shape == (16, observation)
    assert time_step.state.shape == (state,)
    assert np.asarray(time_step.mask).all()


def test_an_explicit_argument_wins_over_the_preset_and_none_does_not() -> None:
    env = BoxJump("table1", look_back=7, start_kick=None, fixed_rotation=True, max_steps=1000)
    expected = dataclasses.replace(
        VARIANTS["table1"], look_back=7, fixed_rotation=True, max_steps=1000
    )
    assert env.parameters == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variant": "papper"}, "variant must be one of paper, table1, v1"),
        ({"num_boxs": 3}, "did you mean 'num_boxes'"),
        ({"num_boxes": 0}, "num_boxes must be at least 1"),
        ({"num_boxes": 2.5}, "num_boxes must be a whole number"),
        ({"num_boxes": True}, "num_boxes must be a whole number"),
        ({"fixed_rotation": 1}, "fixed_rotation must be True or False"),
        ({"max_steps": 0}, "max_steps must be at least 1"),
        ({"reward": "tallest"}, "reward must be one of highest, highest_stable"),
        ({"scaling": "v1"}, "scaling must be one of paper, table1, boxes"),
        ({"shared_numbers": ("best", "luck")}, "shared_numbers must be one of best, time"),
        ({"gravity": float("nan")}, "gravity must be a finite number"),
        ({"gravity": -1.0}, "gravity must be a finite number of at least 0"),
        ({"time_step": 0.0}, "time_step must be greater than 0"),
        ({"look_back": -1}, "look_back must be at least 0"),
        ({"floor_left": 1.0}, "floor_left must be a finite number of at most 0"),
        ({"target_height": 0.0}, "target_height must be greater than 0"),
        ({"position_iterations": -1}, "position_iterations must be at least 0"),
    ],
)
def test_a_wrong_argument_is_an_error_that_says_what_is_allowed(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message), unchecked_types():
        envs.make("box-jump", **arguments)


@pytest.mark.parametrize(("boxes", "width"), [(1, 30.0), (16, 30.0), (17, 31.5), (64, 102.0)])
def test_the_map_grows_with_the_boxes(boxes: int, width: float) -> None:
    env = BoxJump(num_boxes=boxes, start_noise=0.0)
    assert env.parameters.width == width
    state, _ = jax.jit(env.reset)(jax.random.key(0))
    x = np.asarray(state.bodies.x)
    assert x.mean() == pytest.approx(width / 2, abs=1e-4)
    np.testing.assert_allclose(np.diff(x), 1.5, atol=1e-4)


@pytest.mark.parametrize(
    ("variant", "height", "noise", "kick"),
    [("paper", 0.0, 0.5, 0.0), ("table1", 0.5, 0.0, 3.75), ("v1", 0.0, 0.5, 0.0)],
)
def test_starts(variant: str, height: float, noise: float, kick: float) -> None:
    env = BoxJump(variant)
    states, first = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), 200))
    x, vx = np.asarray(states.bodies.x), np.asarray(states.bodies.velocity.x)
    np.testing.assert_allclose(states.bodies.y, 0.5 + height)
    shift = x - (3.75 + 1.5 * np.arange(16))
    for values, most in ((shift, noise), (vx, kick)):
        assert np.abs(values).max() <= most + 1e-5
        assert np.abs(values).max() >= 0.99 * most
        assert values.std() == pytest.approx(most / np.sqrt(3), rel=0.05, abs=1e-5)
    assert not np.asarray(first.reward).any()
    assert not np.asarray(first.terminated | first.truncated).any()
