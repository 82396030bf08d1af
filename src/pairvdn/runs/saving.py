"""Saving the state of runs, and finding the newest one to resume from."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from pairvdn.config.config import Checkpoints
from pairvdn.learning import LearnerState
from pairvdn.runs import checkpoint
from pairvdn.runs.checkpoint import DamagedError
from pairvdn.runs.errors import RunError
from pairvdn.runs.folder import BEST, RunFolder

# The time between two saves is at least this many times the duration of the first of them.
LEAST_REST = 20


@contextlib.contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn an error of the file system into one line that names the last good checkpoint."""
    try:
        yield
    except BrokenPipeError:  # of the terminal, not of the folder
        raise
    except OSError as error:
        saved = RunFolder(folder).saved() if folder.is_dir() else []
        left = f"; the last good checkpoint is {saved[-1].name}" if saved else ""
        reason = error.strerror or str(error)
        raise RunError(f"Cannot write to {error.filename or folder}: {reason}{left}.") from error


def save(folder: RunFolder, state: LearnerState, *, seconds: float, devices: str) -> None:
    """Save the whole state of a run, after its metrics."""
    epoch = int(state.epoch)
    used = int(state.replay.size)
    replay = eqx.tree_at(
        lambda r: r.items, state.replay, jax.tree.map(lambda leaf: leaf[:used], state.replay.items)
    )
    parts = {"learner": without_replay(state), "replay": replay}
    folder.sync_metrics()
    facts = {"epoch": epoch, "seconds": seconds, "place": devices}
    checkpoint.write(folder.checkpoint_at(epoch), parts, facts)


def save_best(folder: RunFolder, bare: LearnerState, *, mean_return: float) -> None:
    """Save the state, without replay, that gave the best evaluation so far."""
    facts = {"epoch": int(bare.epoch), "return": mean_return}
    checkpoint.write(folder.checkpoints / BEST, {"learner": bare}, facts)


def restore(path: Path, shape: LearnerState) -> LearnerState:
    """A saved state, bit for bit."""
    learner = checkpoint.read(path, "learner", without_replay(shape))
    replay = checkpoint.read(path, "replay", shape.replay)
    for array, like in zip(
        jax.tree.leaves(learner), jax.tree.leaves(without_replay(shape)), strict=True
    ):
        require_same(path, array, like)

    def full(rows: np.ndarray, like: Any) -> np.ndarray:
        require_same(path, rows, like, of_rows=True)
        memory = np.zeros(like.shape, like.dtype)
        memory[: len(rows)] = rows  # the other rows were never written
        return memory

    items = jax.tree.map(full, replay.items, shape.replay.items)
    replay = eqx.tree_at(lambda r: r.items, replay, items)
    state: LearnerState = eqx.tree_at(
        lambda s: s.replay, learner, replay, is_leaf=lambda leaf: leaf is None
    )
    return state


@dataclasses.dataclass(frozen=True)
class Restored:
    """Saved states of all runs, their training time so far, and their devices."""

    states: Sequence[LearnerState]
    seconds: float
    devices: str | None  # None in runs of older versions


def newest_sound(
    folders: Sequence[RunFolder], shape: LearnerState, say: Callable[[str], None]
) -> Restored | None:
    """The newest intact states that all runs share, with replay; None if a run has none."""
    common = set.intersection(*({path.name for path in folder.saved()} for folder in folders))
    for name in sorted(common, reverse=True):
        paths = [folder.checkpoints / name for folder in folders]
        try:
            states = [restore(path, shape) for path in paths]
            facts = checkpoint.facts(paths[0])
        except DamagedError as error:
            say(f"warning: checkpoint {name} is damaged ({error}); trying the one before")
            continue
        return Restored(states, float(facts["seconds"]), facts.get("place"))
    if common or all(folder.saved() for folder in folders):
        raise RunError(
            f"{folders[0].path} has no intact checkpoint to resume from; nothing was changed. "
            "Train in another folder, or move its checkpoints away to start over."
        )
    if any(folder.saved() for folder in folders):  # stopped during the first save
        say("warning: not all seeds have a checkpoint yet; starting over")
    return None


class Rest:
    """Decides when to save again."""

    def __init__(self, settings: Checkpoints, epoch: int) -> None:
        self._settings = settings
        self._epoch = epoch
        self._free_at = time.monotonic() + settings.seconds

    def is_over(self, epoch: int) -> bool:
        """Whether enough epochs and enough time have passed."""
        enough = epoch - self._epoch >= self._settings.every
        return enough and time.monotonic() >= self._free_at

    def begin(self, epoch: int, cost: float) -> None:
        """A checkpoint was written in `cost` seconds."""
        self._epoch = epoch
        self._free_at = time.monotonic() + max(self._settings.seconds, LEAST_REST * cost)


def without_replay(state: LearnerState) -> LearnerState:
    """A state without its largest part, which only resuming needs."""
    bare: LearnerState = eqx.tree_at(lambda s: s.replay, state, None)
    return bare


def require_same(path: Path, array: Any, like: Any, *, of_rows: bool = False) -> None:
    """Raise `RunError` unless an array, or its rows, has the shape and type of the config."""
    first = 1 if of_rows else 0
    if (array.shape[first:], array.dtype) != (like.shape[first:], like.dtype):
        raise RunError(f"{path} does not fit config.toml; was that file changed?")
