"""Tuning: every row of a study trains the same trials, and goes on with the fields of the best one.

The trials of a row are run folders `tune/ROW/trial-K`. A finished trial keeps its config and its
metrics, but no checkpoint. `tune/ROW/tune.json` is the ranking. If the best return is shared, most
often because no trial learned anything, the trials are trained again with the whole budget of the
row, in `tune/ROW/whole`, and these decide.
"""

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.runs.files import parse_json
from pairvdn.studies.cells import (
    Cell,
    Event,
    OnEvent,
    Status,
    greedy_returns,
    metrics_of,
    require_same_settings,
)
from pairvdn.studies.executors import Executor, run_cells
from pairvdn.studies.search import Search, fields_text
from pairvdn.studies.storage import Storage
from pairvdn.studies.study import Row

FOLDER = "tune"  # of all trials
DECIDED = ("finished", "finished before", "diverged")


@dataclasses.dataclass(frozen=True)
class Trial:
    """One trial: its fields, and the last greedy return of each tuning seed.

    A trial that diverged has no values. One that was stopped early has fewer epochs.
    """

    name: str
    fields: Mapping[str, Any]
    values: tuple[float, ...]
    epochs: int

    @property
    def mean(self) -> float:
        """The mean over seeds, by which trials are ranked."""
        return sum(self.values) / len(self.values) if self.values else -math.inf


@dataclasses.dataclass(frozen=True)
class Tuned:
    """The trials of one row, and what they cost together.

    The first trial is the one whose fields the row is trained with; the others follow, best first.
    """

    trials: tuple[Trial, ...]
    cost: Mapping[str, int]

    @property
    def best(self) -> Trial:
        """The trial whose fields the row is trained with."""
        return self.trials[0]

    @property
    def is_decided(self) -> bool:
        """Whether that trial returned more than every other one."""
        return all(_rank(self.best) < _rank(trial) for trial in self.trials[1:])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; `from_dict` is the inverse."""
        trials = [
            dataclasses.asdict(trial) | {"values": list(trial.values)} for trial in self.trials
        ]
        return {
            "fields": dict(self.best.fields),
            "decided": self.is_decided,
            "trials": trials,
            "cost": dict(self.cost),
        }

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> "Tuned":
        """The inverse of `to_dict`."""
        trials = tuple(Trial(**one | {"values": tuple(one["values"])}) for one in plain["trials"])
        return Tuned(trials, plain["cost"])

    def applied_to(self, row: Row) -> Row:
        """The row with the fields of the best trial."""
        return dataclasses.replace(row, fields={**row.fields, **self.best.fields})


def trial_cells(row: Row, search: Search) -> list[Cell]:
    """A cell for each trial, with all tuning seeds side by side."""
    config = row.config()
    shared = {
        "epochs": search.epochs(config.epochs),
        "seed": search.seeds[0],
        "checkpoints.keep": 1,
    }
    num_seeds = len(search.seeds) if len(search.seeds) > 1 else None
    return [
        Cell(
            f"{_folder(row, search)}/trial-{index}", config.replace({**fields, **shared}), num_seeds
        )
        for index, fields in enumerate(search.trials())
    ]


def tune_rows(
    rows: Iterable[Row], search: Search, storage: Storage, executor: Executor, on_event: OnEvent
) -> tuple[dict[str, Tuned], dict[str, Status]]:
    """Train the trials of these rows that are not finished, and choose the best of each row.

    Returns the rows whose trials are all decided, and the status of every trial that was looked at.
    A trial that fails decides nothing: all rows have the same number of trials.
    """
    rows = list(rows)
    found, statuses = _tune_once(rows, search, storage, executor, on_event)
    undecided = [row for row in rows if row.name in found and _is_open(found[row.name], search)]
    if undecided:
        whole = search.with_whole_budget()
        longer, more = _tune_once(undecided, whole, storage, executor, on_event)
        found = {name: one for name, one in found.items() if not _is_open(one, search)} | longer
        statuses |= more
    return found, statuses


def _is_open(tuned: Tuned, search: Search) -> bool:
    """Whether longer trials are needed; ASHA has its own way to train some of them longer."""
    return not tuned.is_decided and search.budget < 1 and search.early_stopping is None


def _tune_once(
    rows: Iterable[Row], search: Search, storage: Storage, executor: Executor, on_event: OnEvent
) -> tuple[dict[str, Tuned], dict[str, Status]]:
    """Train the trials with the budget of this search, and rank them."""
    found: dict[str, Tuned] = {}
    open_rows: dict[str, Row] = {}
    for row in rows:
        stored = _read_ranking(row, search, storage)
        if stored is None:
            open_rows[row.name] = row
        else:
            found[row.name] = stored
            for trial in stored.trials:
                on_event(trial.name, Status("finished before"))
    cells = {name: trial_cells(row, search) for name, row in open_rows.items()}
    of_cell = {cell.name: (cell, name) for name, group in cells.items() for cell in group}
    statuses: dict[str, Status] = {}

    def note(name: str, event: Event) -> None:
        on_event(name, event)
        if not isinstance(event, Status) or event.state == "running":
            return
        statuses[name] = event
        cell, row = of_cell[name]
        if event.state in DECIDED:
            shrink(cell, storage)
        group = [statuses[one.name].state for one in cells[row] if one.name in statuses]
        if len(group) < len(cells[row]) or not set(group) <= set(DECIDED):
            return
        try:
            found[row] = decide(open_rows[row], search, cells[row], storage)
            chosen = fields_text(found[row].best.fields)
            if _is_open(found[row], search):
                chosen = "the best trials are equal; all are trained again with the whole budget"
            on_event(name, f"tuned: {row}: {chosen}")
        except RunError as error:
            statuses[name] = Status("failed", one_line(error))
            on_event(name, statuses[name])

    every = [cell for group in cells.values() for cell in group]
    left = []
    for cell in every:
        status = _stored_status(cell, storage)
        if status is None:
            left.append(cell)
        else:
            note(cell.name, status)
    run_cells(left, storage, executor, note)
    return found, statuses


def decide(row: Row, search: Search, cells: Sequence[Cell], storage: Storage) -> Tuned:
    """Rank the trials of a row by their mean greedy return, and store the ranking."""
    trials, last = [], []
    for cell, fields in zip(cells, search.trials(), strict=True):
        returns = greedy_returns(cell, storage)
        epochs = max(returns, default=0)
        ends = [lines[-1] for lines in metrics_of(cell, storage) if lines]
        values = () if any(end["diverged"] for end in ends) else tuple(returns.get(epochs, ()))
        trials.append(Trial(cell.name, fields, values, epochs))
        last.append(ends)
    ranked = tuple(sorted(trials, key=_rank))
    if not ranked[0].values:
        raise RunError(f"{row.name}: every trial diverged; change [tune.space].")
    seconds = [max(end["clock"]["seconds"] for end in ends) for ends in last if ends]
    cost = {
        "seconds": math.ceil(sum(seconds)),
        **{key: sum(end[key] for ends in last for end in ends) for key in ("env_steps", "updates")},
    }
    record = {"protocol": _protocol(row, search), **Tuned(ranked, cost).to_dict()}
    text = json.dumps(record, indent=1) + "\n"
    storage.write_text(f"{_folder(row, search)}/tune.json", text)
    return Tuned.from_dict(json.loads(text))  # as it will be read


def _rank(trial: Trial) -> tuple[bool, int, float]:
    """Smaller for better trials; those that were stopped early come after those that were not."""
    return not trial.values, -trial.epochs, -trial.mean


def read_tuned(row: Row, search: Search, storage: Storage) -> Tuned | None:
    """The stored ranking that decides a row, or None; `FolderError` if of another protocol."""
    tuned = _read_ranking(row, search, storage)
    if tuned is not None and _is_open(tuned, search):
        return _read_ranking(row, search.with_whole_budget(), storage)
    return tuned


def _read_ranking(row: Row, search: Search, storage: Storage) -> Tuned | None:
    path = f"{_folder(row, search)}/tune.json"
    text = storage.read_text(path)
    if text is None:
        return None
    record, wanted = parse_json(path, text), _protocol(row, search)
    try:
        different = [key for key in wanted if record["protocol"].get(key) != wanted[key]]
        tuned = Tuned.from_dict(record)
        # Their fields may name modules to import: only those that the study itself names.
        is_sound = tuned.trials and all(one.fields in wanted["trials"] for one in tuned.trials)
    except Exception as error:  # the file may hold anything
        raise FolderError(f"{path} cannot be used: {one_line(error)}") from error
    if not different and not is_sound:
        raise FolderError(f"{path} cannot be used: it ranks trials that the study does not have.")
    if different:
        raise FolderError(
            f"{row.name} was tuned with other settings ({', '.join(different)}); choose another "
            f"--out, or remove {_folder(row, search)}."
        )
    return tuned


def shrink(cell: Cell, storage: Storage) -> None:
    """Remove the checkpoints of a trial, of which only the metrics are needed."""
    for run in cell.runs():
        storage.remove(f"{run}/checkpoints")


def is_trial(cell: str) -> bool:
    """Whether the cell of this name is a trial, not a run of a row."""
    return cell.startswith(f"{FOLDER}/")


def _folder(row: Row, search: Search) -> str:
    return f"{FOLDER}/{row.name}" + ("/whole" if search.budget == 1 else "")


def _protocol(row: Row, search: Search) -> dict[str, Any]:
    """The search, and the settings that its trials share."""
    shared = row.config().to_dict()
    del shared["seed"], shared["checkpoints"]
    protocol: dict[str, Any] = json.loads(json.dumps({**search.to_dict(), **shared}))
    return protocol


def _stored_status(cell: Cell, storage: Storage) -> Status | None:
    """The status of a trial that needs no training; None if it does."""
    try:
        require_same_settings(cell, storage)
        ends = [lines[-1] for lines in metrics_of(cell, storage) if lines]
    except (ConfigError, RunError) as error:
        return Status("failed", one_line(error))
    if any(end["diverged"] for end in ends):
        return Status("diverged")
    finished = cell.config.epochs in greedy_returns(cell, storage)
    return Status("finished before") if finished else None
