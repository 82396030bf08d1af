"""Write the tables of results/*.json into the pages of docs/ and README.md that ask for them.

    python results/tables.py [--check]

A page asks with a line `<!-- table:NAME -->`; what follows up to `<!-- /table -->` is replaced.
`experiments/NAME.toml` says which columns there are, and, under `versus`, which row of each group
(what is before a row's last slash) the others are compared with, and in what.
"""

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pairvdn.evaluation import probability_of_improvement

HERE = Path(__file__).parent
ROOT = HERE.parent
ASKED = re.compile(r"(<!-- table:([\w-]+) -->\n).*?(<!-- /table -->)", re.DOTALL)


def pages() -> list[Path]:
    """Every page that may ask for a table."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def table(name: str) -> str:
    """The rows of an experiment as markdown."""
    what = tomllib.loads((HERE / "experiments" / f"{name}.toml").read_text(encoding="utf-8"))
    known = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))["rows"]
    columns = _columns(what, known)
    lines = [["", "seeds", *columns], ["---"] * (len(columns) + 2)]
    if known:
        first = {"random": next(iter(known.values()))["random"]}
        lines.append(["random", "", *(cell(first, "random") for cell in columns.values())])
    lines += [
        [f"`{row}`", str(known[row]["seeds"]), *(cell(known, row) for cell in columns.values())]
        for row in known
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


# All rows, and the name of one -> the text of its cell.
Cell = Callable[[dict[str, Any], str], str]


def _columns(what: dict[str, Any], known: dict[str, Any]) -> dict[str, Cell]:
    columns: dict[str, Cell] = {
        head: lambda rows, row, path=path: _number(_at(rows[row], path))
        for head, path in what["columns"].items()
    }
    if versus := what.get("versus"):
        head = f"P(more than `{versus['row']}`)"
        columns[head] = lambda _, row: _better(known, row, versus["row"], versus["path"])
    return columns


def _at(row: dict[str, Any], path: str) -> Any:
    """What is at a path, `measures.best_height.1000` say, or None."""
    found: Any = row
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _number(found: Any) -> str:
    """A number with its interval, if it has one."""
    if found is None:
        return "–"
    if not isinstance(found, dict):
        return f"{found:,}"
    digits = 3 if abs(found["mean"]) < 2 else 2
    mean, low, high = (
        "" if found[key] is None else f"{found[key]:.{digits}f}" for key in ("mean", "low", "high")
    )
    return f"{mean} [{low}, {high}]" if low else mean


def _better(known: dict[str, Any], row: str, other: str, path: str) -> str:
    """How likely a seed of a row has more than one of the row that its group is compared with."""
    group, slash, _ = row.rpartition("/")
    against = f"{group}{slash}{other}"
    if row == against or row not in known or against not in known:
        return "–"
    mine, others = (np.array(_at(known[one], path)["values"]) for one in (row, against))
    found = probability_of_improvement([mine], [others], rng=np.random.default_rng(0))
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def filled(text: str) -> str:
    """A page with the tables that it asks for."""
    return ASKED.sub(lambda asked: f"{asked[1]}\n{table(asked[2])}\n{asked[3]}", text)


def main() -> None:
    """Fill all pages, or say which are not up to date."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if one is old")
    given = parser.parse_args()
    old = [page for page in pages() if filled(text := page.read_text("utf-8")) != text]
    if given.check and old:
        sys.exit(f"old: {', '.join(str(page.relative_to(ROOT)) for page in old)}")
    for page in [] if given.check else old:
        page.write_text(filled(page.read_text("utf-8")), encoding="utf-8")
        print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
