"""Runs so small that a test can train them."""

from pathlib import Path

from pairvdn.experiment import load_preset, train

GAME = {
    "epochs": 4,
    "evaluation.every": 2,
    "learner.num_envs": 4,
    "learner.rounds_per_epoch": 1,
    "learner.updates_per_round": 2,
    "learner.replay_capacity": 256,
    "learner.batch_size": 8,
    "learner.random_decisions": 2,
    "method.hidden_sizes": (4,),
}
BOXES = {
    "epochs": 2,
    "evaluation.every": 1,
    "evaluation.episodes": 2,
    "env.num_boxes": 2,
    "env.max_steps": 8,
    "learner.num_envs": 2,
    "learner.rounds_per_epoch": 1,
    "learner.decisions_per_round": 2,
    "learner.updates_per_round": 1,
    "learner.random_decisions": 4,
    "learner.replay_capacity": 64,
    "learner.batch_size": 4,
    "method.hidden_sizes": (4,),
}


def train_small(preset: str, folder: Path, changes: dict, *, seeds: int | None = None) -> Path:
    """Train a preset with these changes."""
    train(load_preset(preset).replace(changes), folder, num_seeds=seeds)
    return folder
