"""What becomes of a PettingZoo environment, number by number."""

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.utils import parallel_to_aec
from small_zoo import Continuous, Ladder, Masked, Pictures
from unchecked_types import unchecked_types

from pairvdn.envs import from_pettingzoo, make, to_pettingzoo

SHORT, LONG = 0, 1


def actions(*chosen: int) -> np.ndarray:
    return np.array(chosen, np.int32)


def play(env, count, seed=7):
    copy = env.copy()
    steps = [copy.reset(seed)]
    while len(steps) <= count:
        steps.append(copy.step(actions(0, 2)))
    return steps


def test_sizes_are_those_of_the_largest():
    env = from_pettingzoo(Ladder)
    assert (env.num_agents, env.num_actions) == (2, 3)
    assert (env.observation_size, env.state_size) == (3, 6)
    assert (env.name, env.agents, env.max_steps) == ("ladder", ("short", "long"), 1000)
    hash(env)


def test_smaller_agents_are_padded_and_masked():
    start, after = play(from_pettingzoo(Ladder), 1)
    np.testing.assert_array_equal(start.observation, [[0, 0, 0], [0, 7, 0]])
    np.testing.assert_array_equal(start.mask, [[True, True, False], [True] * 3])
    np.testing.assert_array_equal(start.state, start.observation.reshape(-1))
    assert start.reward == 0
    assert not start.terminated
    assert not start.truncated
    # Action 2 of `long`, which counts from 5, is 7.
    np.testing.assert_array_equal(after.observation, [[1, 0, 0], [1, 7, 7]])
    assert all(
        field.dtype == np.float32
        for field in (after.observation, after.state, after.reward, after.agent_rewards)
    )


def test_the_dead_see_nothing_get_nothing_and_have_one_action():
    *_, death, later = play(from_pettingzoo(lambda: Ladder(dies=2)), 3)
    # The step in which it dies still pays it.
    np.testing.assert_array_equal(death.agent_rewards, [2, 20])
    np.testing.assert_array_equal(later.agent_rewards, [0, 30])
    for step in (death, later):
        np.testing.assert_array_equal(step.observation[SHORT], 0)
        np.testing.assert_array_equal(step.mask[SHORT], [True, False, False])
        assert step.mask[LONG].all()
        assert not step.terminated
        assert not step.truncated
    np.testing.assert_array_equal(later.observation[LONG], [3, 7, 7])


def test_a_truncation_shows_where_it_ended():
    end = play(from_pettingzoo(Ladder), 4)[-1]
    assert end.truncated
    assert not end.terminated
    np.testing.assert_array_equal(end.observation, [[4, 0, 0], [4, 7, 7]])
    assert end.mask.sum() == 5


def test_a_termination_ends_for_good():
    only_long = from_pettingzoo(lambda: Ladder(dies=1, end="terminated"))
    end = play(only_long, 4)[-1]
    assert end.terminated
    assert not end.truncated


@pytest.mark.parametrize("end", ["terminated", "truncated"])
def test_if_one_is_cut_off_there_was_a_future(end):
    # `long` terminates while `short` is truncated, or the other way round.
    dies = 4 if end == "truncated" else 0
    last = play(from_pettingzoo(lambda: Ladder(dies=dies, end=end)), 4)[-1]
    assert last.truncated
    assert not last.terminated
    gone, seen = (LONG, SHORT) if end == "terminated" else (SHORT, LONG)
    assert not last.observation[gone].any()
    assert last.observation[seen, 0] == 4


def test_the_team_gets_the_sum_or_the_mean_over_all_dead_or_alive():
    assert play(from_pettingzoo(Ladder), 2)[-1].reward == 22
    mean = from_pettingzoo(lambda: Ladder(dies=1), team_reward="mean")
    assert play(mean, 2)[-1].reward == 10
    with pytest.raises(ValueError, match="team_reward must be one of sum, mean"), unchecked_types():
        from_pettingzoo(Ladder, team_reward="max")


def test_max_steps_cut_an_episode():
    env = from_pettingzoo(Ladder, max_steps=3)
    *before, last = play(env, 3)
    assert env.max_steps == 3
    assert [bool(step.truncated) for step in before] == [False] * 3
    assert last.truncated
    assert last.observation[LONG, 0] == 3
    # The environment's own end in the same step is not overruled.
    own = play(from_pettingzoo(lambda: Ladder(dies=1, end="terminated"), max_steps=4), 4)[-1]
    assert own.terminated
    assert not own.truncated


def test_its_own_state_is_used_if_there_is_one():
    env = from_pettingzoo(lambda: Ladder(has_state=True))
    assert env.state_size == 4
    np.testing.assert_array_equal(play(env, 2)[-1].state, np.full(4, 2))


def test_masks_in_infos_and_beside_observations():
    env = from_pettingzoo(Masked)
    assert env.observation_size == 3
    start, _, second = play(env, 2)
    np.testing.assert_array_equal(start.mask, [[False, True, False], [False, True, True]])
    # Nothing allowed at all: the first action, for something must be.
    np.testing.assert_array_equal(second.mask[LONG], [True, False, False])


def test_a_masked_action_becomes_the_lowest_allowed():
    copy = from_pettingzoo(Masked).copy()
    copy.reset(0)
    assert copy.step(actions(0, 0)).observation[LONG, 2] == 5 + 1
    assert copy.step(actions(2, 2)).observation[LONG, 2] == 5 + 2


def test_pictures_are_shrunk_to_means_between_0_and_1():
    env = from_pettingzoo(Pictures, image_size=(2, 3))
    assert env.observation_size == 6
    seen = play(env, 1)[-1].observation
    np.testing.assert_allclose(seen[SHORT], [52 / 255 / 3] * 3 + [0] * 3, rtol=1e-6)
    colour = from_pettingzoo(Pictures, image_size=(2, 1), grey=False)
    seen = play(colour, 1)[-1].observation
    np.testing.assert_allclose(seen[LONG], [52 / 255, 0, 0, 0, 0, 0], rtol=1e-6)
    assert from_pettingzoo(Pictures, grey=False).observation_size == 72


def test_empty_pictures_are_noticed():
    blank = Pictures()
    blank._seen = lambda: dict.fromkeys(blank.possible_agents, np.zeros((4, 6, 3), np.uint8))
    with pytest.warns(UserWarning, match="empty image.*render_mode='rgb_array'"):
        from_pettingzoo(lambda: blank)


def test_new_pixels_need_not_cover_whole_ones():
    from pairvdn.envs.adapters.pettingzoo.layout import Shrink

    picture = np.array([[255, 0, 0], [255, 0, 0]], np.uint8)
    halves = Shrink((2, 3), (1, 2), grey=True)(picture)
    np.testing.assert_allclose(halves, [2 / 3, 0], atol=1e-6)
    rng = np.random.default_rng(0)
    picture = rng.integers(256, size=(37, 23, 3), dtype=np.uint8)
    small = Shrink(picture.shape, (5, 4), grey=True)(picture)
    np.testing.assert_allclose(small.mean(), picture.mean() / 255, rtol=1e-5)


@pytest.mark.parametrize("size", [(5, 6), (4, 7), (0, 1), (2,)])
def test_pictures_are_not_enlarged(size):
    with pytest.raises(ValueError, match="image_size must be"):
        from_pettingzoo(Pictures, image_size=size)


def test_what_cannot_be_learned_is_refused():
    with pytest.raises(ValueError, match=r"long acts in Box.*only Discrete.*continuous=False"):
        from_pettingzoo(Continuous)
    with pytest.raises(ValueError, match="aec_to_parallel"):
        from_pettingzoo(lambda: parallel_to_aec(Ladder()))
    text = Ladder()
    text.observation_space = lambda agent: spaces.Sequence(spaces.Discrete(2))
    with pytest.raises(ValueError, match=r"short observes Sequence.*no fixed size"):
        from_pettingzoo(lambda: text)
    nobody = Ladder()
    nobody.possible_agents = []
    with pytest.raises(ValueError, match="possible_agents"):
        from_pettingzoo(lambda: nobody)


def test_there_and_back_again():
    """One of ours, exported and taken in again, tells the same."""
    inside = make("gather")
    exported, env = to_pettingzoo(inside), from_pettingzoo(lambda: to_pettingzoo(inside))
    sizes = ("num_agents", "num_actions", "observation_size", "state_size")
    assert all(getattr(env, size) == getattr(inside, size) for size in sizes)
    copy, rng = env.copy(), np.random.default_rng(0)
    seen, _ = exported.reset(seed=3)
    now = copy.reset(3)
    while exported.agents:
        np.testing.assert_array_equal(now.observation, np.stack(list(seen.values())))
        chosen = rng.integers(env.num_actions, size=env.num_agents).astype(np.int32)
        by_agent = dict(zip(exported.agents, chosen, strict=True))
        seen, _, terminated, truncated, infos = exported.step(by_agent)
        now = copy.step(chosen)
        np.testing.assert_allclose(now.reward, infos["agent_0"]["team_reward"], rtol=1e-6)
        np.testing.assert_array_equal(now.state, exported.state())
        assert (now.terminated, now.truncated) == (
            terminated["agent_0"],
            truncated["agent_0"] and not terminated["agent_0"],
        )
