"""A uniform random policy against reference values that were measured with real Box2D."""

import math
import resource
from typing import Any

import numpy as np
import pytest
from box_jump_crowds import play_episodes, uniform
from gate import first

from pairvdn.envs.box_jump.env import BoxJump

REFERENCE_EPISODES = 30
# What is compared, arguments, mean and standard deviation of the reference.
TABLE1: list[tuple[dict[str, Any], float, float]] = [
    ({}, 1.172, 0.024),
    ({"max_steps": 1000}, 1.194, 0.014),
    ({"fixed_rotation": True}, 1.182, 0.027),
    ({"fixed_rotation": True, "max_steps": 1000}, 1.222, 0.032),
    ({"num_boxes": 8}, 1.147, 0.019),
]
BEST_HEIGHTS: list[tuple[dict[str, Any], float, float]] = [
    ({}, 2.43, 0.34),
    ({"max_steps": 1000}, 2.85, 0.23),
    ({"fixed_rotation": True}, 2.66, 0.39),
    ({"fixed_rotation": True, "max_steps": 1000}, 3.16, 0.41),
    ({"look_back": 10}, 2.49, 0.38),
    ({"look_back": 10, "max_steps": 1000}, 2.81, 0.30),
    ({"look_back": 10, "fixed_rotation": True}, 2.80, 0.48),
    ({"look_back": 10, "fixed_rotation": True, "max_steps": 1000}, 3.52, 0.49),
]


def name_of(value: Any) -> str | None:
    named = isinstance(value, dict)
    return ",".join(f"{key}={item}" for key, item in value.items()) or "default" if named else None


def check(ours: np.ndarray, mean: float, deviation: float) -> None:
    error = math.sqrt(ours.var(ddof=1) / len(ours) + deviation**2 / REFERENCE_EPISODES)
    assert abs(ours.mean() - mean) < 3 * error


@pytest.mark.parametrize(("arguments", "mean", "deviation"), first(1, TABLE1[::-2]), ids=name_of)
def test_returns_of_table1(arguments: dict[str, Any], mean: float, deviation: float) -> None:
    check(play_episodes(BoxJump("table1", **arguments), uniform, 1, 64).returns, mean, deviation)


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "mean", "deviation"), TABLE1, ids=name_of)
def test_returns_of_many_episodes_of_table1(
    arguments: dict[str, Any], mean: float, deviation: float
) -> None:
    episodes = play_episodes(BoxJump("table1", **arguments), uniform, 2, 256)
    check(episodes.returns, mean, deviation)
    assert episodes.sunk.mean() < 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "mean", "deviation"), BEST_HEIGHTS, ids=name_of)
def test_best_heights_of_many_episodes_of_paper(
    arguments: dict[str, Any], mean: float, deviation: float
) -> None:
    episodes = play_episodes(BoxJump(**arguments), uniform, 3, 256)
    check(episodes.best, mean, deviation)
    assert episodes.sunk.mean() < 0.001


def endure(fixed_rotation: bool, batches: int, batch: int) -> None:
    """Random episodes: all finite, nobody below the floor inside of it, memory flat."""
    env = BoxJump(fixed_rotation=fixed_rotation, max_steps=1000)
    memory = []
    for seed in range(batches):
        episodes = play_episodes(env, uniform, seed, batch)
        assert episodes.finite.all()
        assert episodes.sunk.max() == 0
        memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)  # kilobytes
    assert memory[-1] - memory[1] < 20_000


@pytest.mark.parametrize("fixed_rotation", [pytest.param(False, marks=pytest.mark.slow), True])
def test_two_hundred_thousand_random_steps(fixed_rotation: bool) -> None:
    endure(fixed_rotation, batches=4, batch=50)


@pytest.mark.slow
@pytest.mark.parametrize("fixed_rotation", [False, True])
def test_five_million_random_steps(fixed_rotation: bool) -> None:
    endure(fixed_rotation, batches=10, batch=500)
