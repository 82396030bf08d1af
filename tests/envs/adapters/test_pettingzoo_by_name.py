"""PettingZoo environments found by name, with their own arguments and ours."""

import sys

import pytest

from pairvdn import envs
from pairvdn.config import Config, load_preset
from pairvdn.config.components import known_arguments
from pairvdn.config.errors import ConfigError


def test_a_class_of_ones_own_with_its_arguments():
    known = known_arguments("env", "pettingzoo:small_zoo.Ladder")
    ours = ["max_steps", "team_reward", "image_size", "grey"]
    assert list(known) == [*ours, "dies", "length", "end", "has_state", "render_mode"]
    assert known["dies"].default == 0
    assert known["has_state"].kind is bool
    env = envs.constructor("pettingzoo:small_zoo.Ladder")(length=9, max_steps=5)
    assert (env.name, env.max_steps) == ("pettingzoo:small_zoo.Ladder", 5)


def test_a_module_of_pettingzoos_and_its_short_name():
    for name in ("pettingzoo.butterfly.pistonball_v6", "butterfly.pistonball_v6"):
        known = known_arguments("env", f"pettingzoo:{name}")
        assert known["continuous"].default is True
        # Its own name of the length of an episode is our `max_steps`.
        assert "max_cycles" not in known
        assert known["max_steps"].default == 125


def test_the_length_of_episodes_reaches_the_environment():
    env = envs.constructor("pettingzoo:mpe2.simple_spread_v3")(max_steps=40, N=2)
    assert (env.max_steps, env.num_agents) == (40, 2)
    assert env.make_env().unwrapped.max_cycles == 40


def test_an_environment_that_takes_anything_takes_what_is_given():
    name = "pettingzoo:sisl.pursuit_v5"
    assert "n_pursuers" not in known_arguments("env", name)
    config = load_preset(name).replace({"env.n_pursuers": 3, "method.name": "vdn"})
    assert config.env.arguments["n_pursuers"] == 3
    assert Config.from_toml(config.to_toml()) == config
    assert config.build().env.num_agents == 3
    wrong = load_preset(name).replace({"env.n_persuers": 3})
    with pytest.raises(ConfigError, match="unexpected keyword argument 'n_persuers'"):
        wrong.build()


def test_the_method_can_be_exchanged_and_keeps_its_network():
    config = load_preset("pettingzoo:small_zoo.Ladder")
    assert config.method.name == "pairvdn"
    sizes = config.method.arguments["hidden_sizes"]
    other = config.replace({"method.name": "qmix"})
    assert other.method.arguments["hidden_sizes"] == sizes
    assert "order" not in other.method.arguments


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("butterfly.pistonbal_v6", ValueError, "did you mean 'pistonball_v6'"),
        ("butterfy.pistonball_v6", ValueError, "did you mean 'pettingzoo:butterfly.pistonball_v6'"),
        ("small_zoo.Lader", ValueError, "did you mean 'Ladder'"),
        ("classic.tictactoe_v3", ValueError, "no 'tictactoe_v3' that is a ParallelEnv"),
        ("nowhere_to_be_found.env_v0", ImportError, "There is no module 'nowhere_to_be_found'"),
        ("", ValueError, "needs a name"),
    ],
)
def test_what_is_not_there(name, error, says):
    with pytest.raises(error, match=says) as caught:
        envs.constructor(f"pettingzoo:{name}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["subprocess.Popen", "small_zoo.not_an_environment", "os.system"])
def test_a_config_cannot_call_just_anything(name):
    with pytest.raises(ValueError, match="that is a ParallelEnv"):
        envs.constructor(f"pettingzoo:{name}")


@pytest.mark.parametrize(
    ("missing", "name", "says"),
    [
        ("mpe2", "mpe2.simple_spread_v3", "pip install mpe2"),
        ("pettingzoo", "small_zoo.Ladder", "pip install 'pettingzoo>=1.27'"),
        ("pygame", "butterfly.pistonball_v6", "pip install pygame-ce"),
    ],
)
def test_a_missing_package_is_named_with_the_command(missing, name, says, monkeypatch):
    loaded = [one for one in sys.modules if one.startswith(("pettingzoo.", "mpe2", "pygame"))]
    for module in loaded:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=says):
        envs.constructor(f"pettingzoo:{name}")
    with pytest.raises(ConfigError, match=says) as caught:
        load_preset(f"pettingzoo:{name}")
    assert "\n" not in str(caught.value)


def test_other_prefixes():
    with pytest.raises(ConfigError, match="'petingzoo' is not a prefix; try pettingzoo:MODULE"):
        load_preset("petingzoo:mpe2.simple_spread_v3")
    with pytest.raises(ValueError, match="from_pettingzoo"):
        envs.make("pettingzoo:small_zoo.Ladder")
