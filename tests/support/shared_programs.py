"""Runs of one config share their compiled programs: most of a small run is compilation.

A training has no state of its own, so a test cannot tell. `make test-all` shares nothing.
"""

import importlib
from collections.abc import Sequence
from typing import Any

import pytest

from pairvdn.config.config import Built, Config
from pairvdn.envs import Environment
from pairvdn.runs.training import OnDevices, Training, make_training

MOST = 64  # of each kind: compiled programs take some MB


def share_programs(patch: pytest.MonkeyPatch) -> None:
    """From now on equal configs are built once in this process, and trained by one training."""
    build, compile_epoch = Config.build, OnDevices.compile
    built: dict[str, Built] = {}
    trainings: dict[Any, tuple[Built, Training]] = {}

    def shared_build(config: Config) -> Built:
        text = config.to_toml()
        if text not in built:
            made = build(config)
            # Environments on the host have a state; those by module may be another class later.
            if ":" in text or not isinstance(made.env, Environment):
                return made
            _forget(built)
            built[text] = made
        return built[text]

    def shared_training(
        config: Config, parts: Built, seeds: int | Sequence[int], layout: Any = None
    ) -> Training:
        if layout is not None or not any(parts is one for one in built.values()):
            return make_training(config, parts, seeds, layout)
        key = id(parts), seeds if isinstance(seeds, int) else tuple(seeds)
        if key not in trainings:
            _forget(trainings)
            trainings[key] = parts, make_training(config, parts, seeds)
        return trainings[key][1]  # kept with the parts, so that their id stays theirs

    def compile_once(training: OnDevices, state: Any) -> None:
        if training._epoch is training._jitted:
            compile_epoch(training, state)

    patch.setattr(Config, "build", shared_build)
    # By its name: `pairvdn.runs.train` as an attribute is the function.
    patch.setattr(importlib.import_module("pairvdn.runs.train"), "make_training", shared_training)
    patch.setattr(OnDevices, "compile", compile_once)


def _forget(kept: dict[Any, Any]) -> None:
    """Make room for one more: the oldest goes."""
    if len(kept) >= MOST:
        del kept[next(iter(kept))]
