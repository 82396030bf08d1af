"""Runs that differ only in schedules run the same compiled program."""

from typing import Any

import pytest

from pairvdn.config import Config, load_preset
from pairvdn.runs.training import OnDevices, make_training

SMALL = {"epochs": 4, "learner.rounds_per_epoch": 2}
SCHEDULES = {
    "epochs": 9,
    "optimiser.learning_rate": 7e-3,
    "optimiser.decay_from": 0.1,
    "exploration.epochs": 0.5,
    "exploration.start": 0.8,
}


def program(config: Config, seeds: Any) -> str:
    """What XLA compiles for an epoch."""
    training = make_training(config, config.build(), seeds)
    assert isinstance(training, OnDevices)
    return training.lowered(training.init()).as_text()


@pytest.mark.parametrize("seeds", [0, (0, 1)])
@pytest.mark.parametrize("preset", ["climbing/pairvdn", "t-maze/vdn"])
def test_the_program_is_the_same(preset: str, seeds: Any) -> None:
    config = load_preset(preset).replace(SMALL)
    assert config.exploration.name == "linear"
    same = program(config, seeds)
    assert program(config.replace(SCHEDULES), seeds) == same
    assert program(config.replace({"learner.discount": 0.5}), seeds) != same
