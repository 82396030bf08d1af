"""A run without what only training needs: small enough to mail, or to ship in a package."""

import shutil
from pathlib import Path
from typing import Literal

import equinox as eqx

from pairvdn.runs import checkpoint
from pairvdn.runs.folder import VALUE_INSIDE, RunFolder, require_new
from pairvdn.runs.load import load
from pairvdn.runs.saving import explained


def export(
    folder: str | Path,
    out: str | Path,
    which: Literal["last", "best"] = "last",
    *,
    trust: bool = False,
) -> int:
    """Write what a run has learned, its config and versions into a new folder; its size in bytes.

    It is a run folder for everything but training: evaluate, watch, play and load take it. The
    replay, the environments, the optimiser's moments and the target network stay behind.
    """
    loaded, small = load(folder, which, trust=trust), RunFolder(Path(out))
    require_new(small.path)
    with explained(small.path):
        small.checkpoints.mkdir(parents=True, exist_ok=True)
        checkpoint.write(
            small.checkpoint_at(loaded.epoch),
            {"learner": eqx.filter(loaded.value, eqx.is_array)},
            {"epoch": loaded.epoch},
            inside=VALUE_INSIDE,
        )
        for name in ("versions.json", "config.toml"):
            shutil.copyfile(loaded.folder / name, small.path / name)
    return sum(file.stat().st_size for file in small.path.rglob("*") if file.is_file())
