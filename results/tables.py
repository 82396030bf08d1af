"""Write the tables of results/*.json into the pages of docs/ and README.md that ask for them.

    python results/tables.py [--check]

A page asks with a line `<!-- table:NAME -->`; what follows up to `<!-- /table -->` is replaced.
Which columns a table has stands in `experiments/NAME.toml`.
"""

import argparse
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

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
    columns: dict[str, str] = what["columns"]
    lines = [["", "seeds", *columns], ["---"] * (len(columns) + 2)]
    if what.get("random", True) and known:
        first = next(iter(known.values()))["random"]
        lines.append(["random", "", *(_cell(first, path) for path in columns.values())])
    lines += [
        [f"`{row}`", str(one["seeds"]), *(_cell(one, path) for path in columns.values())]
        for row, one in known.items()
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(row: dict[str, Any], path: str) -> str:
    """The number at a path, `measures.best_height.1000` say, with its interval if it has one."""
    found: Any = row
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    if found is None:
        return "–"
    if not isinstance(found, dict):
        return f"{found:,}"
    mean = f"{found['mean']:.2f}"
    return mean if found["low"] is None else f"{mean} [{found['low']:.2f}, {found['high']:.2f}]"


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
