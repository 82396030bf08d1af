"""`pairvdn study table` and `pairvdn study figure`."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pairvdn.checks import hint
from pairvdn.cli.study_arguments import add_only, results_of, study_of, study_parser
from pairvdn.config.errors import ConfigError
from pairvdn.runs.errors import FolderError
from pairvdn.studies import (
    ResultsFile,
    Study,
    claims_table,
    fill,
    read_summary,
    study_table,
    to_csv,
    to_markdown,
)
from pairvdn.studies.standings import missing_tasks
from pairvdn.studies.study import Episodes, Overview, RandomPlay


def table_main(arguments: Sequence[str]) -> int:
    """Print a table, or fill the tables of pages."""
    parser = study_parser(
        "table", "Print the table of a study from its raw results.", optional=True
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="all numbers as CSV")
    form.add_argument("--json", action="store_true", help="the raw results")
    parser.add_argument(
        "--write",
        nargs="+",
        type=Path,
        metavar="PAGE",
        help="fill the tables of Markdown pages, or folders of pages, from --results FOLDER: each "
        "between <!-- table:STUDY --> and <!-- /table -->; claims:STUDY for its claims",
    )
    given = parser.parse_all(arguments)
    if given.write:
        return _write_tables(given)
    if given.study is None:
        raise ConfigError("Name a study: pairvdn study table STUDY; see `pairvdn study list`.")
    summary = read_summary(given.study)
    if summary is not None:
        print(
            to_markdown(summary.table(lambda name: _known(results_of(given, name), name))), end=""
        )
        return 0
    study = study_of(given)
    results = results_of(given, study.name)
    rows = _known(results, study.name)
    if given.json:
        print(json.dumps(results.read(), indent=1))
    elif given.csv:
        print(to_csv(study, rows), end="")
    else:
        print_table(study, results)
    return 0


def _known(results: ResultsFile, name: str) -> Mapping[str, Any]:
    rows = results.rows()
    if not rows:
        raise FolderError(
            f"There are no results in {results}; make them with `pairvdn study run {name}`, or "
            "name others with --results."
        )
    return rows


def print_table(study: Study, results: ResultsFile) -> None:
    """Print the Markdown table, the sources of its references, and the path of the raw results."""
    stored = results.read()
    if not stored.get("rows"):
        print(f"no row is finished yet: {results}")
        return
    if note := _note(stored):
        print(f"**{note}**\n")
    print(to_markdown(study_table(study, stored["rows"])))
    if study.claims:
        print(to_markdown(claims_table(study, stored["rows"])))
    print(
        "Brackets are 95 % bootstrap intervals over training seeds, or over episodes of one seed."
    )
    if study.tune is not None and study.column is not None:
        print("Under each number are the settings that tuning chose, in the order of the head.")
    for name, reference in study.references.items():
        print(f"{name}: {reference.source}")
    print(f"Raw results: {results}")


def _note(results: Mapping[str, Any]) -> str:
    changed = results.get("changed", {})
    fields = ", ".join(f"{field} = {value}" for field, value in changed.items())
    return f"This study was changed on the command line: {fields}." if changed else ""


def _write_tables(given: argparse.Namespace) -> int:
    if given.results is None:
        raise ConfigError("--write needs --results FOLDER, which has a STUDY.json for each table.")
    for path in given.write:
        for page in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
            text = page.read_text(encoding="utf-8")
            filled = fill(text, lambda name: _real(results_of(given, name), name))
            if filled != text:
                page.write_text(filled, encoding="utf-8")
                print(page)
    return 0


def _real(results: ResultsFile, name: str) -> Mapping[str, Any]:
    """The rows of an unchanged study; pages show no others."""
    if note := _note(results.read()):
        raise FolderError(f"{results}: {note} Pages show unchanged studies only.")
    return _known(results, name)


def figure_main(arguments: Sequence[str]) -> int:
    """Draw the figures that can be drawn."""
    parser = study_parser("figure", "Draw the figures of a study as PNG and SVG.")
    add_only(parser, "these figures")
    parser.add_argument(
        "--to", type=Path, metavar="FOLDER", help="folder of the files; default: OUT/figures"
    )
    given = parser.parse_all(arguments)
    study = study_of(given)
    for name in given.only:
        if name not in study.figures:
            raise ConfigError(f"{study.name} has no figure {name!r}; {hint(name, study.figures)}")
    if given.to is None and "://" in (given.out or ""):
        raise ConfigError(f"--to must name a folder for the figures, because {given.out} is a URL.")
    runs, results = Path(given.out or f"runs/{study.name}"), results_of(given, study.name)
    stored = results.read()
    rows = stored.get("rows", {})
    from pairvdn.viewing.study_figures import draw_figure  # needs matplotlib

    for name in given.only or study.figures:
        missing = _missing(study, name, rows, runs)
        if missing and given.only:
            raise FolderError(missing)
        if missing:
            print(f"left out: {missing}", file=sys.stderr)
            continue
        target = given.to or runs / "figures"
        for path in draw_figure(study, name, rows, runs, target, note=_note(stored)):
            print(path)
    return 0


def _missing(study: Study, name: str, rows: Mapping[str, Any], runs: Path) -> str:
    """The reason why a figure cannot be drawn yet; empty if it can."""
    figure = study.figures[name]
    if isinstance(figure, RandomPlay):
        return ""
    if isinstance(figure, Episodes):
        untrained = [row for row in figure.rows if not (runs / row / "config.toml").exists()]
        command = f"`pairvdn study run {study.name} --only {' '.join(untrained)}`"
        return (
            f"figure {name} needs runs in {runs}; train them with {command}." if untrained else ""
        )
    if isinstance(figure, Overview) and study.aggregate is not None:
        rows = {} if missing_tasks(study, rows, study.aggregate.versus) else rows
    command = f"`pairvdn study run {study.name}`"
    return "" if rows else f"figure {name} needs results; make them with {command}."
