"""Tables of the results of several studies, and pages with tables."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import convert
from pairvdn.studies.claims import claims_table
from pairvdn.studies.read import read_file, read_study
from pairvdn.studies.records import record_from, require_keys
from pairvdn.studies.standings import aggregate_table
from pairvdn.studies.tables import Lines, Rows, at, number, study_table, to_markdown

ResultsOf = Callable[[str], Rows]  # the results of a study, by its name

_MARKED = re.compile(r"(<!-- (table|claims):([\w-]+) -->\n).*?(<!-- /\2 -->)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Line:
    """One task: a study, the path of its number, and the rows to compare.

    `method` is the name of the row `other`.
    """

    task: str
    study: str
    path: str
    vdn: str = ""
    pairvdn: str = ""
    other: str = ""
    method: str = ""


@dataclasses.dataclass(frozen=True)
class Summary:
    """A table of other studies: `lines` of their results, their `costs`, or one's `aggregate`."""

    name: str
    about: str
    lines: tuple[Line, ...] = ()
    costs: tuple[str, ...] = ()
    aggregate: str = ""

    @property
    def studies(self) -> list[str]:
        """The studies it needs."""
        named = [*(line.study for line in self.lines), *self.costs, self.aggregate]
        return list(dict.fromkeys(filter(None, named)))

    def table(self, results_of: ResultsOf) -> Lines:
        """The table from the results of its studies."""
        if self.aggregate:
            return aggregate_table(read_study(self.aggregate), results_of(self.aggregate))
        return _comparison(self.lines, results_of) if self.lines else _costs(self.costs, results_of)


def read_summary(name: str) -> Summary | None:
    """The summary with this name; None if it is a study."""
    stem, given = read_file(name)
    costs, aggregate = given.get("costs", []), given.get("aggregate", "")
    if not {"lines", "costs"} & given.keys() and not (aggregate and isinstance(aggregate, str)):
        return None  # in a study, `aggregate` is a table
    require_keys(name, given, ("about", "lines", "costs", "aggregate"))
    lines = [record_from(f"{name}: lines", Line, one) for one in given.get("lines", [])]
    if [bool(lines), bool(costs), bool(aggregate)].count(True) != 1:
        raise ConfigError(f"{name}: a summary has lines, costs or an aggregate.")
    return Summary(
        stem,
        convert(f"{name}: about", str, given.get("about", "")),
        tuple(lines),
        convert(f"{name}: costs", tuple[str, ...], costs),
        convert(f"{name}: aggregate", str, aggregate),
    )


def markdown_of(name: str, results_of: ResultsOf) -> str:
    """The table of a study or a summary as Markdown."""
    summary = read_summary(name)
    if summary is not None:
        return to_markdown(summary.table(results_of))
    return to_markdown(study_table(read_study(name), results_of(name)))


def fill(page: str, results_of: ResultsOf) -> str:
    """A page with its tables: between `<!-- table:STUDY -->` and `<!-- /table -->`, or `claims`."""

    def filled(table: re.Match[str]) -> str:
        before, kind, name, after = table.groups()
        if kind == "claims":
            text = to_markdown(claims_table(read_study(name), results_of(name)))
        else:
            text = markdown_of(name, results_of)
        return f"{before}\n{text}\n{after}"

    return _MARKED.sub(filled, page)


def _comparison(lines: tuple[Line, ...], results_of: ResultsOf) -> Lines:
    """Per task: the random policy, VDN, the paper's ring, and one other method."""
    table = [["task", "random", "`vdn`", "`pairvdn`", "another method", "seeds"]]
    for line in lines:
        rows = results_of(line.study)
        vdn, pairvdn, other = (rows.get(name, {}) for name in (line.vdn, line.pairvdn, line.other))
        any_row = pairvdn or other
        compared = (any_row.get("random", {}), vdn, pairvdn, other)
        numbers = [number(at(row, line.path)) for row in compared]
        if other:
            numbers[-1] = f"`{line.method}` {numbers[-1]}"
        table.append([line.task, *numbers, str(any_row.get("seeds", "–"))])
    return table


def _costs(studies: tuple[str, ...], results_of: ResultsOf) -> Lines:
    """Seeds, steps, updates, time and speed of every row, or of all methods of a task."""
    table = [["", "seeds", "env steps", "updates", "minutes", "env steps/s", "updates/s"]]
    for name in studies:
        by_task = read_study(name).column is not None
        groups: dict[str, list[Any]] = {}
        for row, numbers in results_of(name).items():
            groups.setdefault(row.rpartition("/")[0] if by_task else row, []).append(numbers)
        table += [[f"{name}: `{group}`", *_cost(rows)] for group, rows in groups.items()]
    return table


def _cost(rows: list[Mapping[str, Any]]) -> list[str]:
    """The cost of rows that were trained one after the other, that of their trials included."""
    costs = [cost for row in rows for cost in (row["cost"], at(row, "tuned.cost")) if cost]
    seconds, steps, updates = (
        sum(cost[key] for cost in costs) for key in ("seconds", "env_steps", "updates")
    )
    return [
        str(sum(row["seeds"] for row in rows)),
        f"{steps:,}",
        f"{updates:,}",
        f"{seconds / 60:.1f}",
        f"{steps / seconds:,.0f}",
        f"{updates / seconds:,.0f}",
    ]
