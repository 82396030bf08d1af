"""What is done with one cell, wherever that is: train it or go on with it, and tell how it went."""

import json
import math
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.learning import Diverged
from pairvdn.runs.checkpoint import MANIFEST
from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import BusyError, FolderError, Interrupted, RunError
from pairvdn.runs.folder import RunFolder, parse_metrics
from pairvdn.runs.train import resume, train
from pairvdn.studies.cells import Cell, News, Standing, State
from pairvdn.studies.storage import Storage, Workplace

# Seconds: epochs may take a millisecond, and reports go to another process or machine.
_BETWEEN_REPORTS = 0.2

# What a person can mend is told in one line; anything else comes with its traceback.
_STATES: Mapping[type[Exception], State] = {
    Diverged: "diverged",
    ConfigError: "failed",
    RunError: "failed",
}


def carry_out(
    cell: Cell, storage: Storage, tell: Callable[[News], None], *, patience: float = 0.0
) -> Standing:
    """Train a cell to its end, from its newest checkpoint if there is one.

    It may be called again whenever it did not return, on another machine too: that is how a cell
    survives the death of its worker. For `patience` seconds it waits for a process that still
    holds the folder; a worker that was cut off takes a moment to die. After a signal it raises
    `Interrupted`.
    """
    tell(Standing("running"))
    try:
        require_same(cell, storage)
        with storage.workplace(cell.name) as place:
            _train(cell, place, tell, time.monotonic() + patience)
    except tuple(_STATES) as error:
        state = next(state for kind, state in _STATES.items() if isinstance(error, kind))
        return Standing(state, one_line(error))
    except Interrupted:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        return Standing("failed", reason, traceback.format_exc())
    return Standing("finished")


def _train(
    cell: Cell, place: Workplace, tell: Callable[[News], None], patient_until: float
) -> None:
    keeper = _Keeper(cell, place)
    told_at = -math.inf

    def on_epoch(report: Report) -> None:
        nonlocal told_at
        keeper.after_epoch()
        evaluated = "evaluation" in report.lines[0]
        if evaluated or time.monotonic() >= told_at + _BETWEEN_REPORTS:
            told_at = time.monotonic()
            tell(report)

    told: dict[str, Any] = {"on_epoch": on_epoch, "say": tell}
    while True:
        try:
            if (place.folder / "config.toml").exists():
                resume(place.folder, **told)
            else:
                train(cell.config, place.folder, num_seeds=cell.num_seeds, **told)
            return
        except BusyError:
            if time.monotonic() >= patient_until:
                raise
            time.sleep(0.5)
        finally:
            keeper.after_epoch()


class _Keeper:
    """Keeps a cell whenever there is a new checkpoint; what lies between two is done again."""

    def __init__(self, cell: Cell, place: Workplace) -> None:
        self._place = place
        names = [run.removeprefix(cell.name).lstrip("/") for run in cell.runs()]
        self._folders = [RunFolder(place.folder / name) for name in names]
        self._kept = self._newest()

    def _newest(self) -> list[str]:
        return [folder.saved()[-1].name if folder.saved() else "" for folder in self._folders]

    def after_epoch(self) -> None:
        """Keep what is new."""
        newest = self._newest()
        if newest != self._kept:
            self._place.keep()
            self._kept = newest


def is_finished(cell: Cell, storage: Storage) -> bool:
    """Whether the last checkpoint of every run is stored; `FolderError` if they are another's.

    A manifest is written last, so that it alone is read: replays may be large, and cells many.
    """
    require_same(cell, storage)
    last = [RunFolder(Path(run)).checkpoint_at(cell.config.epochs) for run in cell.runs()]
    return all(storage.read_text((path / MANIFEST).as_posix()) is not None for path in last)


def require_same(cell: Cell, storage: Storage) -> None:
    """Refuse to go on with what was trained with other settings."""
    text = storage.read_text(f"{cell.name}/config.toml")
    if text is None:
        return
    seeds = json.loads(storage.read_text(f"{cell.name}/seeds.json") or "null")
    if Config.from_toml(text) != cell.config or seeds != cell.seeds():
        raise FolderError(
            f"{cell.name} was trained with other settings; choose another --out, or remove it."
        )


def last_return(cell: Cell, storage: Storage) -> float | None:
    """What the last greedy evaluations while training gave, mean over seeds."""
    return max(greedy_returns(cell, storage).items(), default=(0, None))[1]


def greedy_returns(cell: Cell, storage: Storage) -> dict[int, float]:
    """Epochs done -> greedy return then, mean over seeds, as far as all seeds have got."""
    texts = [storage.read_text(f"{run}/metrics.jsonl") or "" for run in cell.runs()]
    evaluated = [[line for line in parse_metrics(text) if "evaluation" in line] for text in texts]
    return {
        seeds[0]["epoch"] + 1: sum(line["evaluation"]["mean"] for line in seeds) / len(seeds)
        for seeds in zip(*evaluated, strict=False)
    }
