"""The software and the device that train a run."""

import functools
import platform
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import jax

PACKAGES = ("pairvdn", "jax", "jaxlib", "equinox", "optax", "numpy")


def versions() -> dict[str, str | None]:
    """Versions of Python and of the libraries, the commit if there is one, and the device."""
    return {**software(), "device": jax.devices()[0].device_kind}


@functools.cache
def software() -> Mapping[str, str | None]:
    """The same without the device, which JAX must not look up before processes connect."""
    return {
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in PACKAGES},
        "commit": _commit(),
    }


def _commit() -> str | None:
    """The commit of this source tree; None for an installed package."""
    here = Path(__file__).parent
    if _git(here, "ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None
    return _git(here, "rev-parse", "HEAD")


def _git(folder: Path, *command: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *command], cwd=folder, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
