"""Cooperative multi-agent Q-learning with pair-wise joint values, maximised exactly."""

from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from pairvdn.runs.load import Loaded

__version__ = version("pairvdn")


def load(
    folder: "str | Path",
    checkpoint: Literal["last", "best"] = "last",
    *,
    trust: bool = False,
) -> "Loaded":
    """Load a trained run: `pairvdn.load("runs/x").value`, `.env`, `.config`.

    Without `trust`, a run whose config names modules to import is refused.
    """
    # Only here: `import pairvdn` alone must not take the seconds that jax needs.
    from pairvdn.runs.load import load as load_run

    return load_run(folder, checkpoint, trust=trust)
