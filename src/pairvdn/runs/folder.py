"""Run folders: their layout, their text files, their lock, and those that ship with the package.

```
RUN/
  config.toml      every setting, resolved
  versions.json    the software and device it was made with
  metrics.jsonl    one line per epoch; everything that depends on time is under "clock"
  checkpoints/     epoch-000012/ ..., and best/, chosen by the evaluations during training;
                   aside-NAME/ could not be used, and stays until its epoch is saved again
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
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from pairvdn.checks import hint
from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.runs import checkpoint, metrics
from pairvdn.runs.errors import BusyError, FolderError
from pairvdn.runs.files import (
    is_unchanged,
    make_folder,
    open_own,
    parse_json,
    read_text,
    remove,
    require_no_link,
    signed,
    to_json,
    write_text,
)
from pairvdn.runs.versions import versions

BEST = "best"
REPLAY = "replay.npz"
PRETRAINED = "pretrained:"  # prefix of the names of shipped runs
VALUE_INSIDE = ".learned.value"  # the path of the value in a checkpoint's part `learner`
REPLAYS_KEPT = 2
_EPOCH = re.compile(r"epoch-(\d{6,18})")
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
        return self.path / metrics.METRICS

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
        make_folder(self.checkpoints)
        make_folder(self.evaluations)
        write_text(self.path / "versions.json", json.dumps(versions(), indent=2) + "\n")
        self.write_config(config)

    def write_config(self, config: Config) -> None:
        """Write or replace the config."""
        write_text(self.path / "config.toml", config.to_toml())

    def saved_epochs(self) -> list[int]:
        """The epochs of all checkpoints, intact or not, in order."""
        epochs = map(_epoch_of, self.checkpoints.glob("epoch-*"))
        return sorted(epoch for epoch in epochs if epoch >= 0)

    def trained_epochs(self) -> int:
        """The epoch of the newest checkpoint whose manifest is intact; 0 if there is none."""
        for saved in reversed(self.saved()):
            with contextlib.suppress(checkpoint.DamagedError):
                return int(checkpoint.facts(saved)["epoch"])
        return 0

    def saved(self) -> list[Path]:
        """Checkpoints by epoch, oldest first, intact or not, without the best one."""
        return list(map(self.checkpoint_at, self.saved_epochs()))

    def checkpoint_at(self, epoch: int) -> Path:
        """The checkpoint after `epoch` epochs."""
        return self.checkpoints / checkpoint.name_of(epoch)

    def best(self) -> Path:
        """The checkpoint with the best evaluation, if there is one."""
        return checkpoint.existing(self.checkpoints / BEST)

    def append(self, line: Mapping[str, Any]) -> None:
        """Add a line of metrics."""
        metrics.append_line(self.metrics, line)

    def cut(self, epochs: int) -> None:
        """Keep only the metrics of the first `epochs` epochs."""
        metrics.cut(self.metrics, epochs)

    def has_best(self, epochs: int | None = None) -> bool:
        """Whether there is a best checkpoint, of one of the first `epochs` epochs if given."""
        try:
            epoch: int = checkpoint.facts(self.best())["epoch"]
        except checkpoint.DamagedError:
            return False
        return epochs is None or epoch <= epochs

    def sync_metrics(self) -> None:
        """Write the lines to disk: a checkpoint must not be newer than they are."""
        metrics.sync(self.metrics)

    def prune(self, keep: int) -> None:
        """Remove all but the newest checkpoints, and all but the newest replays."""
        newest_first = self.saved()[::-1]
        for old in newest_first[keep:]:
            remove(old)
        self.drop_replays(REPLAYS_KEPT)
        last = max(self.saved_epochs(), default=-1)
        for aside in self.checkpoints.glob("aside-epoch-*"):
            if 0 <= _epoch_of(aside, prefix="aside-") <= last:  # that epoch was trained again
                remove(aside)

    def has_replays(self) -> bool:
        """Whether a checkpoint has a replay."""
        return any((saved / REPLAY).exists() for saved in self.saved())

    def drop_replays(self, keep: int) -> None:
        """Remove the replays of all but the newest `keep` checkpoints."""
        for old in self.saved()[::-1][keep:]:
            (old / REPLAY).unlink(missing_ok=True)

    def forget_after(self, epoch: int) -> None:
        """Put checkpoints of later epochs aside: damaged, or missing in another seed."""
        for later in self.saved_epochs():
            if later > epoch:
                self.put_aside(self.checkpoint_at(later))
        for path in self.checkpoints.glob(".new-*"):
            remove(path)

    def put_aside(self, path: Path) -> Path:
        """Rename a checkpoint that cannot be used."""
        aside = self.checkpoints / f"aside-{path.name.removeprefix('.old-')}"
        remove(aside)
        return path.rename(aside)


def _epoch_of(path: Path, prefix: str = "") -> int:
    """The epoch in the name of a checkpoint; -1 for a name that no run writes."""
    found = _EPOCH.fullmatch(path.name.removeprefix(prefix))
    epoch = -1 if found is None else int(found[1])
    return epoch if path.name == prefix + checkpoint.name_of(epoch) else -1


def read_config(folder: Path, *, trust: bool = False) -> Config:
    """The config of a run folder or of a folder of several seeds.

    `trust` imports the modules that the config names: only for folders that you trust.
    """
    require_run(folder)
    file = folder / "config.toml"
    try:
        return Config.from_toml(read_text(file), trust=trust)
    except ConfigError as error:
        raise FolderError(f"{file} cannot be used: {error}") from error


def require_run(folder: Path) -> None:
    """Raise `FolderError` unless a folder holds one run or several; does not read the config."""
    if not folder.exists():
        raise FolderError(f"There is no folder {folder}.")
    if not (folder / "config.toml").is_file():
        raise FolderError(f"{folder} is not a run folder: it has no config.toml.")


def seeds_text(seeds: Sequence[int]) -> str:
    """The contents of `seeds.json`."""
    return signed(to_json({"seeds": list(seeds)}))


def parse_seeds(text: str, file: Path | str) -> list[int]:
    """The inverse of `seeds_text`."""
    found = parse_json(file, text)
    seeds = found.get("seeds") if isinstance(found, dict) else None
    if not isinstance(seeds, list) or not seeds or not all(map(_is_seed, seeds)):
        raise FolderError(f"{file} cannot be used: it is not a list of seeds.")
    if len(set(seeds)) < len(seeds) or not is_unchanged(text):
        raise FolderError(f"{file} was changed after it was written: restore it.")
    return seeds


def _is_seed(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**32


def seeds_of(folder: Path) -> list[int] | None:
    """The seeds of a folder that holds several runs; None for any other folder."""
    file = folder / "seeds.json"
    try:
        return parse_seeds(read_text(file), file)
    except (FileNotFoundError, NotADirectoryError):
        return None


def run_folders(folder: str | Path) -> list[Path]:
    """The runs in a folder: the folder itself, or one run for each seed."""
    folder = Path(folder)
    require_run(folder)
    seeds = seeds_of(folder)
    return [folder] if seeds is None else [folder / f"seed-{seed}" for seed in seeds]


def is_finished(folder: Path, config: Config) -> bool:
    """Whether the state after the last epoch is saved, intact, and the newest one."""
    run = RunFolder(folder)
    if run.saved_epochs()[-1:] != [config.epochs]:
        return False
    try:
        checkpoint.verify(run.checkpoint_at(config.epochs), optional=["replay"])
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
    the next process overwrites it. A folder with symbolic links is refused: a run would write to
    the files behind them.
    """
    run = RunFolder(folder)
    inside = [*run.checkpoints.glob("*")] if run.checkpoints.is_dir() else []
    # W&B makes links of its own inside its folder; TensorBoard does not.
    loggers = [folder / "wandb", folder / "tensorboard", *(folder / "tensorboard").glob("*")]
    require_no_link(run.metrics, run.checkpoints, run.evaluations, *inside, *loggers)
    with open_own(folder / "lock", os.O_RDWR | os.O_CREAT, "r+") as file:
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
