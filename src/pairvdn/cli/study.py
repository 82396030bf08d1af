"""`pairvdn study run|table|figure|list|tune`: many runs from one file, and tables of them."""

import argparse
import tomllib
from collections.abc import Callable, Sequence
from typing import Any

from pairvdn.checks import hint
from pairvdn.cli.flags import Parser, positive
from pairvdn.cli.study_arguments import add_only, results_of, storage_of, study_of, study_parser
from pairvdn.cli.study_output import figure_main, print_table, table_main
from pairvdn.cli.study_progress import cells_progress
from pairvdn.cli.tables import table
from pairvdn.config.errors import ConfigError
from pairvdn.runs.errors import FolderError, Interrupted
from pairvdn.studies import (
    Executor,
    Here,
    Processes,
    RayCluster,
    Study,
    read_study,
    read_summary,
    run_study,
    shipped_names,
)
from pairvdn.studies.run_cell import is_finished

ABOUT = """Train all rows of a study, and make its table and figures.

  run     train what is missing, evaluate, and write the raw results as JSON
  table   print the table from the raw results, or fill the tables of pages
  figure  draw the figures
  list    list the shipped studies, or the rows of one
  tune    search the fields of [tune] with Ray Tune

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
        "run", "Train what is missing, evaluate, and write the raw results as JSON."
    )
    add_only(parser, "these rows, or rows of these groups")
    parser.add_argument("--dry-run", action="store_true", help="list the runs and train nothing")
    parser.add_argument("--quiet", action="store_true", help="print warnings and failures only")
    parser.add_argument("--workers", metavar="N", help="train in N processes")
    _add_ray(parser)
    parser.add_argument("--seeds", metavar="N", help="train N seeds of every row")
    parser.add_argument("--episodes", metavar="N", help="evaluate with N episodes")
    parser.add_argument("--max-steps", metavar="N", help="evaluate with N steps an episode")
    parser.add_argument(
        "--set",
        nargs="+",
        default=[],
        metavar="FIELD=VALUE",
        help="change fields of all rows, epochs=2 say; the results are labelled",
    )
    given = parser.parse_all(arguments)
    study = _changed(study_of(given.study), given)
    rows = study.only(given.only)
    place, results = storage_of(given, study.name), results_of(given, study.name)
    cells = [cell for row in rows for cell in row.cells(study.evaluation)]
    if given.dry_run:
        print("\n".join([*(cell.name for cell in cells), f"{len(cells)} runs, into {place}"]))
        return 0
    executor = _executor(given, study)
    try:
        with cells_progress(cells, quiet=given.quiet) as on_event:
            statuses = run_study(study, rows, place, results, executor, on_event)
    except Interrupted as stop:
        raise Interrupted(stop.signum, f"stopped; the same command resumes {place}") from stop
    if not given.quiet:
        print_table(study, results)
    return 1 if any(one.state in ("failed", "diverged") for one in statuses.values()) else 0


def _changed(study: Study, given: argparse.Namespace) -> Study:
    fields = dict(_field(text) for text in given.set)
    numbers = {"episodes": given.episodes, "max_steps": given.max_steps}
    evaluation = {
        key: positive(f"--{key.replace('_', '-')}", text)
        for key, text in numbers.items()
        if text is not None
    }
    seeds = None if given.seeds is None else positive("--seeds", given.seeds)
    return study.with_changes(fields, seeds, evaluation)


def _field(text: str) -> tuple[str, Any]:
    """FIELD=VALUE with a value as in TOML; quotes, and brackets around a list, are optional."""
    field, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"--set takes FIELD=VALUE, epochs=2 say, not {text!r}.")
    for candidate in (value, f"[{value}]"):
        try:
            return field, tomllib.loads(f"value = {candidate}")["value"]
        except tomllib.TOMLDecodeError:
            continue
    return field, value


def _add_ray(parser: Parser) -> None:
    parser.add_argument(
        "--ray",
        metavar="WHERE",
        help="train on a Ray cluster: auto (the running one), local (a new one), or an address",
    )


def _executor(given: argparse.Namespace, study: Study) -> Executor:
    workers = None if given.workers is None else positive("--workers", given.workers)
    if given.ray is not None:
        return RayCluster(given.ray, study.resources, workers)
    return Here() if workers is None else Processes(workers)


def _list(arguments: Sequence[str]) -> int:
    parser = study_parser("list", "List the shipped studies, or the rows of one.", optional=True)
    given = parser.parse_all(arguments)
    if given.study is None:
        for name in shipped_names():
            print(f"{name:<16} {(read_summary(name) or read_study(name)).about}")
        return 0
    study = study_of(given.study)
    place, done = storage_of(given, study.name), results_of(given, study.name).rows()

    def state(name: str) -> str:
        if name in done:
            return "done"
        try:
            trained = [is_finished(cell, place) for cell in study.rows[name].cells()]
        except FolderError:
            return "trained with other settings"
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
    parser = study_parser("tune", "Search the fields of [tune] for each row, with Ray Tune.")
    add_only(parser, "these rows, or rows of these groups")
    _add_ray(parser)
    parser.add_argument("--quiet", action="store_true", help="print the ranking only")
    given = parser.parse_all(arguments)
    study = study_of(given.study)
    if study.tune is None:
        raise ConfigError(f"{given.study} has no table [tune]; docs/studies.md describes it.")
    from pairvdn.studies.tune import tune

    place = storage_of(given, study.name)
    say: Callable[[str], None] = (lambda _: None) if given.quiet else print
    for found in tune(study, study.only(given.only), place, given.ray or "local", say):
        heads = ["", "greedy return", "epochs", *study.tune.space]
        lines = [
            [trial.name, f"{trial.value:.4g}", str(trial.epochs), *map(str, trial.fields.values())]
            for trial in found.trials
        ]
        print(f"{found.name}: the best config is {place}/{found.best}\n\n{table(heads, lines)}\n")
    return 0


_ACTIONS: dict[str, Callable[[Sequence[str]], int]] = {
    "run": _run,
    "table": table_main,
    "figure": figure_main,
    "list": _list,
    "tune": _tune,
}
