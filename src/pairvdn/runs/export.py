"""Exporting a run: its value without the training state, small enough to share."""

import shutil
from pathlib import Path

import equinox as eqx

from pairvdn.runs import checkpoint as checkpoints
from pairvdn.runs.folder import VALUE_INSIDE, RunFolder, require_new
from pairvdn.runs.load import Which, load
from pairvdn.runs.saving import explained


def export(
    folder: str | Path, out: str | Path, checkpoint: Which = "last", *, trust: bool = False
) -> int:
    """Copy the value, config and versions of a run into a new folder, and return its size in bytes.

    `load`, evaluate, watch and play accept the copy. It cannot be trained further: it lacks the
    replay, the environments, the optimiser's state and the target network.
    """
    loaded, small = load(folder, checkpoint, trust=trust), RunFolder(Path(out))
    require_new(small.path)
    with explained(small.path):
        small.checkpoints.mkdir(parents=True, exist_ok=True)
        checkpoints.write(
            small.checkpoint_at(loaded.epoch),
            {"learner": eqx.filter(loaded.value, eqx.is_array)},
            {"epoch": loaded.epoch},
            inside=VALUE_INSIDE,
        )
        for name in ("versions.json", "config.toml"):
            shutil.copyfile(loaded.folder / name, small.path / name)
    return sum(file.stat().st_size for file in small.path.rglob("*") if file.is_file())
