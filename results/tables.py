"""Write the tables of results/*.json into the pages of docs/ and README.md that ask for them.

    python results/tables.py [--check]

A page asks with a line `<!-- table:NAME -->`; what follows up to `<!-- /table -->` is replaced.
experiment.py says what the table of an experiment looks like; `main` is the README's, as main.toml
says, and `costs` is what everything cost.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import experiment
import numpy as np

from pairvdn.evaluation import probability_of_improvement

HERE = Path(__file__).parent
ROOT = HERE.parent
ASKED = re.compile(r"(<!-- table:([\w-]+) -->\n).*?(<!-- /table -->)", re.DOTALL)


def pages() -> list[Path]:
    """Every page that may ask for a table."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def table(name: str) -> str:
    """An experiment as markdown, or one of the tables of all of them."""
    if name in OF_ALL:
        return _markdown(OF_ALL[name]())
    what, known = experiment.read(name), experiment.rows(name)
    return _markdown(_by_task(what, known) if "tasks" in what else _by_row(what, known))


def _markdown(lines: list[list[str]]) -> str:
    head, *others = lines
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *others])


def _by_row(what: dict[str, Any], known: dict[str, Any]) -> list[list[str]]:
    """A line for each row, with its columns, and one of chance for each group of them."""
    columns = _columns(what, known)
    lines = [["", "seeds", *columns]]
    for row, found in known.items():
        random = _beside(row, "random")
        if all(line[0] != random for line in lines):  # the first of its group
            by_chance = {random: found["random"]}
            lines.append([random, "", *(cell(by_chance, random) for cell in columns.values())])
        own = [cell(known, row) for cell in columns.values()]
        lines.append([f"`{row}`", str(found["seeds"]), *own])
    return lines


def _beside(row: str, other: str) -> str:
    """The name of another row of the same group."""
    return "/".join(filter(None, (experiment.group(row), other)))


def _by_task(what: dict[str, Any], known: dict[str, Any]) -> list[list[str]]:
    """A line for each method, with a column for each task."""
    path, tasks = what["column"], list(what["tasks"])
    of_task = {
        task: [known[row] for row in known if experiment.group(row) == task] for task in tasks
    }
    random = [rows[0]["random"] if rows else {} for rows in of_task.values()]
    lines = [["", *(f"`{task}`" for task in tasks)]]
    lines.append(["random", *(_number(experiment.at(one, path)) for one in random)])
    for name, numbers in what.get("references", {}).items():
        lines.append([name, *(_number(numbers.get(task)) for task in tasks)])
    for method in what["methods"]:
        rows = [known.get(f"{task}/{method}", {}) for task in tasks]
        lines.append([f"`{method}`", *(_number(experiment.at(row, path)) for row in rows)])
    return lines


def _main() -> list[list[str]]:
    """What main.toml lists: chance, VDN, the paper's ring and the variant that suits the task."""
    lines = [["task", "random", "`vdn`", "`pairvdn`", "another method", "seeds"]]
    for line in tomllib.loads((HERE / "main.toml").read_text(encoding="utf-8"))["line"]:
        known = experiment.rows(line["experiment"])
        vdn, ring, variant = (known.get(line.get(key), {}) for key in ("vdn", "ring", "variant"))
        any_row = ring or variant
        numbers = [
            _number(experiment.at(row, line["path"]))
            for row in (any_row["random"], vdn, ring, variant)
        ]
        if variant:
            numbers[-1] = f"`{line['method']}` {numbers[-1]}"
        lines.append([line["task"], *numbers, str(any_row["seeds"])])
    return lines


def _costs() -> list[list[str]]:
    """Of every row, or of all methods of a task: seeds, steps, updates, time and speed."""
    lines = [["", "seeds", "env steps", "updates", "minutes", "env steps/s", "updates/s"]]
    for name in experiment.names():
        if experiment.made(name):
            by_task = "tasks" in experiment.read(name)
            groups: dict[str, list[Any]] = {}
            for row, found in experiment.rows(name).items():
                groups.setdefault(experiment.group(row) if by_task else row, []).append(found)
            lines += [[f"{name}: `{group}`", *_cost(rows)] for group, rows in groups.items()]
    return lines


def _cost(rows: list[dict[str, Any]]) -> list[str]:
    """What rows that were trained one after the other cost together."""
    seconds, steps, updates = (
        sum(row["cost"][what] for row in rows) for what in ("seconds", "env_steps", "updates")
    )
    return [
        str(sum(row["seeds"] for row in rows)),
        f"{steps:,}",
        f"{updates:,}",
        f"{seconds / 60:.1f}",
        f"{steps / seconds:,.0f}",
        f"{updates / seconds:,.0f}",
    ]


OF_ALL = {"main": _main, "costs": _costs}

# All rows, and the name of one -> the text of its cell.
Cell = Callable[[dict[str, Any], str], str]


def _columns(what: dict[str, Any], known: dict[str, Any]) -> dict[str, Cell]:
    columns: dict[str, Cell] = {
        head: lambda rows, row, path=path: _number(experiment.at(rows[row], path))
        for head, path in what["columns"].items()
    }
    if versus := what.get("versus"):
        head = f"P(more than `{versus['row']}`)"
        columns[head] = lambda _, row: _better(known, row, versus["row"], versus["path"])
    return columns


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
    against = _beside(row, other)
    if row == against or row not in known or against not in known:
        return "–"
    mine, others = (np.array(experiment.at(known[one], path)["values"]) for one in (row, against))
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
