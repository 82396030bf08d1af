"""Where contacts are dense: everyone walks to the middle and jumps, here and in Box2D."""

import pytest
from box_jump_crowds import crowd, play_episodes, play_episodes_in_box2d, standard_errors_apart
from gate import first

from pairvdn.envs.box_jump.env import BoxJump


def check(env: BoxJump, episodes: int, episodes_in_box2d: int) -> None:
    ours = play_episodes(env, crowd, seed=1, count=episodes)
    theirs = play_episodes_in_box2d(env, crowd, seed=2, count=episodes_in_box2d)
    assert theirs.mean_height.mean() > 0.5  # they do pile up
    assert abs(standard_errors_apart(ours.best, theirs.best)) < 3
    assert abs(standard_errors_apart(ours.mean_height, theirs.mean_height)) < 3
    assert ours.sunk.mean() < 0.001


@pytest.mark.parametrize("fixed_rotation", first(1, [False, True]))
def test_a_crowd_piles_up_as_in_box2d(fixed_rotation: bool) -> None:
    check(BoxJump(fixed_rotation=fixed_rotation, max_steps=200), 64, 16)


@pytest.mark.slow
@pytest.mark.parametrize("fixed_rotation", [False, True])
def test_crowds_of_many_episodes_pile_up_as_in_box2d(fixed_rotation: bool) -> None:
    check(BoxJump(fixed_rotation=fixed_rotation), 256, 128)
