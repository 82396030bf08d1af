"""`pairvdn reproduce`: the paper's tables and figures."""

import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pairvdn.checks import hint
from pairvdn.cli.extras import drawing
from pairvdn.cli.flags import Parser
from pairvdn.cli.grid import add_executor_flags, carry_out, executor_of
from pairvdn.cli.progress import OnEpoch, Say, progress
from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import parse
from pairvdn.runs.errors import RunError
from pairvdn.runs.saving import explained
from pairvdn.studies import Cell, Executor
from pairvdn.studies.reproduce import (
    EXTENSIONS,
    FULL,
    QUICK,
    Scale,
    table1,
    table1_cells,
    to_markdown,
)
from pairvdn.studies.storage import Folder

Part = Callable[[Path, Scale, OnEpoch, Say], None]

ABOUT = f"""Train what the paper trains and make its tables and figures:

  table1        scores on Box Jump beside the paper's, as Markdown, CSV and JSON
  curves        learning curves of all tasks
  grouping      pictures of VDN and PairVDN, and how close the boxes stay as a number
  observations  boxes coloured by the distances that they observe
  environments  a picture of each environment

It can be interrupted at any time; the same command goes on and skips what is finished. --quick
takes minutes and is not the real thing; without it expect hours ({FULL.seeds} seeds)."""


def main(arguments: Sequence[str]) -> int:
    """Reproduce a part of the paper."""
    parser = Parser("reproduce", ABOUT)
    parser.add_argument("what", metavar="WHAT", help=", ".join(PARTS))
    parser.add_argument("--seeds", metavar="N", help=f"training seeds (now {FULL.seeds})")
    parser.add_argument("--quick", action="store_true", help="far too little training")
    parser.add_argument("--all", action="store_true", help="the extensions as well")
    parser.add_argument("--quiet", action="store_true", help="print results and warnings only")
    parser.add_argument("--out", type=Path, help="a folder (now reproduction, or ...-quick)")
    add_executor_flags(parser)
    given = parser.parse_all(arguments)
    if given.what not in PARTS:
        raise ConfigError(f"There is nothing called {given.what!r}; {hint(given.what, PARTS)}")
    scale = QUICK if given.quick else FULL
    if given.seeds is not None:
        scale = dataclasses.replace(scale, seeds=parse("--seeds", int, given.seeds))
    if given.all:
        scale = dataclasses.replace(scale, methods=(*scale.methods, *EXTENSIONS))
    out = given.out or Path("reproduction-quick" if given.quick else "reproduction")
    executor = executor_of(given)
    if executor is not None:
        _train_elsewhere(given.what, out, scale, executor, quiet=given.quiet)
    with explained(out), progress(quiet=given.quiet, stream=sys.stderr) as (on_epoch, say):
        out.mkdir(parents=True, exist_ok=True)
        PARTS[given.what](out, scale, on_epoch, say)
    return 0


# What a part needs, as cells of a grid.
CELLS: dict[str, Callable[[Scale], list[Cell]]] = {"table1": table1_cells}


def _train_elsewhere(
    what: str, out: Path, scale: Scale, executor: Executor, *, quiet: bool
) -> None:
    """Train all that a part needs as a grid; the part then finds it finished."""
    if what not in CELLS:
        raise ConfigError(f"--workers and --ray are for {', '.join(CELLS)}, not for {what}.")
    standings = carry_out(
        CELLS[what](scale), Folder(out.resolve()), executor, quiet=quiet, stream=sys.stderr
    )
    failed = [name for name, one in standings.items() if one.state == "failed"]
    if failed:
        raise RunError(f"{len(failed)} of {len(standings)} cells failed, the first {failed[0]}.")


def _table1(out: Path, scale: Scale, on_epoch: OnEpoch, say: Say) -> None:
    print(to_markdown(table1(out, scale, on_epoch=on_epoch, say=say), scale))
    _name([out / f"table1.{suffix}" for suffix in ("md", "csv", "json")])


def _trained(name: str) -> Part:
    """A figure for which something must be trained."""

    def make(out: Path, scale: Scale, on_epoch: OnEpoch, say: Say) -> None:
        draw = getattr(drawing("paper_figures"), name)
        made: Any = draw(out, scale, on_epoch=on_epoch, say=say)
        _show(made, scale.note)

    return make


def _untrained(name: str) -> Part:
    """A figure for which nothing is trained, so that it is always the real thing."""

    def make(out: Path, *_: Any) -> None:
        made: Any = getattr(drawing("paper_figures"), name)(out)
        _show(made, "")

    return make


PARTS: dict[str, Part] = {
    "table1": _table1,
    "curves": _trained("curves"),
    "grouping": _trained("grouping"),
    "observations": _untrained("observations"),
    "environments": _untrained("environments"),
}


def _show(made: Any, note: str) -> None:
    for text in filter(None, (note, made.text)):
        print(f"{text}\n")
    _name(made.files)


def _name(files: Sequence[Path]) -> None:
    for file in files:
        print(file)
