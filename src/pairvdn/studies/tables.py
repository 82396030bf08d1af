"""Raw results -> tables: a line per row, or a line per method and a column per task."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pairvdn.evaluation import Estimate, difference, probability_of_improvement
from pairvdn.studies.search import fields_text
from pairvdn.studies.study import Study, Versus

Rows = Mapping[str, Any]  # of a results file
Lines = list[list[str]]  # the first one is the head


def study_table(study: Study, rows: Rows) -> Lines:
    """The table of a study; rows without results are left out."""
    return _by_task(study, rows) if study.column is not None else _by_row(study, rows)


class SeedRange(NamedTuple):
    """The lowest and the highest seed."""

    low: float
    high: float


def at(row: Mapping[str, Any], path: str) -> Any:
    """The number at a path of a row, such as `measures.best_height.1000`, or None.

    `PATH.range` is the range of its seeds.
    """
    value: Any = row
    for key in path.split("."):
        if key == "range" and isinstance(value, Mapping) and value.get("values"):
            value = SeedRange(min(value["values"]), max(value["values"]))
        else:
            value = value.get(key) if isinstance(value, Mapping) else None
    return value


def number(value: Any) -> str:
    """A number with its interval, if it has one; [mean, sd] as mean ± sd."""
    if value is None:
        return "–"
    if isinstance(value, SeedRange):
        return f"{value.low:.3f} to {value.high:.3f}"
    if isinstance(value, list | tuple):
        return " ± ".join(f"{part:.3f}" for part in value)
    if not isinstance(value, Mapping):
        return f"{value:,}"
    digits = 3 if abs(value["mean"]) < 2 else 2
    mean, low, high = (
        "" if value[key] is None else f"{value[key]:.{digits}f}" for key in ("mean", "low", "high")
    )
    return f"{mean} [{low}, {high}]" if low else mean


def estimated(estimate: Estimate) -> str:
    """A number with its interval, if it has one, in two digits."""
    interval = "" if estimate.low is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]"
    return f"{estimate.value:.2f}{interval}"


def to_markdown(lines: Lines) -> str:
    """A Markdown table."""
    head, *others = lines
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *others])


def to_csv(study: Study, rows: Rows) -> str:
    """A line per row and column: mean, sd, interval and number of seeds, in full precision."""
    columns = {study.column: study.column} if study.column else study.columns
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "seeds", "diverged", "column", "mean", "sd", "low", "high", "settings"])
    for name, row in rows.items():
        for head, path in columns.items():
            value = at(row, path)
            if isinstance(value, SeedRange):
                value = value._asdict()
            parts = value if isinstance(value, Mapping) else {"mean": value}
            numbers = [parts.get(key) for key in ("mean", "sd", "low", "high")]
            settings = fields_text(_tuned(row))
            writer.writerow([name, row["seeds"], row["diverged"], head, *numbers, settings])
    return text.getvalue()


def _by_row(study: Study, rows: Rows) -> Lines:
    """A line per row; the random policy comes first in its group, references after their row."""
    columns = _columns(study, rows)
    lines = [["", "seeds", *columns]]
    shown: set[str] = set()

    def add(name: str, seeds: str, cells: Sequence[str], label: str) -> None:
        lines.append([label, seeds, *cells])
        shown.add(name)
        for reference, known in study.references.items():
            if name in known.values:
                numbers = [number(known.values[name].get(head)) for head in columns]
                lines.append([f"{reference}: {name}", "", *numbers])

    for name, row in rows.items():
        random = _beside(name, "random")
        if random not in shown:
            own = [cell({random: row["random"]}, random) for cell in columns.values()]
            add(random, "", own, random)
        own = [cell(rows, name) for cell in columns.values()]
        add(name, str(row["seeds"]), own, f"`{name}`")
    return lines


def _by_task(study: Study, rows: Rows) -> Lines:
    """A line per method: the random policy first, then references, then our methods.

    The tuned settings stand under each number, in the order of the head, and whether no single
    trial was the best. Tasks and methods without results are left out.
    """
    assert study.column is not None
    settings = ", ".join(study.tune.space) if study.tune else ""
    of_task = {
        task: [row for name, row in rows.items() if name.rpartition("/")[0] == task]
        for task in study.tasks
    }
    of_task = {task: own for task, own in of_task.items() if own}
    lines = [[settings, *(f"`{task}`" for task in of_task)]]
    random = [number(at(own[0]["random"], study.column)) for own in of_task.values()]
    lines.append(["random", *random])
    for reference, known in study.references.items():
        lines.append([reference, *(number(known.values.get(task)) for task in of_task)])
    for method in study.methods:
        of_method = [rows.get(f"{task}/{method}", {}) for task in of_task]
        if not any(of_method):
            continue
        lines.append([f"`{method}`", *(_with_settings(row, study.column) for row in of_method)])
    return lines


def _with_settings(row: Mapping[str, Any], path: str) -> str:
    settings = ", ".join(map(str, _tuned(row).values()))
    if at(row, "tuned.decided") is False:
        settings += " (undecided)"
    return "<br>".join(filter(None, (number(at(row, path)), settings)))


def _tuned(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields that tuning chose for a row; empty if it was not tuned."""
    fields: Mapping[str, Any] = at(row, "tuned.fields") or {}
    return fields


# All rows, and the name of one -> the text of its cell.
Cell = Callable[[Rows, str], str]


def _columns(study: Study, known: Rows) -> dict[str, Cell]:
    columns: dict[str, Cell] = {
        head: lambda rows, row, path=path: number(at(rows[row], path))  # type: ignore[misc]
        for head, path in study.columns.items()
    }
    if study.tune is not None:
        columns["settings"] = lambda rows, row: fields_text(_tuned(rows[row])) or "–"
    if study.versus is not None:
        versus = study.versus
        columns[f"more than `{versus.row}`"] = lambda _, row: _compared(
            known, row, versus, difference
        )
        columns[f"P(more than `{versus.row}`)"] = lambda _, row: _compared(
            known, row, versus, probability_of_improvement
        )
    return columns


def _compared(known: Rows, row: str, versus: Versus, compare: Callable[..., Estimate]) -> str:
    """The seeds of a row compared with those of the `versus` row of its group."""
    other = _beside(row, versus.row)
    if row == other or row not in known or other not in known:
        return "–"
    mine, others = (np.array(at(known[one], versus.path)["values"]) for one in (row, other))
    return estimated(compare([mine], [others], rng=np.random.default_rng(0)))


def _beside(row: str, other: str) -> str:
    """The name of another row of the same group."""
    return "/".join(filter(None, (row.rpartition("/")[0], other)))
