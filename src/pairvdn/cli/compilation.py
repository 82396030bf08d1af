"""Less waiting for the compiler: a cache of compiled programs, and fewer passes of LLVM.

Only the command line does this; importing `pairvdn` changes no setting of JAX.
"""

import contextlib
import os
import platform
import sys
import zlib
from importlib.metadata import entry_points
from pathlib import Path

FOLDER, ENABLED = "JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE"
LEAST_SECONDS = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"
MOST_BYTES = 2 * 2**30
FLAGS, LEVEL = "XLA_FLAGS", "--xla_backend_optimization_level"


def compile_quickly() -> None:
    """Have XLA compile for CPUs at level 1, unless the user chose a level.

    Programs compile in about two thirds of the time and run as fast. Processes that the command
    starts inherit the level. With a plug-in for another device XLA keeps its own.
    """
    flags = os.environ.get(FLAGS, "")
    if LEVEL in flags or "jax" in sys.modules or entry_points(group="jax_plugins"):
        return
    os.environ[FLAGS] = f"{flags} {LEVEL}=1".strip()


def use_compilation_cache() -> None:
    """Choose a folder in the user's cache directory through JAX's variables, unless they are set.

    Processes that the command starts inherit them.
    """
    if FOLDER in os.environ or ENABLED in os.environ or "jax" in sys.modules:
        return
    folder = cache_folder()
    with contextlib.suppress(OSError):  # without a home that can be written, there is no cache
        folder.mkdir(parents=True, exist_ok=True)
        prune(folder, MOST_BYTES)
        os.environ[FOLDER] = str(folder)
        # JAX stores what took a second; the many programs of a small game take less.
        os.environ.setdefault(LEAST_SECONDS, "0.1")


def cache_folder() -> Path:
    """The folder of this kind of CPU: programs compiled for another one may crash here."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "pairvdn" / f"compiled-{platform.machine()}-{_cpu_features():08x}"


def prune(folder: Path, most_bytes: int) -> None:
    """Remove the files that were not read for the longest time, until the rest fits."""
    files = [(file, file.stat()) for file in folder.iterdir() if file.is_file()]
    excess = sum(facts.st_size for _, facts in files) - most_bytes
    for file, facts in sorted(files, key=lambda one: one[1].st_atime):
        if excess <= 0:
            return
        file.unlink(missing_ok=True)  # another process may prune at the same time
        excess -= facts.st_size


def _cpu_features() -> int:
    """A checksum of the instruction sets that Linux reports; elsewhere, of the CPU's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    features = (line for line in lines if line.startswith(("flags", "Features")))
    return zlib.crc32(next(features, platform.processor()).encode())
