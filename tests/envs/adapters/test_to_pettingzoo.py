import subprocess
import sys
import warnings

import jax
import numpy as np
import pytest
from pettingzoo.utils import parallel_to_aec
from walk import MAX_STEPS, NUM_AGENTS, STAY, Walk

from pairvdn import envs
from pairvdn.envs import to_pettingzoo
from pairvdn.envs.adapters.pettingzoo.export import PettingZooEnv

with warnings.catch_warnings():
    # PettingZoo's tests import one of its own deprecated environments.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import parallel_api_test, parallel_seed_test, render_test


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def make(name):
    return Walk() if name == "walk" else envs.make(name)


NAMES = ("walk", *envs.names())


@pytest.mark.parametrize("name", NAMES)
def test_pettingzoo_takes_it_for_its_own(name):
    parallel_api_test(to_pettingzoo(make(name)), num_cycles=20)
    parallel_seed_test(lambda: to_pettingzoo(make(name)), num_cycles=20)


@pytest.mark.parametrize("name", NAMES)
def test_pettingzoo_sees_it_drawn(name):
    render_test(lambda render_mode: parallel_to_aec(to_pettingzoo(make(name), render_mode)))


def stay(env):
    return dict.fromkeys(env.agents, STAY)


def test_an_episode_is_what_the_environment_plays():
    env, inside = to_pettingzoo(Walk()), Walk()
    observations, infos = env.reset(seed=11)
    assert env.agents == env.possible_agents == ["agent_0", "agent_1"]
    assert env.metadata["name"] == "walk"
    for length in range(1, MAX_STEPS + 1):
        for i, agent in enumerate(env.agents):
            assert env.observation_space(agent).contains(observations[agent])
            place = round(float(env.state()[i]) * 3)
            goals = place + np.array([-1, 0, 1, 2])
            np.testing.assert_array_equal(infos[agent]["action_mask"], (goals >= 0) & (goals <= 3))
            assert infos[agent]["action_mask"].dtype == np.int8
        assert env.state_space.contains(env.state())
        observations, rewards, terminated, truncated, infos = env.step(stay(env))
        assert not any(terminated.values())
        assert set(truncated.values()) == {length == MAX_STEPS}
        assert rewards == {"agent_0": 0.0, "agent_1": 0.0}
        assert {info["team_reward"] for info in infos.values()} == {0.0}
        assert env.state().shape == (inside.state_size,)
    assert env.agents == []
    with pytest.raises(RuntimeError, match="call reset"):
        env.step({})


def test_each_agent_gets_its_own_reward():
    env = to_pettingzoo(envs.make("climbing"))
    env.reset(seed=0)
    _, rewards, terminated, _, infos = env.step({"agent_0": 0, "agent_1": np.int64(0)})
    assert rewards == {"agent_0": 5.5, "agent_1": 5.5}
    assert infos["agent_1"]["team_reward"] == 11.0
    assert all(terminated.values())


def test_a_seed_fixes_also_later_resets():
    def starts(seed):
        env = to_pettingzoo(Walk())
        first, _ = env.reset(seed=seed)
        return [first["agent_0"][0], *(env.reset()[0]["agent_0"][0] for _ in range(20))]

    assert starts(1) == starts(1)
    assert starts(1) != starts(2)
    assert len(set(starts(1))) > 1
    assert starts(None) != starts(None)


def test_a_picture_shows_the_state():
    env = to_pettingzoo(envs.make("climbing"), render_mode="rgb_array")
    env.reset(seed=0)
    before, again = env.render(), env.render()
    np.testing.assert_array_equal(before, again)
    env.step({"agent_0": 0, "agent_1": 1})
    assert (env.render() != before).any()


def test_a_window_follows_and_closes():
    import pygame

    env = to_pettingzoo(Walk(), render_mode="human")
    env.reset(seed=0)
    assert pygame.display.get_surface().get_size() == (640, 480)
    env.step(stay(env))
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    np.testing.assert_array_equal(shown, env._image())
    env.close()
    assert not pygame.display.get_init()
    env.close()


def test_wrong_use_is_explained():
    with pytest.raises(ValueError, match="render_mode must be one of"):
        PettingZooEnv(Walk(), "ansi")
    env = to_pettingzoo(Walk())
    with pytest.raises(RuntimeError, match="call reset"):
        env.state()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="actions are missing for agent_1"):
        env.step({"agent_0": STAY})
    with pytest.raises(ValueError, match="actions must be from 0 to 3"):
        env.step({"agent_0": STAY, "agent_1": 4})
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None


@pytest.mark.parametrize("package", ["pettingzoo", "gymnasium"])
def test_a_missing_package_is_named_with_the_command_that_gets_it(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "pairvdn.envs.adapters.pettingzoo.export", raising=False)
    with pytest.raises(ImportError, match=rf"{package}.*pip install 'pairvdn\[view\]'"):
        to_pettingzoo(Walk())


def test_nothing_is_imported_for_those_who_do_not_look():
    code = (
        "import sys, pairvdn, pairvdn.envs, pairvdn.cli, pairvdn.cli.watch\n"
        "drawing = {'matplotlib', 'pygame', 'pettingzoo', 'gymnasium', 'imageio'}\n"
        "print(sorted(drawing & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result


def test_the_agents_are_as_many_as_the_environment_has():
    env = to_pettingzoo(envs.make("crossroads", num_agents=5))
    env.reset(seed=0)
    assert env.num_agents == env.max_num_agents == 5
    assert len(jax.tree.leaves(env.step(dict.fromkeys(env.agents, 0))[1])) == 5
    assert to_pettingzoo(Walk()).max_num_agents == NUM_AGENTS


def test_an_episode_goes_on_when_somebody_closes_the_window():
    import pygame

    env = to_pettingzoo(Walk(), render_mode="human")
    env.reset(seed=0)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.step(stay(env))
    assert not pygame.display.get_init()
    env.step(stay(env))
    env.reset()
    assert not pygame.display.get_init()
    env.close()
    env.reset()
    assert pygame.display.get_surface() is not None
    env.close()


def test_pictures_follow_at_the_pace_of_the_environments_clock():
    assert to_pettingzoo(envs.make("box-jump")).metadata["render_fps"] == 40
    assert to_pettingzoo(envs.make("simple-spread")).metadata["render_fps"] == 10
    assert to_pettingzoo(Walk()).metadata["render_fps"] == 5
