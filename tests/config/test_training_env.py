"""An environment that is different while training, and only then."""

import pytest

from pairvdn.config import Config, load_preset
from pairvdn.config.errors import ConfigError

PRESET = load_preset("box-jump/vdn-paper")


def test_it_is_trained_in_one_environment_and_evaluated_in_the_other():
    built = PRESET.replace({"training_env.start_tower": 3, "training_env.max_steps": 20}).build()
    training = built.learner.collector.env
    assert (training.parameters.start_tower, training.max_steps) == (3, 20)
    assert (built.env.parameters.start_tower, built.env.max_steps) == (0, 400)
    assert training.parameters.fixed_rotation == built.env.parameters.fixed_rotation


def test_without_training_env_there_is_one_environment():
    built = PRESET.build()
    assert built.learner.collector.env is built.env


def test_it_is_written_and_read_with_the_config():
    config = PRESET.replace({"training_env.start_tower": 3})
    assert Config.from_toml(config.to_toml()) == config
    assert config.to_dict()["training_env"] == {"start_tower": 3}


def test_another_environment_drops_it():
    config = PRESET.replace({"training_env.start_tower": 3}).replace({"env.name": "gather"})
    assert config.training_env == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training_env.start_towr": 3}, "did you mean 'start_tower'"),
        ({"training_env.start_tower": "high"}, "training_env.start_tower must be a whole number"),
    ],
)
def test_a_wrong_key_or_value_is_refused_at_once(changes, message):
    with pytest.raises(ConfigError, match=message):
        PRESET.replace(changes)


def test_sizes_must_not_change():
    with pytest.raises(
        ConfigError, match="training_env must not change num_agents, but changes it from 16"
    ):
        PRESET.replace({"training_env.num_boxes": 4}).build()
