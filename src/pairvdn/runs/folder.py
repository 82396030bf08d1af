"""What is where in a run folder.

```
RUN/
  config.toml      every setting, resolved
  versions.json    what it was made with
  metrics.jsonl    one line an epoch; all that depends on the clock is under "clock"
  checkpoints/     epoch-000012/ ..., and best/, by the evaluations while training
  evaluations/     results of `pairvdn evaluate`
  lock             held by the process that trains
```
A folder of several seeds has `seeds.json` and `config.toml`, and a run `seed-K` for each seed.
"""

import dataclasses
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pairvdn.runs import checkpoint
from pairvdn.runs.checkpoint import write_text
from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.runs.versions import versions

CLOCK = "clock"  # the key of a line of metrics under which all that depends on time is
BEST = "best"
VALUE_INSIDE = ".learned.value"  # where a checkpoint's part `learner` has what acts
REPLAYS_KEPT = 2
# What a process leaves behind that dies before the folder is a run.
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
        """One line of JSON an epoch."""
        return self.path / "metrics.jsonl"

    @property
    def checkpoints(self) -> Path:
        """Saved states."""
        return self.path / "checkpoints"

    @property
    def evaluations(self) -> Path:
        """Where results of evaluations belong."""
        return self.path / "evaluations"

    def create(self, config: Config) -> None:
        """Write what does not change; the config comes last and makes the folder a run."""
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        self.evaluations.mkdir(exist_ok=True)
        write_text(self.path / "versions.json", json.dumps(versions(), indent=2) + "\n")
        write_text(self.path / "config.toml", config.to_toml())

    def saved(self) -> list[Path]:
        """Checkpoints by epoch, oldest first, whether sound or not; the best is not among them."""
        return sorted(self.checkpoints.glob("epoch-*"))

    def checkpoint_at(self, epoch: int) -> Path:
        """Where the state after so many epochs is saved."""
        return self.checkpoints / f"epoch-{epoch:06d}"

    def prune(self, keep: int) -> None:
        """Remove all but the newest checkpoints, and all but the newest replays."""
        newest_first = self.saved()[::-1]
        for old in newest_first[keep:]:
            shutil.rmtree(old)
        for old in newest_first[REPLAYS_KEPT:keep]:
            (old / "replay.npz").unlink(missing_ok=True)

    def forget_after(self, epoch: int) -> None:
        """Remove checkpoints of later epochs: damaged, unfinished, or not shared by all seeds."""
        later = [path for path in self.saved() if path.name > self.checkpoint_at(epoch).name]
        for path in [*later, *self.checkpoints.glob(".new-*")]:
            shutil.rmtree(path)

    def append(self, line: Mapping[str, Any]) -> None:
        """Add a line of metrics."""
        with self.metrics.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def sync_metrics(self) -> None:
        """Make the lines last: a checkpoint must not be older than they are."""
        with self.metrics.open("a", encoding="utf-8") as file:
            os.fsync(file.fileno())

    def cut(self, epochs: int) -> None:
        """Keep the lines of the first `epochs` epochs."""
        kept = [line for line in read_metrics(self.path) if line["epoch"] < epochs]
        if len(kept) < epochs:
            raise RunError(
                f"{self.metrics} has lines for {len(kept)} of the {epochs} epochs that are saved."
            )
        write_text(self.metrics, "".join(json.dumps(line) + "\n" for line in kept))


def read_config(folder: Path, *, trust: bool = False) -> Config:
    """The config of a run folder or of a folder of several seeds.

    Without `trust`, one that names modules to import is refused: see `config.registry`.
    """
    require_run(folder)
    file = folder / "config.toml"
    try:
        return Config.from_toml(file.read_text(encoding="utf-8"), trust=trust)
    except (ConfigError, UnicodeDecodeError) as error:
        raise FolderError(f"{file} cannot be used: {error}") from error


def require_run(folder: Path) -> None:
    """Refuse a folder that holds no run; its config is not read."""
    if not folder.exists():
        raise FolderError(f"There is no folder {folder}.")
    if not (folder / "config.toml").is_file():
        raise FolderError(f"{folder} is not a run folder: it has no config.toml.")


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The metrics of a run, as far as they have been written."""
    try:
        text = (folder / "metrics.jsonl").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    try:
        return parse_metrics(text)
    except ValueError as error:
        raise FolderError(f"{folder / 'metrics.jsonl'} cannot be used: {error}") from error


def parse_metrics(text: str) -> list[dict[str, Any]]:
    """The lines of metrics; one that is only half written yet is left out."""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


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
    """The runs in a folder: itself, or one for each seed."""
    folder = Path(folder)
    require_run(folder)
    seeds = seeds_of(folder)
    return [folder] if seeds is None else [folder / f"seed-{seed}" for seed in seeds]


def has_best(folder: Path) -> bool:
    """Whether a run has a best checkpoint; one that was exported has only its last."""
    return (RunFolder(folder).checkpoints / BEST).exists()


def is_finished(folder: Path, config: Config) -> bool:
    """Whether the state after the last epoch is saved and sound."""
    last = RunFolder(folder).checkpoint_at(config.epochs)
    try:
        checkpoint.verify(last, optional=["replay"])
    except checkpoint.DamagedError:
        return False
    return True


def require_new(folder: Path) -> None:
    """Refuse a folder that holds anything but what a start that failed leaves behind."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FolderError(f"{folder} is a file; a run needs a folder.")
    if any(entry.name not in _LEFTOVERS for entry in folder.iterdir()):
        raise FolderError(
            f"{folder} exists; `pairvdn resume {folder}` goes on, --out chooses another."
        )
