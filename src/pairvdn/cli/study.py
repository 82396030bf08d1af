"""`pairvdn study run|table|figure|list|tune`: many runs from one file, and tables of them."""

import argparse
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pairvdn.checks import hint
from pairvdn.cli.flags import Parser, Whole
from pairvdn.cli.study_arguments import add_only, results_of, storage_of, study_of, study_parser
from pairvdn.cli.study_output import figure_main, print_table, table_main
from pairvdn.cli.study_progress import cells_progress
from pairvdn.cli.tables import table
from pairvdn.config.errors import ConfigError
from pairvdn.config.toml import values_of
from pairvdn.runs.errors import FolderError, Interrupted
from pairvdn.studies import (
    Cell,
    Executor,
    Here,
    Processes,
    RayCluster,
    Row,
    Status,
    Study,
    read_study,
    read_summary,
    read_tuned,
    run_study,
    shipped_names,
    trial_cells,
    tune_rows,
)
from pairvdn.studies.cells import is_finished
from pairvdn.studies.search import fields_text
from pairvdn.studies.storage import Storage
from pairvdn.studies.tuning import is_trial

ABOUT = """Train all rows of a study, and make its table and figures.

  run     train missing rows, evaluate them, and write the raw results as JSON
  table   print the table from the raw results, or fill the tables of pages
  figure  draw the figures
  list    list the shipped studies, or the rows of one
  tune    train the trials of [tune] and rank them; `run` does it as well

STUDY is a shipped name (`pairvdn study list`) or the path of a TOML file; docs/studies.md
describes the format. Runs and raw results are below --out. `run` can be interrupted at any time:
the same command resumes, skips finished rows, and retries failed ones."""


def main(arguments: Sequence[str]) -> int:
    """Run an action of a study."""
    action = arguments[0] if arguments and not arguments[0].startswith("-") else None
    if action is None:
        parser = Parser("study", ABOUT)
        parser.add_argument("action", choices=list(_ACTIONS), help="see above")
        parser.parse_all(arguments)
    if action not in _ACTIONS:
        raise ConfigError(f"study has no action {action!r}; {hint(str(action), _ACTIONS)}")
    return _ACTIONS[action](arguments[1:])


def _run(arguments: Sequence[str]) -> int:
    parser = study_parser(
        "run", "Train missing rows, evaluate them, and write the raw results as JSON."
    )
    add_only(parser, "these rows, or rows of these groups")
    parser.add_argument("--dry-run", action="store_true", help="list the runs and train nothing")
    parser.add_argument("--quiet", action="store_true", help="print warnings and failures only")
    parser.add_argument("--workers", action=Whole, help="train in N processes")
    _add_ray(parser)
    parser.add_argument("--seeds", action=Whole, help="train N seeds of every row")
    parser.add_argument("--episodes", action=Whole, help="evaluate with N episodes")
    parser.add_argument("--max-steps", action=Whole, help="evaluate with N steps per episode")
    parser.add_argument(
        "--set",
        nargs="+",
        default=[],
        metavar="FIELD=VALUE",
        help="change fields of all rows, for example epochs=2; tables then show the changes",
    )
    given = parser.parse_all(arguments)
    study = _changed(study_of(given), given)
    rows = study.only(given.only)
    storage, results = storage_of(given, study.name), results_of(given, study.name)
    cells = [*_trials(study, rows), *(cell for row in rows for cell in row.cells(study.evaluation))]
    if given.dry_run:
        number = "1 run" if len(cells) == 1 else f"{len(cells)} runs"
        print("\n".join([*(cell.name for cell in cells), f"{number}, into {storage}"]))
        return 0
    executor = _executor(given, study)
    with _resumable(storage), cells_progress(cells, quiet=given.quiet) as on_event:
        statuses = run_study(study, rows, storage, results, executor, on_event)
    if not given.quiet:
        print_table(study, results)
    return _exit_code(statuses)


def _trials(study: Study, rows: Iterable[Row]) -> list[Cell]:
    """The trials that come before the rows; with early stopping, `study tune` trains them."""
    search = study.tune
    if search is None or search.early_stopping is not None:
        return []
    return [cell for row in rows for cell in trial_cells(row, search)]


@contextlib.contextmanager
def _resumable(storage: Storage) -> Iterator[None]:
    """Tell the user how to go on after a signal."""
    try:
        yield
    except Interrupted as stop:
        raise Interrupted(stop.signum, f"stopped; the same command resumes {storage}") from stop


def _exit_code(statuses: Mapping[str, Status]) -> int:
    """1 if a run failed, or diverged; a trial may diverge, and then loses."""
    return int(
        any(
            status.state == "failed" or (status.state == "diverged" and not is_trial(name))
            for name, status in statuses.items()
        )
    )


def _changed(study: Study, given: argparse.Namespace) -> Study:
    fields = dict(_field(text) for text in given.set)
    numbers = {"episodes": given.episodes, "max_steps": given.max_steps}
    evaluation = {key: number for key, number in numbers.items() if number is not None}
    return study.with_changes(fields, given.seeds, evaluation)


def _field(text: str) -> tuple[str, Any]:
    """FIELD=VALUE with a value as in TOML; quotes, and brackets around a list, are optional."""
    field, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"--set needs FIELD=VALUE, for example epochs=2, not {text!r}.")
    return field, next(iter(values_of(value)), value)


def _add_ray(parser: Parser) -> None:
    parser.add_argument(
        "--ray",
        metavar="WHERE",
        help="train on a Ray cluster: auto (the running one), local (a new one), or an address",
    )


def _executor(given: argparse.Namespace, study: Study) -> Executor:
    if given.ray is not None:
        return RayCluster(given.ray, study.resources, given.workers)
    return Here() if given.workers is None else Processes(given.workers)


def _list(arguments: Sequence[str]) -> int:
    parser = study_parser("list", "List the shipped studies, or the rows of one.", optional=True)
    given = parser.parse_all(arguments)
    if given.study is None:
        for name in shipped_names():
            print(f"{name:<16} {(read_summary(name) or read_study(name)).about}")
        return 0
    study = study_of(given)
    storage, done = storage_of(given, study.name), results_of(given, study.name).rows()

    def state(name: str) -> str:
        if name in done:
            return "done"
        row = study.rows[name]
        try:
            if study.tune is not None:
                tuned = read_tuned(row, study.tune, storage)
                if tuned is None:
                    return "-"
                row = tuned.applied_to(row)
            trained = [is_finished(cell, storage) for cell in row.cells()]
        except FolderError:
            return "trained with other settings"
        if study.tune is not None and not any(trained):
            return "tuned"
        return f"{sum(trained)} of {len(trained)} runs trained" if any(trained) else "-"

    print(f"{study.about}\n")
    lines = [
        [row.name, row.preset, str(len(row.seeds)), state(row.name)] for row in study.rows.values()
    ]
    print(table(["row", "preset", "seeds", "state"], lines))
    if study.figures:
        print(f"\nfigures: {', '.join(study.figures)}")
    return 0


def _tune(arguments: Sequence[str]) -> int:
    parser = study_parser("tune", "Train the trials of [tune] for each row, and rank them.")
    add_only(parser, "these rows, or rows of these groups")
    parser.add_argument("--workers", action=Whole, help="train in N processes")
    _add_ray(parser)
    parser.add_argument("--quiet", action="store_true", help="print the rankings only")
    given = parser.parse_all(arguments)
    study = study_of(given)
    if study.tune is None:
        raise ConfigError(f"{given.study} has no table [tune]; see docs/studies.md.")
    rows, storage = study.only(given.only), storage_of(given, study.name)
    if study.tune.early_stopping is not None:
        from pairvdn.studies.ray_tune import tune_with_ray

        say: Callable[[str], None] = (lambda _: None) if given.quiet else print
        found, code = tune_with_ray(study, rows, storage, given.ray or "local", say), 0
    else:
        executor, cells = _executor(given, study), _trials(study, rows)
        with _resumable(storage), cells_progress(cells, quiet=given.quiet) as on_event:
            found, statuses = tune_rows(rows, study.tune, storage, executor, on_event)
        code = _exit_code(statuses)
    for name, tuned in found.items():
        heads = ["", "greedy return", "epochs", *study.tune.space]
        lines = [
            [trial.name, f"{trial.mean:.4g}", str(trial.epochs), *map(str, trial.fields.values())]
            for trial in tuned.trials
        ]
        print(f"{name}: {fields_text(tuned.best.fields)}\n\n{table(heads, lines)}\n")
    return code


_ACTIONS: dict[str, Callable[[Sequence[str]], int]] = {
    "run": _run,
    "table": table_main,
    "figure": figure_main,
    "list": _list,
    "tune": _tune,
}
