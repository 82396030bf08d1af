"""Runs so small that a test can train them, trained once for all tests and processes."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pairvdn.config import load_preset
from pairvdn.runs import train

GAME = {
    "epochs": 4,
    "evaluation.every": 2,
    "learner.num_envs": 4,
    "learner.rounds_per_epoch": 1,
    "learner.updates_per_round": 2,
    "learner.replay_capacity": 256,
    "learner.batch_size": 8,
    "learner.random_agent_steps": 2,
    "method.hidden_sizes": (4,),
}
BOXES = {
    "epochs": 2,
    "evaluation.every": 1,
    "evaluation.episodes": 2,
    "env.num_boxes": 2,
    "env.max_steps": 8,
    "training_env.max_steps": 8,
    "learner.num_envs": 2,
    "learner.rounds_per_epoch": 1,
    "learner.agent_steps_per_round": 2,
    "learner.updates_per_round": 1,
    "learner.random_agent_steps": 4,
    "learner.replay_capacity": 64,
    "learner.batch_size": 4,
    "method.hidden_sizes": (4,),
}


RUNS = {
    "vdn": ("climbing/vdn", GAME, 3),
    "iql": ("climbing/iql", GAME, 2),
    "boxes": ("box-jump/pairvdn-sorted", BOXES, None),
}


def small_run(name: str, temporary: pytest.TempPathFactory) -> Path:
    """The folder of one of `RUNS`. Tests must not change it: they share it."""
    preset, changes, seeds = RUNS[name]
    config = load_preset(preset).replace(changes)
    return shared_folder(name, lambda folder: train(config, folder, num_seeds=seeds), temporary)


def shared_folder(
    name: str, make: Callable[[Path], object], temporary: pytest.TempPathFactory
) -> Path:
    """A folder that the first test which asks for it makes, for all tests in all processes."""
    base = temporary.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    root.mkdir(exist_ok=True)
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / name).exists():
            make(root / name)
    return root / name
