"""Arguments that the actions of `pairvdn study` share."""

import argparse
from pathlib import Path

from pairvdn.cli.flags import Parser
from pairvdn.config.errors import ConfigError
from pairvdn.studies import ResultsFile, Study, read_study, read_summary, storage
from pairvdn.studies.storage import Folder, Storage


def study_parser(action: str, about: str, *, optional: bool = False) -> Parser:
    """The parser of an action, with STUDY, --out and --results."""
    parser = Parser(f"study {action}", about)
    parser.add_argument(
        "study", metavar="STUDY", nargs="?" if optional else None, help="a shipped name or a path"
    )
    parser.add_trust()
    parser.add_argument("--out", help="a folder or a URL of fsspec; default: runs/STUDY")
    parser.add_argument(
        "--results",
        metavar="FILE",
        type=Path,
        help="raw results: a .json file, or a folder with STUDY.json; default: OUT/results.json",
    )
    return parser


def add_only(parser: Parser, help_: str) -> None:
    """Add the flag --only."""
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help=help_)


def storage_of(given: argparse.Namespace, name: str) -> Storage:
    """The storage of a study's runs."""
    return storage(given.out or f"runs/{name}")


def results_of(given: argparse.Namespace, name: str) -> ResultsFile:
    """The file of a study's raw results."""
    if given.results is None:
        return ResultsFile(storage_of(given, name), "results.json")
    path = given.results if given.results.suffix == ".json" else given.results / f"{name}.json"
    return ResultsFile(Folder(path.parent), path.name)


def study_of(given: argparse.Namespace) -> Study:
    """The study that is named; `ConfigError` for a summary, which has no rows to train."""
    name: str = given.study
    summary = read_summary(name)
    if summary is not None:
        raise ConfigError(
            f"{name} sums up other studies; name one of {', '.join(summary.studies)}."
        )
    return read_study(name, trust=given.trust)
