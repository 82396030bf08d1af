"""Run folders: their layout, their text files, their lock, and those that ship with the package.

```
RUN/
  config.toml      every setting, resolved
  versions.json    the software and device it was made with
  metrics.jsonl    one line per epoch; everything that depends on time is under "clock"
  checkpoints/     epoch-000012/ ..., and best/, chosen by the evaluations during training
  evaluations/     results of `pairvdn evaluate`
  lock             held by the training process
```
A folder of several seeds has `seeds.json`, `config.toml`, and a run folder `seed-K` for each seed.
"""

import contextlib
import dataclasses
import fcntl
import json
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pairvdn.checks import hint
from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.runs import checkpoint
from pairvdn.runs.checkpoint import write_text
from pairvdn.runs.errors import BusyError, FolderError, RunError
from pairvdn.runs.versions import versions

CLOCK = "clock"  # the key, in a line of metrics, of everything that depends on time
BEST = "best"
PRETRAINED = "pretrained:"  # prefix of the names of shipped runs
VALUE_INSIDE = ".learned.value"  # the path of the value in a checkpoint's part `learner`
REPLAYS_KEPT = 2
# Files of a process that died before the folder became a run.
_LEFTOVERS = {
    "lock",
    "checkpoints",
    "evaluations",
    "versions.json",
    "seeds.json",
    ".new-versions.json",
    ".new-seeds.json",
    ".new-config.toml",
}


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @property
    def metrics(self) -> Path:
        """One line of JSON per epoch."""
        return self.path / "metrics.jsonl"

    @property
    def checkpoints(self) -> Path:
        """Saved states."""
        return self.path / "checkpoints"

    @property
    def evaluations(self) -> Path:
        """Results of `pairvdn evaluate`."""
        return self.path / "evaluations"

    def create(self, config: Config) -> None:
        """Write the constant files; the config comes last and makes the folder a run."""
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        self.evaluations.mkdir(exist_ok=True)
        write_text(self.path / "versions.json", json.dumps(versions(), indent=2) + "\n")
        write_text(self.path / "config.toml", config.to_toml())

    def saved(self) -> list[Path]:
        """Checkpoints by epoch, oldest first, intact or not, without the best one."""
        return sorted(self.checkpoints.glob("epoch-*"))

    def checkpoint_at(self, epoch: int) -> Path:
        """The checkpoint after `epoch` epochs."""
        return self.checkpoints / f"epoch-{epoch:06d}"

    def best(self) -> Path:
        """The checkpoint with the best evaluation, if there is one."""
        return checkpoint.existing(self.checkpoints / BEST)

    def has_best(self, epochs: int | None = None) -> bool:
        """Whether there is a best checkpoint, of one of the first `epochs` epochs if given."""
        try:
            epoch = int(checkpoint.facts(self.best())["epoch"])
        except checkpoint.DamagedError:
            return False
        return epochs is None or epoch <= epochs

    def prune(self, keep: int) -> None:
        """Remove all but the newest checkpoints, and all but the newest replays."""
        newest_first = self.saved()[::-1]
        for old in newest_first[keep:]:
            shutil.rmtree(old)
        for old in newest_first[REPLAYS_KEPT:keep]:
            (old / "replay.npz").unlink(missing_ok=True)

    def forget_after(self, epoch: int) -> None:
        """Remove checkpoints of later epochs: damaged, incomplete, or missing in another seed."""
        later = [path for path in self.saved() if path.name > self.checkpoint_at(epoch).name]
        for path in [*later, *self.checkpoints.glob(".new-*")]:
            shutil.rmtree(path)

    def append(self, line: Mapping[str, Any]) -> None:
        """Add a line of metrics."""
        with self.metrics.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def sync_metrics(self) -> None:
        """Write the lines to disk: a checkpoint must not be newer than they are."""
        with self.metrics.open("a", encoding="utf-8") as file:
            os.fsync(file.fileno())

    def cut(self, epochs: int) -> None:
        """Keep only the metrics of the first `epochs` epochs."""
        kept = [line for line in read_metrics(self.path) if line["epoch"] <= epochs]
        if len(kept) < epochs:
            raise RunError(
                f"{self.metrics} has {len(kept)} lines, fewer than the {epochs} epochs of the "
                "checkpoint: restore the file, or train in another folder."
            )
        write_text(self.metrics, "".join(json.dumps(line) + "\n" for line in kept))


def read_config(folder: Path, *, trust: bool = False) -> Config:
    """The config of a run folder or of a folder of several seeds.

    `trust` imports the modules that the config names: only for folders that you trust.
    """
    require_run(folder)
    file = folder / "config.toml"
    try:
        return Config.from_toml(file.read_text(encoding="utf-8"), trust=trust)
    except (ConfigError, UnicodeDecodeError) as error:
        raise FolderError(f"{file} cannot be used: {error}") from error


def require_run(folder: Path) -> None:
    """Raise `FolderError` unless a folder holds one run or several; does not read the config."""
    if not folder.exists():
        raise FolderError(f"There is no folder {folder}.")
    if not (folder / "config.toml").is_file():
        raise FolderError(f"{folder} is not a run folder: it has no config.toml.")


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The metrics of a run so far, one record per epoch."""
    try:
        text = (folder / "metrics.jsonl").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    try:
        return parse_metrics(text)
    except ValueError as error:
        raise FolderError(f"{folder / 'metrics.jsonl'} cannot be used: {error}") from error


def parse_metrics(text: str) -> list[dict[str, Any]]:
    """The lines of metrics, without an incomplete last one. Epochs count from 1.

    Version 0.1 counted from 0: such lines are renumbered, and a resumed run writes them so.
    """
    lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    if lines and lines[0]["epoch"] == 0:
        return [{**line, "epoch": line["epoch"] + 1} for line in lines]
    return lines


def seeds_of(folder: Path) -> list[int] | None:
    """The seeds of a folder that holds several runs; None for any other folder."""
    try:
        seeds: list[int] = json.loads((folder / "seeds.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise FolderError(f"{folder / 'seeds.json'} cannot be used: {error}") from error
    return seeds


def run_folders(folder: str | Path) -> list[Path]:
    """The runs in a folder: the folder itself, or one run for each seed."""
    folder = Path(folder)
    require_run(folder)
    seeds = seeds_of(folder)
    return [folder] if seeds is None else [folder / f"seed-{seed}" for seed in seeds]


def is_finished(folder: Path, config: Config) -> bool:
    """Whether the state after the last epoch is saved and intact."""
    last = RunFolder(folder).checkpoint_at(config.epochs)
    try:
        checkpoint.verify(last, optional=["replay"])
    except checkpoint.DamagedError:
        return False
    return True


def require_new(folder: Path) -> None:
    """Raise `FolderError` if a folder holds more than the leftovers of a failed start."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FolderError(f"{folder} is a file; a run needs a folder.")
    if any(entry.name not in _LEFTOVERS for entry in folder.iterdir()):
        raise FolderError(
            f"{folder} exists: resume it with `pairvdn resume {folder}`, or choose another folder."
        )


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder/lock`, or raise `BusyError` if another living process holds it.

    The kernel drops the lock when its process dies. The text in the file is then out of date, and
    the next process overwrites it.
    """
    with (folder / "lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            raise BusyError(f"{folder} is being trained by {holder}; stop that first.") from None
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        yield


def pretrained_names() -> tuple[str, ...]:
    """The names of all runs that ship with the package."""
    return tuple(sorted(entry.name for entry in _shipped().iterdir() if entry.is_dir()))


def run_path(name: str | Path) -> Path:
    """The folder of a run, given as a path or as `pretrained:NAME`."""
    if not str(name).startswith(PRETRAINED):
        return Path(name)
    shipped = str(name).removeprefix(PRETRAINED)
    if shipped not in pretrained_names():
        raise FolderError(f"There is no {name}; {hint(shipped, pretrained_names())}")
    return _shipped() / shipped


def is_pretrained(folder: Path) -> bool:
    """Whether a folder ships with the package, where nothing may be written."""
    return folder.parent == _shipped()


def _shipped() -> Path:
    return Path(str(resources.files("pairvdn"))) / "pretrained"
