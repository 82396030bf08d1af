"""Raw results of a study: one JSON file, a row written as soon as it is trained and evaluated."""

import dataclasses
import functools
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.analysis.curves import learning_curve
from pairvdn.runs.analysis.evaluate import Settings
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.runs.files import parse_json, read_text, to_json
from pairvdn.runs.folder import run_folders, seeds_text
from pairvdn.runs.metrics import read_metrics
from pairvdn.studies.cells import Event, OnEvent, Status, evaluated
from pairvdn.studies.executors import Executor, run_cells
from pairvdn.studies.storage import Folder, Storage
from pairvdn.studies.study import Row, Study
from pairvdn.studies.tuning import Tuned, read_tuned, tune_rows

DONE = ("finished", "finished before", "diverged")


@dataclasses.dataclass(frozen=True)
class ResultsFile:
    """`{"evaluation": ..., "tune": ..., "changed": ..., "rows": {name: numbers}}` in a storage."""

    storage: Storage
    path: str

    def __str__(self) -> str:
        return f"{self.storage}/{self.path}"

    def read(self) -> dict[str, Any]:
        """The whole file; empty if it does not exist yet."""
        text = self.storage.read_text(self.path)
        results: dict[str, Any] = parse_json(str(self), text or "{}")
        rows = results.get("rows", {}) if isinstance(results, dict) else None
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise FolderError(f"{self} cannot be used: it does not hold the results of a study.")
        return results

    def rows(self) -> dict[str, Any]:
        """The numbers of every finished row."""
        rows: dict[str, Any] = self.read().get("rows", {})
        return rows

    def require_same_settings(self, study: Study) -> None:
        """Raise `FolderError` for rows of another evaluation, tuning or change of the study."""
        stored = self.read()
        if not stored.get("rows"):
            return
        same = {
            "evaluation": _with_defaults(stored.get("evaluation")) == study.evaluation,
            "tune": stored.get("tune", {}) == _protocol(study),
            "changes of the command line": stored.get("changed", {}) == _plain(study.changed),
        }
        if different := [key for key, equal in same.items() if not equal]:
            raise FolderError(
                f"{self} has results of other settings ({', '.join(different)}); choose another "
                "--out, or remove it."
            )

    def add(self, study: Study, row: str, numbers: Mapping[str, Any]) -> None:
        """Add or replace a row. Processes that work on one study take turns."""
        with self.storage.locked(self.path):
            self.require_same_settings(study)
            rows = {**self.rows(), row: numbers}
            order = {name: rows[name] for name in study.rows if name in rows}
            results = {
                "evaluation": dataclasses.asdict(study.evaluation),
                **({"tune": _protocol(study)} if study.tune else {}),
                **({"changed": _plain(study.changed)} if study.changed else {}),
                "rows": {**order, **rows},
            }
            self.storage.write_text(self.path, to_json(results, indent=1) + "\n")


def _with_defaults(stored: Any) -> Settings | None:
    try:
        return Settings(**stored | {"measured_at": tuple(stored.get("measured_at", ()))})
    except (AttributeError, TypeError, ValueError):  # not what `add` writes
        return None


def _plain(changed: Mapping[str, Any]) -> dict[str, Any]:
    """As read back from JSON: lists for tuples."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(changed)))
    return plain


def _protocol(study: Study) -> dict[str, Any]:
    return _plain(study.tune.to_dict()) if study.tune else {}


def run_study(
    study: Study,
    rows: Iterable[Row],
    storage: Storage,
    results: ResultsFile,
    executor: Executor,
    on_event: OnEvent,
) -> dict[str, Status]:
    """Train the rows that are not finished, evaluate them, and write their results.

    With `[tune]`, the rows of a group are tuned before they are trained, group by group. A row with
    a failed trial is not trained. Returns the final status of every cell, trials included. A row
    that diverged counts with its last intact checkpoint.
    """
    results.require_same_settings(study)
    rows = list(rows)
    train = functools.partial(
        _train_rows, study, storage=storage, results=results, executor=executor, on_event=on_event
    )
    if study.tune is None:
        return train(rows, {})
    if study.tune.early_stopping is not None:
        return train(rows, _tuned_before(study, rows, storage))
    statuses: dict[str, Status] = {}
    for _, group in itertools.groupby(rows, key=lambda row: row.group):
        members = list(group)
        tuned, trials = tune_rows(members, study.tune, storage, executor, on_event)
        statuses |= trials | train([row for row in members if row.name in tuned], tuned)
    return statuses


def _tuned_before(study: Study, rows: Iterable[Row], storage: Storage) -> dict[str, Tuned]:
    """The settings that `study tune` has found for these rows."""
    assert study.tune is not None
    found = {row.name: read_tuned(row, study.tune, storage) for row in rows}
    for name, tuned in found.items():
        if tuned is None:
            raise FolderError(
                f"{name} is not tuned yet, and early stopping needs Ray Tune; first run "
                f"`pairvdn study tune {study.name} --ray local`."
            )
    return {name: tuned for name, tuned in found.items() if tuned}


def _train_rows(
    study: Study,
    rows: Sequence[Row],
    tuned: Mapping[str, Tuned],
    *,
    storage: Storage,
    results: ResultsFile,
    executor: Executor,
    on_event: OnEvent,
) -> dict[str, Status]:
    """Train these rows, with the settings of `tuned` if they are in it, and evaluate them."""
    trained = [tuned[row.name].applied_to(row) if row.name in tuned else row for row in rows]
    cells = {row.name: row.cells(study.evaluation) for row in trained}
    row_of = {cell.name: row for row in trained for cell in cells[row.name]}
    statuses: dict[str, Status] = {}
    written = {name: row.get("command") for name, row in results.rows().items()}

    def note(name: str, event: Event) -> None:
        on_event(name, event)
        if not isinstance(event, Status) or event.state == "running":
            return
        statuses[name] = event
        row = row_of[name]
        group = [statuses[cell.name] for cell in cells[row.name] if cell.name in statuses]
        if len(group) < len(cells[row.name]) or any(one.state not in DONE for one in group):
            return
        unchanged = all(one.state == "finished before" for one in group)
        if unchanged and written.get(row.name) == row.command():
            return
        try:
            numbers = row_numbers(row, storage, study.evaluation)
            if row.name in tuned:
                numbers["tuned"] = tuned[row.name].to_dict()
            results.add(study, row.name, numbers)
        except (ConfigError, RunError) as error:
            statuses[name] = Status("failed", one_line(error))
            on_event(name, statuses[name])

    every = [cell for group in cells.values() for cell in group]
    run_cells(every, storage, executor, note)
    return {cell.name: statuses[cell.name] for cell in every}


def row_numbers(row: Row, storage: Storage, settings: Settings) -> dict[str, Any]:
    """The numbers of a trained row: per seed, with intervals, versions, learning curve and cost."""
    with storage.workplace(row.name) as workplace:
        if not row.side_by_side:  # make it an ordinary folder of several seeds
            kept = Folder(workplace.folder)
            kept.write_text("seeds.json", seeds_text(row.seeds))
            kept.write_text("config.toml", row.config().to_toml())
        numbers = evaluated(workplace.folder, settings)
        runs = run_folders(workplace.folder)
        last = [read_metrics(run)[-1] for run in runs]
        versions = _versions(runs[0] / "versions.json")
        curve = _curve(workplace.folder)
        workplace.keep()
    extra = numbers["extra"]
    random = extra["random"]["measures"]
    seconds = [line["clock"]["seconds"] for line in last]
    return {
        "command": row.command(),
        "commit": versions.pop("commit"),
        "versions": versions,
        "seeds": extra["seeds"],
        "diverged": extra["diverged"],
        "epochs": extra["epochs"],
        "return": numbers["return"],
        "measures": extra["measures"],
        "shares": extra["shares"],
        "random": {
            "return": _without_values(numbers["random"]),
            "measures": {
                name: {moment: _without_values(one) for moment, one in moments.items()}
                for name, moments in random.items()
            },
        },
        "curve": curve,
        "cost": {  # of all seeds together
            "seconds": math.ceil(max(seconds) if row.side_by_side else sum(seconds)),
            "env_steps": sum(line["env_steps"] for line in last),
            "updates": sum(line["updates"] for line in last),
        },
    }


def _versions(file: Path) -> dict[str, Any]:
    versions = parse_json(file, read_text(file))
    if not isinstance(versions, dict) or "commit" not in versions:
        raise FolderError(f"{file} cannot be used: it does not give the versions.")
    return versions


def _curve(folder: Path) -> dict[str, list[float]]:
    """Greedy returns during training, mean and interval over seeds."""
    curve = learning_curve([folder])._asdict()
    del curve["seeds"]
    return {name: [round(float(value), 4) for value in line] for name, line in curve.items()}


def _without_values(summary: dict[str, Any] | None) -> dict[str, Any] | None:
    """A summary without the values of all episodes."""
    return summary and {key: value for key, value in summary.items() if key != "values"}
