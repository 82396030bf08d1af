"""Cooperative multi-agent Q-learning with pair-wise joint values, maximised exactly."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from pairvdn.runs.load import Loaded


def __getattr__(name: str) -> str:
    """`__version__`, looked up when it is needed: importing the metadata takes 0.1 s."""
    if name != "__version__":
        raise AttributeError(f"module 'pairvdn' has no attribute {name!r}")
    from importlib.metadata import version

    return version("pairvdn")


def load(
    folder: "str | Path", checkpoint: Literal["last", "best"] = "last", *, trust: bool = False
) -> "Loaded":
    """Load the learned value of a run: `pairvdn.load("runs/x").value`, `.env`, `.config`.

    `trust` allows importing classes named in the run's config; use it only for folders you trust.
    """
    # Imported here, so that `import pairvdn` does not take the seconds that jax needs.
    from pairvdn.runs.load import load as load_run

    return load_run(folder, checkpoint, trust=trust)
