"""Every preset trains, at least for an epoch as small as can be."""

import math
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from pairvdn import envs, values
from pairvdn.config import Config, load_preset, preset_names
from pairvdn.envs import HasPositions
from pairvdn.runs import read_metrics, train

SMALL = {
    "epochs": 1,
    "evaluation.every": 1,
    "evaluation.episodes": 1,
    "method.hidden_sizes": (4,),
}
REPLAY = {"learner.replay_capacity": 64, "learner.batch_size": 4}
LEARNERS = {
    "parallel": {
        **REPLAY,
        "learner.num_envs": 2,
        "learner.rounds_per_epoch": 1,
        "learner.agent_steps_per_round": 2,
        "learner.updates_per_round": 1,
        "learner.random_agent_steps": 8,
    },
    "paper": {**REPLAY, "learner.steps_per_epoch": 2, "learner.random_steps": 8},
    "pqn": {"learner.num_envs": 2, "learner.rounds_per_epoch": 1, "learner.batch_size": 24},
}
# Sizes at which an environment compiles and plays an episode quickly; the others are small.
ENVIRONMENTS = {
    "aloha": {"env.max_steps": 4},
    "box-jump": {"env.num_boxes": 2, "env.max_steps": 4},
    "cooking": {"env.max_steps": 4},
    "disperse": {"env.max_steps": 4},
    "gather": {"env.num_agents": 3, "env.max_steps": 4},
    "hallway": {"env.max_steps": 4},
    "predator-prey": {
        "env.num_predators": 2,
        "env.num_prey": 1,
        "env.size": 4,
        "env.max_steps": 4,
    },
    "pursuit": {"env.max_steps": 4},
    "sensor": {"env.max_steps": 4},
    "simple-spread": {"env.num_agents": 2, "env.max_steps": 4},
}
# Each environment and each method at least once; of the games of one step, which are tables for
# the same code, three stand for all.
SOME = {
    "aloha/pairvdn-weighted",
    "aloha/dcg",
    "box-jump/pairvdn-sorted",
    "climbing/dqn",
    "cooking/pairvdn-nearest",
    "crossroads/iql",
    "disperse/dcg",
    "climbing/qmix",
    "predator-prey/dcg",
    "gather/vdn-neighbours",
    "gather/casec",
    "predator-prey/pairvdn-learned",
    "sensor/qplex",
    "aloha/sop-cg",
    "hallway/qmix",
    "pursuit/pairvdn-nearest",
    "ring-game/pairvdn",
    "sensor/vdn",
    "simple-spread/vdn-paper",
    "t-maze/pairvdn",
}


def _method(preset: str) -> str:
    return preset.partition("/")[2].removesuffix("-paper")


def test_the_subset_has_every_environment_and_every_method() -> None:
    used = {preset.partition("/")[0] for preset in SOME}
    assert {env for env in envs.names() if envs.make(env).max_steps > 1} <= used
    assert {_method(preset) for preset in SOME} == set(values.names())


def test_there_is_a_preset_of_every_method_that_fits_an_environment() -> None:
    missing = {
        (env, method)
        for env in envs.names()
        for method in values.names()
        if f"{env}/{method}" not in preset_names()
    }
    # Neighbours need positions; 3^12 joint actions and more are too many for one table.
    without_positions = {
        (env, method)
        for env in envs.names()
        for method in ("pairvdn-sorted", "vdn-neighbours")
        if not isinstance(envs.make(env), HasPositions)
    }
    large = {(env, "dqn") for env in ("disperse", "hallway", "pursuit", "sensor")}
    assert missing == without_positions | large


def _small(preset: str) -> Config:
    config = load_preset(preset)
    small = SMALL | LEARNERS[config.learner.name] | ENVIRONMENTS.get(config.env.name, {})
    return config.replace(small)


@pytest.mark.parametrize("preset", sorted(SOME))
def test_some_presets_learn(preset: str) -> None:
    """Only an epoch: most of a test is compilation, and evaluation would double it."""
    learner = _small(preset).build().learner
    _, metrics = jax.jit(lambda key: learner.epoch(learner.init(key)))(jax.random.key(0))
    assert metrics.updates > 0
    assert jnp.isfinite(metrics.loss)


@pytest.mark.slow
@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_trains(preset: str, tmp_path: Path) -> None:
    train(_small(preset), tmp_path / "run")
    (line,) = read_metrics(tmp_path / "run")
    assert math.isfinite(line["loss"])
    assert line["updates"] > 0
    assert math.isfinite(line["evaluation"]["mean"])
