"""Names of parts: built in, of entry points, of external libraries and of a user's modules."""

import pytest

from pairvdn.config import Config, load_preset
from pairvdn.config.errors import ConfigError
from pairvdn.config.registry import KINDS, constructor, module_of

BASE = load_preset("wall/vdn")


@pytest.mark.parametrize(
    ("kind", "name", "module"),
    [
        ("env", "box-jump", None),
        ("env", "jaxmarl:switch_riddle", None),
        ("env", "pettingzoo:mpe2.simple_spread_v3", "mpe2.simple_spread_v3"),
        ("env", "mypackage.door:Door", "mypackage.door"),
        ("method", "vdn", None),
        ("method", "mypackage.line:Line", "mypackage.line"),
        ("method", "jaxmarl:Line", "jaxmarl"),  # only environments have libraries
        ("optimiser", "os:system", "os"),
    ],
)
def test_which_names_choose_a_module(kind: str, name: str, module: str | None) -> None:
    assert module_of(kind, name) == module


@pytest.mark.parametrize("kind", KINDS)
def test_every_built_in_name_has_a_constructor(kind: str) -> None:
    assert KINDS[kind].builtin()
    for name in KINDS[kind].names():
        assert callable(constructor(kind, name))


@pytest.mark.parametrize("kind", KINDS)
def test_a_config_that_is_not_trusted_names_no_modules(kind: str) -> None:
    named = BASE.to_dict() | {kind: {"name": "nowhere.to_be_found:Thing"}}
    with pytest.raises(ConfigError, match=rf"{kind}.name = .*'nowhere.to_be_found'.*--trust"):
        Config.from_dict(named, trust=False)
    with pytest.raises(ConfigError, match="There is no module 'nowhere'"):
        Config.from_dict(named, trust=True)


def test_a_config_of_built_in_names_needs_no_trust() -> None:
    assert Config.from_toml(BASE.to_toml(), trust=False) == BASE


def test_own_schedule_optimiser_and_exploration() -> None:
    config = BASE.replace(
        {
            "learner.name": "own_parts:schedule",
            "optimiser.name": "own_parts:momentum",
            "exploration.name": "own_parts:Constant",
            "exploration.epsilon": 0.25,
        }
    )
    assert config.learner.arguments == {"num_envs": 32}  # which both schedules have
    assert config.optimiser.arguments == {"rate": 0.1}
    learner = config.build().learner
    assert learner.exploration.epsilon == 0.25
    assert Config.from_toml(config.to_toml()) == config


def test_a_decay_needs_a_schedule_that_counts_its_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    config = BASE.replace({"learner.name": "own_parts:schedule"})
    with pytest.raises(ConfigError, match="needs the number of updates: add a function"):
        config.build()
    own = constructor("learner", "own_parts:schedule")
    monkeypatch.setattr(own, "num_updates", lambda epochs, **_: 7 * epochs, raising=False)
    assert config.num_updates() == 7 * config.epochs
    config.build()


def test_an_own_environment_starts_from_the_recipe_for_all() -> None:
    config = load_preset("own_parts:Door")
    assert config.env.arguments == {}  # num_agents has no default
    assert config.replace({"env.num_agents": 3}).build().env.num_agents == 3
    assert config.learner == load_preset("jaxmarl:switch_riddle").learner


def test_entry_points_that_fail_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    from pairvdn.config import registry

    found = {
        "broken": EntryPoint("broken", "own_broken:Door", "pairvdn.envs"),
        "other": EntryPoint("other", "own_parts:Other", "pairvdn.envs"),
    }
    monkeypatch.setattr(registry, "_registered", lambda group: found)
    with pytest.raises(ConfigError, match="cannot be imported: broken on purpose"):
        constructor("env", "broken")
    with pytest.raises(ConfigError, match="own_parts:Other must be a subclass of Environment"):
        constructor("env", "other")
