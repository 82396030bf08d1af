"""Cells: the runs of a study, one folder each; training, evaluating and checking one of them.

A cell runs on any machine, and can be run again whenever it was cut off.
"""

import dataclasses
import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pairvdn.checks import require_at_least
from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.toml import read_toml
from pairvdn.envs import StepError
from pairvdn.learning import Diverged
from pairvdn.runs.analysis.evaluate import Settings, evaluate
from pairvdn.runs.checkpoint import MANIFEST
from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import BusyError, FolderError, Interrupted, RunError
from pairvdn.runs.folder import RunFolder, parse_seeds
from pairvdn.runs.metrics import evaluations, parse_metrics
from pairvdn.runs.train import resume, train
from pairvdn.studies.storage import Storage, Workplace

State = Literal["running", "finished", "finished before", "busy", "diverged", "failed", "stopped"]
# Seconds between reports, which travel to another process; an epoch may take a millisecond.
_REPORT_INTERVAL = 0.2

# Errors that the user can fix take one line; all others come with a traceback.
_STATES: Mapping[type[Exception], State] = {
    Diverged: "diverged",
    BusyError: "busy",
    ConfigError: "failed",
    RunError: "failed",
    StepError: "failed",
}


@dataclasses.dataclass(frozen=True)
class Cell:
    """One run: folder name and config. With `num_seeds`, several seeds side by side.

    With `evaluation`, the worker that trains the cell also evaluates it.
    """

    name: str
    config: Config
    num_seeds: int | None = None
    evaluation: Settings | None = None

    def seeds(self) -> list[int] | None:
        """The seeds trained side by side; None for a single run."""
        first = self.config.seed
        return None if self.num_seeds is None else list(range(first, first + self.num_seeds))

    def runs(self) -> list[str]:
        """Names of the run folders: the cell's own, or one per seed."""
        seeds = self.seeds()
        return [self.name] if seeds is None else [f"{self.name}/seed-{seed}" for seed in seeds]


@dataclasses.dataclass(frozen=True)
class Status:
    """The state of a cell. `details` is a traceback or the last output of a dead process."""

    state: State
    reason: str = ""
    details: str = ""


# A finished epoch, a message, or a new status.
Event = Report | str | Status
OnEvent = Callable[[str, Event], None]  # called with the cell's name


@dataclasses.dataclass(frozen=True)
class Resources:
    """CPUs and GPUs of one cell on a cluster, and its retries after the death of a worker."""

    cpus: float = 1.0
    gpus: float = 0.0
    retries: int = 3

    def __post_init__(self) -> None:
        require_at_least(0, **dataclasses.asdict(self))


def run_cell(
    cell: Cell, storage: Storage, on_event: Callable[[Event], None], *, patience: float = 0.0
) -> Status:
    """Train a cell to its end, from its newest checkpoint if there is one, and evaluate it.

    If it does not return, because its worker died, call it again on any machine. It waits up to
    `patience` seconds for a process that still holds the folder: a worker that lost its node takes
    a moment to die. After a signal it raises `Interrupted`.
    """
    on_event(Status("running"))
    try:
        require_same_settings(cell, storage)
        with storage.workplace(cell.name) as workplace:
            _train(cell, workplace, on_event, time.monotonic() + patience)
            if cell.evaluation is not None:
                evaluated(workplace.folder, cell.evaluation)
                workplace.keep()
    except tuple(_STATES) as error:
        state = next(state for kind, state in _STATES.items() if isinstance(error, kind))
        return Status(state, one_line(error))
    except Interrupted:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        return Status("failed", reason, traceback.format_exc())
    return Status("finished")


def _train(
    cell: Cell, workplace: Workplace, on_event: Callable[[Event], None], deadline: float
) -> None:
    keeper = _Keeper(cell, workplace)
    reported_at = -math.inf

    def on_epoch(report: Report) -> None:
        nonlocal reported_at
        keeper.after_epoch()
        evaluated = "evaluation" in report.lines[0]
        if evaluated or time.monotonic() >= reported_at + _REPORT_INTERVAL:
            reported_at = time.monotonic()
            on_event(report)

    while True:
        try:
            folder, seeds = workplace.folder, cell.num_seeds
            if (folder / "config.toml").exists():
                # The settings are the same; a long study may see new versions of packages.
                resume(folder, on_epoch=on_epoch, say=on_event, trust=True, changed=True)
            else:
                train(cell.config, folder, num_seeds=seeds, on_epoch=on_epoch, say=on_event)
            return
        except BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.5)
        finally:
            keeper.after_epoch()


class _Keeper:
    """Sends a cell to its storage after each new checkpoint."""

    def __init__(self, cell: Cell, workplace: Workplace) -> None:
        self._workplace = workplace
        names = [run.removeprefix(cell.name).lstrip("/") for run in cell.runs()]
        self._folders = [RunFolder(workplace.folder / name) for name in names]
        self._kept = self._newest()

    def _newest(self) -> list[str]:
        return [folder.saved()[-1].name if folder.saved() else "" for folder in self._folders]

    def after_epoch(self) -> None:
        """Send the files if a checkpoint was added."""
        newest = self._newest()
        if newest != self._kept:
            self._workplace.keep()
            self._kept = newest


def evaluated(folder: Path, settings: Settings) -> dict[str, Any]:
    """The evaluation of a run, or of all seeds of a folder, as plain data."""
    return evaluate(folder, settings, trust=True).to_dict()  # the user chose the study


def is_finished(cell: Cell, storage: Storage) -> bool:
    """Whether the last checkpoint of every run is stored; `FolderError` for other settings.

    Reading the manifest is enough, since it is written last: replays may be large, cells many.
    """
    require_same_settings(cell, storage)
    last = [RunFolder(Path(run)).checkpoint_at(cell.config.epochs) for run in cell.runs()]
    return all(storage.read_text((path / MANIFEST).as_posix()) is not None for path in last)


def require_same_settings(cell: Cell, storage: Storage) -> None:
    """Raise `FolderError` if a folder was trained with other settings than those of the cell.

    The section `checkpoints` may differ: it changes no result. Configs of seeds side by side are
    compared, too: what they name is imported when the seeds are evaluated.
    """
    if storage.read_text(f"{cell.name}/config.toml") is None:
        return
    _require_same(cell.name, cell.config, storage)
    listed = storage.read_text(f"{cell.name}/seeds.json")
    seeds = None if listed is None else parse_seeds(listed, f"{cell.name}/seeds.json")
    if seeds != cell.seeds():
        raise _other_settings(cell.name, ["seeds"])
    for run, seed in zip(cell.runs(), seeds or [], strict=seeds is not None):
        _require_same(run, cell.config.replace({"seed": seed}), storage)


def _require_same(run: str, config: Config, storage: Storage) -> None:
    text = storage.read_text(f"{run}/config.toml")
    if text is None:
        return
    wanted = read_toml(config.to_toml(), run)
    try:
        # As data: a config may name modules, and nothing is imported.
        stored = read_toml(text, f"{run}/config.toml")
    except ConfigError as error:
        raise FolderError(one_line(error)) from error
    different = [key for key in wanted if key != "checkpoints" and wanted[key] != stored.get(key)]
    if different:
        raise _other_settings(run, different)


def _other_settings(run: str, different: Sequence[str]) -> FolderError:
    return FolderError(
        f"{run} was trained with other settings ({', '.join(different)}); choose another --out, or "
        "remove it."
    )


def greedy_returns(cell: Cell, storage: Storage) -> dict[int, list[float]]:
    """Completed epochs -> the greedy return of each seed, as far as all seeds have come."""
    evaluated = [evaluations(lines) for lines in metrics_of(cell, storage)]
    return {
        seeds[0]["epoch"]: [line["evaluation"]["mean"] for line in seeds]
        for seeds in zip(*evaluated, strict=False)
    }


def metrics_of(cell: Cell, storage: Storage) -> list[list[dict[str, Any]]]:
    """The metrics of every run of a cell so far."""
    texts = (storage.read_text(f"{run}/metrics.jsonl") for run in cell.runs())
    return [parse_metrics(text or "") for text in texts]
