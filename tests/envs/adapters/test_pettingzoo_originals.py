"""Environments of others as they are: a few steps of each, and the shapes that come of them."""

import numpy as np
import pytest

from pairvdn import envs

SMALL = {"image_size": (8, 12)}
# name, arguments, agents, actions, observation, state, max_steps
ORIGINALS = [
    ("mpe2.simple_spread_v3", {}, 3, 5, 18, 54, 25),
    ("mpe2.simple_speaker_listener_v4", {}, 2, 5, 11, 14, 25),
    ("butterfly.knights_archers_zombies_v11", {"obs_method": "vector"}, 4, 6, 135, 104, 900),
    ("sisl.pursuit_v5", {}, 8, 5, 147, 768, 500),
    ("butterfly.pistonball_v6", {"continuous": False, **SMALL}, 20, 3, 96, 96, 125),
    ("butterfly.cooperative_pong_v6", {"render_mode": "rgb_array", **SMALL}, 2, 3, 96, 96, 900),
]


@pytest.mark.parametrize("original", ORIGINALS, ids=lambda original: original[0])
def test_it_plays(original):
    name, arguments, *sizes = original
    env = envs.constructor(f"pettingzoo:{name}")(**arguments)
    assert sizes == [
        env.num_agents,
        env.num_actions,
        env.observation_size,
        env.state_size,
        env.max_steps,
    ]
    copy, other, rng = env.copy(), env.copy(), np.random.default_rng(0)
    step = copy.reset(5)
    np.testing.assert_array_equal(step.observation, other.reset(5).observation)
    for _ in range(5):
        chosen = [rng.choice(np.flatnonzero(mask)) for mask in step.mask]
        step = copy.step(np.array(chosen, np.int32))
        assert step.observation.shape == (env.num_agents, env.observation_size)
        assert step.state.shape == (env.state_size,)
        assert step.mask.any(axis=1).all()
        assert np.isfinite(step.observation).all()
        assert step.observation.any(axis=1).all()
        np.testing.assert_allclose(step.reward, step.agent_rewards.sum(), rtol=1e-5, atol=1e-6)


def test_knights_and_archers_die_and_the_game_ends_for_good():
    env = envs.constructor("pettingzoo:butterfly.knights_archers_zombies_v11")(spawn_delay=2)
    copy, still = env.copy(), np.full(4, 5, np.int32)
    steps = [copy.reset(0)]
    while not (steps[-1].terminated or steps[-1].truncated):
        steps.append(copy.step(still))
    assert steps[-1].terminated
    alive = np.array([step.observation.any(axis=1).sum() for step in steps])
    assert alive[0] == 4
    assert (np.diff(alive) <= 0).all()


@pytest.mark.parametrize("name", ["sisl.multiwalker_v9", "butterfly.pistonball_v6"])
def test_continuous_actions_are_refused(name):
    with pytest.raises(ValueError, match=r"acts in Box.* only Discrete actions") as caught:
        envs.constructor(f"pettingzoo:{name}")()
    assert "\n" not in str(caught.value)
