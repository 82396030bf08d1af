"""A small run with every checkpoint, for tests that damage copies of it."""

from pathlib import Path

import pytest
from small_runs import GAME, shared_folder

from pairvdn.config import load_preset
from pairvdn.runs import train

EPOCHS = 4
CONFIG = load_preset("climbing/vdn").replace(
    {**GAME, "epochs": EPOCHS, "checkpoints.seconds": 0, "checkpoints.keep_replay": True}
)


def attacked_run(temporary: pytest.TempPathFactory) -> Path:
    """The folder of the run. Tests must not change it: they share it."""

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pairvdn.runs.saving.LEAST_REST", 0)
            train(CONFIG, folder)

    return shared_folder("attacked", make, temporary)


def newest(run: Path) -> Path:
    """Its last checkpoint."""
    return run / "checkpoints" / f"epoch-{EPOCHS:06d}"
