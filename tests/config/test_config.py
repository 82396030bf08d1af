"""Configs: checked, written and read back, changed and built."""

import json

import jax
import pytest
from gate import first

from pairvdn.config import Config, load_preset, preset_names
from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import convert, parse
from pairvdn.values.networks import NetworkArguments
from pairvdn.values.pairvdn import PairVdn

BASE = load_preset("wall/pairvdn")
PRESETS = list(preset_names())
SOME = PRESETS[::7]  # every environment and method, as a test says


def is_name(name: str, env: str, method: str) -> bool:
    methods = (method, f"{method}-paper", f"{method}-pair", "best")
    return name in {f"{env}/{one}" for one in methods}


def test_every_preset_is_read() -> None:
    for name in PRESETS:
        config = load_preset(name)
        assert is_name(name, config.env.name, config.method.name), name


def test_some_presets_have_every_environment_and_method() -> None:
    from pairvdn import envs, values

    parts = [load_preset(name) for name in SOME]
    assert {one.env.name for one in parts} == set(envs.names())
    assert {one.method.name for one in parts} == set(values.names())


@pytest.mark.parametrize("name", first(len(SOME), [*SOME, *sorted(set(PRESETS) - set(SOME))]))
def test_every_preset_is_built(name: str) -> None:
    config = load_preset(name)
    env, make_value, learner = config.build()
    assert is_name(name, env.name, config.method.name)
    assert learner.num_epochs == config.epochs
    assert callable(make_value)


def test_every_method_has_a_preset_for_box_jump_and_the_paper_its_own() -> None:
    from pairvdn import envs, values

    assert {f"box-jump/{method}" for method in values.names()} <= set(preset_names())
    assert {f"box-jump/{m}-paper" for m in ("iql", "vdn", "qmix", "pairvdn")} <= set(preset_names())
    assert {f"{env}/pairvdn" for env in envs.names()} <= set(preset_names())


def test_the_papers_appendix_c() -> None:
    config = load_preset("box-jump/pairvdn-paper")
    assert config.epochs == 100
    learner = config.learner.arguments
    assert learner["steps_per_epoch"] == 400
    assert learner["random_steps"] == 5_000
    assert learner["replay_capacity"] == 20_000
    assert learner["batch_size"] == 32
    assert learner["discount"] == learner["target_average"] == 0.99
    assert (config.optimiser.name, config.optimiser.arguments["learning_rate"]) == ("sgd", 1e-4)
    assert config.exploration.arguments == {
        "start": 1.0,
        "end": 0.05,
        "epochs": None,
        "answered": False,
    }
    assert config.method.arguments["hidden_sizes"] == (128, 128)
    assert config.num_updates() == 53_925  # as the docstring of paper_learner says
    assert config.replace({"env.variant": "table1"}).build().env.num_agents == 16


def test_an_environment_and_a_value_are_built_without_a_learner() -> None:
    """Even where the learner could not be built."""
    config = BASE.replace({"learner.replay_capacity": 1})
    env = config.build_env()
    value = config.make_value(env, key=jax.random.PRNGKey(0))
    assert isinstance(value, PairVdn)
    with pytest.raises(ConfigError, match="replay_capacity"):
        config.build_learner(env)


@pytest.mark.parametrize("name", ["box-jump/pairvdn", "box-jump/qmix-paper", "penalty/dcg"])
def test_there_and_back(name: str) -> None:
    config = load_preset(name)
    assert Config.from_toml(config.to_toml()) == config
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_defaults_are_written_out_also_those_of_the_networks() -> None:
    written = load_preset("penalty/qmix").to_dict()["method"]
    assert set(NetworkArguments.__annotations__) <= set(written)
    assert (written["shared"], written["identifiers"]) == (True, True)


def test_changes() -> None:
    config = BASE.replace({"env.num_agents": 3, "epochs": 2, "method.name": "vdn"})
    assert config.env.arguments == {"num_agents": 3}
    assert (config.epochs, config.method.name) == (2, "vdn")
    assert "order" not in config.method.arguments


def test_another_method_keeps_its_networks_and_nothing_else() -> None:
    best = load_preset("box-jump/best")
    dcg = best.replace({"method.name": "dcg"})
    assert dcg.method.arguments["layer_norm"] is True
    assert dcg.method.arguments["utilities"] is True  # its own default
    nearest = best.replace({"method.name": "pairvdn-nearest"})
    assert nearest.method.arguments["column_gap"] is None
    nearest.build()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"env.num_agnets": 3}, "did you mean 'num_agents'"),
        ({"envv.num_agents": 3}, "did you mean 'env'"),
        ({"epoch": 3}, "did you mean 'epochs'"),
        ({"seed.foo": 3}, "no key 'seed'"),
        ({"epochs": 0}, "at least 1"),
        ({"epochs": 2.5}, "a whole number"),
        ({"epochs": True}, "a whole number"),
        ({"seed": -1}, "at least 0"),
        ({"seed": 2**32}, "below"),
        ({"evaluation.every": 0}, "evaluation.every must be at least 1"),
        ({"evaluation.evry": 1}, "did you mean 'every'"),
        ({"checkpoints.keep": 0}, "at least 1"),
        ({"method.name": "pairvnd"}, "did you mean 'pairvdn'"),
        ({"env.name": "wal"}, "did you mean 'wall'"),
        ({"learner.name": "serial"}, "known are paper, parallel"),
        ({"env": 3}, "a table of keys"),
        ({"method.hidden_sizes": 3}, "a list"),
        ({"method.order": 3}, "one of 'index', 'random' or a list"),
        ({"method.activation": "tanh"}, "activation must be one of"),
        ({"method.encoder": "lstm"}, "encoder must be one of 'none', 'mlp', 'gru'"),
        ({"learner.loss": "cubic"}, "learner.loss must be one of 'squared', 'huber'"),
    ],
)
def test_wrong_values_are_named(changes: dict, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        BASE.replace(changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"env.num_agents": 1}, "env: num_agents must be at least 2"),
        ({"method.encoder": "mlp", "method.encoder_size": 0}, "encoder_size must be at least 1"),
        ({"method.hidden_sizes": [0]}, "Layer sizes must be at least 1"),
        ({"learner.discount": 1.5}, "from 0 to 1"),
        ({"learner.batch_size": 0}, "at least 1"),
        ({"learner.replay_capacity": 1}, "replay_capacity must be at least"),
        ({"optimiser.learning_rate": 0.0}, "greater than 0"),
        ({"optimiser.decay_to": 2.0}, "from 0 to 1"),
        ({"exploration.end": 2.0}, "from 0 to 1"),
        ({"method.name": "pairvdn-sorted"}, "needs the positions"),
    ],
)
def test_what_does_not_fit_is_found_when_it_is_built(changes: dict, says: str) -> None:
    config = BASE.replace(changes)
    with pytest.raises(ConfigError, match=says) as caught:
        config.build()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int, "1_000", 1000),
        (float, "3", 3.0),
        (float, "1e-4", 1e-4),
        (bool, "false", False),
        (str, "12", "12"),
        (str, "table1", "table1"),
        (tuple[int, ...], "64,64", (64, 64)),
        (tuple[int, ...], "[64, 64]", (64, 64)),
        (tuple[int, ...], "64", (64,)),
        (tuple[str, ...], "best,time", ("best", "time")),
        (float | None, "none", None),
        (float | None, "2", 2.0),
        (str | tuple[int, ...], "index", "index"),
        (str | tuple[int, ...], "[0,2,1]", (0, 2, 1)),
    ],
)
def test_texts_become_values(kind: object, text: str, value: object) -> None:
    assert parse("--flag", kind, text) == value


@pytest.mark.parametrize(
    ("kind", "value"), [(int, "3"), (int, True), (float, float("nan")), (bool, 1), (str, 3)]
)
def test_nothing_is_converted_by_force(kind: object, value: object) -> None:
    with pytest.raises(ConfigError, match="must be"):
        convert("key", kind, value)


@pytest.mark.parametrize(
    ("epochs", "length"), [("none", 80), (20, 20), (1, 1), (0.25, 20), (1.0, 80), (0.0, 1)]
)
def test_exploration_has_a_length_in_epochs_or_as_a_share_of_the_run(
    epochs: str | float, length: int
) -> None:
    config = load_preset("aloha/vdn").replace({"epochs": 80, "exploration.epochs": epochs})
    assert Config.from_toml(config.to_toml()) == config
    exploration = config.exploration.build(num_epochs=config.epochs)
    assert exploration.epochs == length


def test_a_share_of_the_run_is_at_most_1() -> None:
    config = load_preset("aloha/vdn").replace({"exploration.epochs": 1.5})
    with pytest.raises(ConfigError, match=r"epochs must be from 0 to 1, not 1\.5"):
        config.exploration.build(num_epochs=80)


def test_a_schedule_replaces_another_and_counts_its_updates() -> None:
    config = load_preset("predator-prey/vdn").replace({"learner.name": "pqn", "epochs": 3})
    learner = config.build_learner(config.build_env())
    assert learner.replay_capacity is None
    # 25 rounds of 64 x 4 agent steps, passed over twice in batches of 256.
    assert config.num_updates() == 3 * 25 * 2
    back = config.replace({"learner.name": "parallel", "method.encoder": "gru"})
    assert back.build_learner(back.build_env()).collector.recorder.stride == 4
