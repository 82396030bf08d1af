"""Simple Spread on the host learns as Simple Spread on the device does."""

from pathlib import Path

import numpy as np
import pytest

from pairvdn.config import load_preset
from pairvdn.runs import read_metrics, run_folders, train

SEEDS = 5
SETTINGS = {
    "epochs": 20,
    "learner.num_envs": 16,
    "learner.rounds_per_epoch": 20,
    "evaluation.every": 20,
}


def curves(folder: Path, key: str) -> np.ndarray:
    """One row for each seed, one column for each epoch."""
    return np.array([[line[key] for line in read_metrics(run)] for run in run_folders(folder)])


@pytest.mark.slow
def test_the_same_learning_curves(tmp_path: Path) -> None:
    ours = load_preset("simple-spread/vdn").replace(SETTINGS)
    theirs = ours.replace({"env.name": "pettingzoo:mpe2.simple_spread_v3"})
    train(ours, tmp_path / "device", num_seeds=SEEDS)
    train(theirs, tmp_path / "host", num_seeds=SEEDS)
    for key in ("env_steps", "updates", "episodes", "epsilon"):
        device, host = (curves(tmp_path / place, key) for place in ("device", "host"))
        np.testing.assert_array_equal(device, host)
    for key in ("mean_return", "loss", "greedy_value"):
        for part in (slice(0, 5), slice(5, 10), slice(10, 20)):
            device, host = (
                curves(tmp_path / place, key)[:, part].mean(axis=1) for place in ("device", "host")
            )
            error = np.sqrt((device.var(ddof=1) + host.var(ddof=1)) / SEEDS)
            # 9 comparisons of 5 seeds: t with 8 degrees of freedom leaves 4.5 once in 50 tests.
            assert abs(device.mean() - host.mean()) < 4.5 * error, (key, part, device, host)
