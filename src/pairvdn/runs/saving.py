"""Saving the state of runs, and finding the newest one to resume from."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from pairvdn.config.config import Checkpoints, Config
from pairvdn.learning import LearnerState
from pairvdn.learning.replay import Replay
from pairvdn.runs import checkpoint
from pairvdn.runs.checkpoint import DamagedError
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.runs.folder import BEST, VALUE_INSIDE, RunFolder
from pairvdn.runs.origin import (
    changed_settings,
    changed_software,
    extended_from,
    spans_the_run,
)
from pairvdn.values import Value

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


def save(folder: RunFolder, state: LearnerState, facts: Mapping[str, Any]) -> None:
    """Save the state of a run, after its metrics; a state without a replay is saved without it."""
    parts: dict[str, Any] = {"learner": without_replay(state)}
    if state.replay is not None and jax.tree.leaves(state.replay.items):
        used = int(state.replay.size)
        items = jax.tree.map(lambda leaf: leaf[:used], state.replay.items)
        parts["replay"] = eqx.tree_at(lambda r: r.items, state.replay, items)
    folder.sync_metrics()
    epoch = int(state.epoch)
    checkpoint.write(folder.checkpoint_at(epoch), parts, {"epoch": epoch, **facts})


def save_best(folder: RunFolder, value: Value[Any], facts: Mapping[str, Any]) -> None:
    """Save the value that gave the best evaluation so far; nothing resumes from it."""
    checkpoint.write(folder.checkpoints / BEST, {"learner": value}, facts, inside=VALUE_INSIDE)


def restore(path: Path, shape: LearnerState) -> LearnerState:
    """A saved state, bit for bit; with an empty replay if it was saved without one."""
    learner = checkpoint.read(path, "learner", without_replay(shape))
    if path.name != checkpoint.name_of(int(learner.epoch)):
        raise DamagedError(f"it holds the state after epoch {int(learner.epoch)}")
    replay = jax.tree.map(lambda like: np.zeros(like.shape, like.dtype), shape.replay)
    if checkpoint.has_part(path, "replay"):
        replay = _restored_replay(path, shape.replay)
    state: LearnerState = eqx.tree_at(
        lambda s: s.replay, learner, replay, is_leaf=lambda leaf: leaf is None
    )
    return state


def _restored_replay(path: Path, shape: Replay[Any]) -> Replay[Any]:
    stored = checkpoint.read(path, "replay", shape, by_rows=True)
    used, position = int(stored.size), int(stored.position)
    rows = {len(leaf) for leaf in jax.tree.leaves(stored.items)}
    if rows != {used} or not 0 <= position <= used:
        raise DamagedError("its replay does not have the rows that it counts")
    # With another capacity, rows are unrolled, oldest first; new rows go behind the newest one, and
    # the oldest ones that do not fit are dropped.
    capacity = shape.capacity
    kept = min(used, capacity)
    first, next_row = (0, position) if used == capacity else (position % max(used, 1), kept)

    def full(rows: np.ndarray, like: Any) -> np.ndarray:
        memory = np.zeros(like.shape, like.dtype)
        memory[:kept] = (np.roll(rows, -first, axis=0) if first else rows)[used - kept :]
        return memory  # the other rows were never written

    items = jax.tree.map(full, stored.items, shape.items)
    counts = tuple(np.asarray(one, stored.size.dtype) for one in (next_row % capacity, kept))
    replay: Replay[Any] = eqx.tree_at(
        lambda r: (r.items, r.position, r.size), stored, (items, *counts)
    )
    return replay


@dataclasses.dataclass(frozen=True)
class Restored:
    """Saved states of all runs, their training time so far, and their devices.

    Without `has_replay` the replays are empty: the runs had finished.
    """

    states: Sequence[LearnerState]
    seconds: float
    devices: str | None  # None in runs of older versions
    has_replay: bool


def newest_sound(
    folders: Sequence[RunFolder], shape: LearnerState, say: Callable[[str], None]
) -> Restored | None:
    """The newest intact states that all runs share; None if a run has none."""
    common = set.intersection(*(set(folder.saved_epochs()) for folder in folders))
    for epoch in sorted(common, reverse=True):
        paths = [folder.checkpoint_at(epoch) for folder in folders]
        try:
            states = [restore(path, shape) for path in paths]
            seconds = max(map(_seconds, paths))
            place = checkpoint.facts(paths[0]).get("place")
            has_replay = all(checkpoint.has_part(path, "replay") for path in paths)
        except DamagedError as error:
            name = paths[0].name
            say(f"warning: checkpoint {name} is damaged ({error}); trying the one before")
            continue
        return Restored(states, seconds, place if isinstance(place, str) else None, has_replay)
    if common or all(folder.saved_epochs() for folder in folders):
        raise RunError(
            f"{folders[0].path} has no intact checkpoint to resume from; nothing was changed. "
            "Train in another folder, or move its checkpoints away to start over."
        )
    if any(folder.saved_epochs() for folder in folders):  # stopped during the first save
        say("warning: not all seeds have a checkpoint yet; starting over")
    return None


def _seconds(path: Path) -> float:
    """The training time up to a checkpoint."""
    seconds = checkpoint.facts(path).get("seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < 1e12:
        raise DamagedError("it does not give its seconds")
    return float(seconds)


def require_unchanged(
    runs: Sequence[RunFolder],
    config: Config,
    seeds: Sequence[int] | None,
    *,
    changed: bool,
    say: Callable[[str], None],
) -> None:
    """Raise `FolderError` if results depend on something that changed after the last checkpoint.

    More epochs are allowed, and so is another commit of the source tree; both are said.
    """
    for run, seed in zip(runs, seeds or [config.seed], strict=True):
        facts = _newest_facts(run)
        phrases = [*changed_settings(facts, config, seed), *changed_software(facts)]
        if phrases and not changed:
            raise FolderError(
                f"{run.path} was trained with other settings or software: {'; '.join(phrases)}. "
                "Restore them, or add --changed to resume with the new ones (--epochs extends a "
                "run)."
            )
        phrases += changed_software(facts, ["python", "commit"])
        extended, schedules = extended_from(facts, config, seed), spans_the_run(config)
        if extended and schedules:
            phrases.append(
                f"the schedule of the {' and the '.join(schedules)} spanned {extended} epochs and "
                f"spans {config.epochs}"
            )
        if phrases:
            say(f"warning: the result may differ from one long run: {'; '.join(phrases)}")
            return  # the other seeds have the same settings


def _newest_facts(run: RunFolder) -> dict[str, Any]:
    """The facts of the newest checkpoint whose manifest is intact."""
    for path in reversed(run.saved()):
        with contextlib.suppress(checkpoint.DamagedError):
            return checkpoint.facts(path)
    return {}


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
    bare: LearnerState = eqx.tree_at(
        lambda s: s.replay, state, None, is_leaf=lambda leaf: leaf is None
    )
    return bare
