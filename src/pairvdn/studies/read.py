"""Reading a study from its TOML file; docs/studies.md describes the format."""

from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pairvdn.checks import hint, shown
from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.registry import require_trust
from pairvdn.config.schema import convert
from pairvdn.config.toml import read_toml, read_toml_file
from pairvdn.runs.analysis.evaluate import Settings
from pairvdn.studies.cells import Resources
from pairvdn.studies.records import Record, record_from, require_keys, table_of
from pairvdn.studies.rows import folder_name, read_pairs, read_rows, read_tasks
from pairvdn.studies.search import Search, read_search
from pairvdn.studies.study import (
    FIGURES,
    Aggregation,
    Claim,
    Figure,
    Overview,
    Reference,
    Row,
    Study,
    Versus,
)

_PLAIN_KEYS = {
    "about": str,
    "column": str,
    "methods": tuple[str, ...],
    "side_by_side": bool,
    "without": tuple[str, ...],
}
_KEYS = (
    *_PLAIN_KEYS,
    *("seeds", "seeds_of", "fields", "vary", "tasks", "rows"),
    *("evaluation", "columns", "references", "versus", "claims", "aggregate", "figures"),
    *("resources", "tune"),
)


def shipped_names() -> tuple[str, ...]:
    """The studies and summaries in the package."""
    files = (resources.files("pairvdn.studies") / "shipped").iterdir()
    return tuple(sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml")))


def read_file(name: str) -> tuple[str, dict[str, Any]]:
    """The name and the keys of a study: a shipped name, or the path of a TOML file."""
    if name in shipped_names():
        shipped = resources.files("pairvdn.studies") / "shipped" / f"{name}.toml"
        return name, read_toml(shipped.read_text(encoding="utf-8"), name)
    if not name.endswith(".toml"):
        raise ConfigError(
            f"There is no study {name!r}; {hint(name, shipped_names())} "
            "Name a study of your own by its path, STUDY.toml."
        )
    return Path(name).stem, read_toml_file(name)


def read_study(name: str, *, trust: bool = True) -> Study:
    """The study with a shipped name, or in a TOML file; `trust` is as in `Config.from_dict`."""
    stem, given = read_file(name)
    try:
        return study_from(stem, given, trust=trust)
    except ConfigError as error:
        raise ConfigError(f"{name}: {one_line(error)}") from error


def study_from(name: str, given: Mapping[str, Any], *, trust: bool = True) -> Study:
    """A study from plain values; checks every config before anything is trained."""
    require_keys("A study", given, _KEYS)
    plain = {
        key: convert(key, kind, given[key]) for key, kind in _PLAIN_KEYS.items() if key in given
    }
    side_by_side = plain.pop("side_by_side", False)
    tasks = read_tasks(given.get("tasks", {}))
    pairs = read_pairs(tasks, plain.get("methods", ()), plain.pop("without", ()))
    rows = read_rows(given, pairs, side_by_side)
    if not trust:
        for row in rows.values():
            require_trust(row.names())
    if "methods" in plain:
        plain["methods"] = tuple(map(folder_name, plain["methods"]))  # as rows are labelled
    study = Study(
        name=name,
        rows=rows,
        tasks=tuple(tasks),
        **plain,
        **{key: _SECTIONS[key](key, given[key]) for key in _SECTIONS if key in given},
    )
    _require_sound(study, varied="vary" in given)
    return study


def _require_sound(study: Study, *, varied: bool) -> None:
    """Check conditions on several keys."""
    if study.column is not None and (varied or not study.tasks):
        raise ConfigError("column makes a table of methods and tasks: it needs tasks, and no vary.")
    _require_rows(study)
    if study.aggregate is not None:
        _require_aggregate(study, study.aggregate)
    for name, figure in study.figures.items():
        if isinstance(figure, Overview) and study.aggregate is None:
            raise ConfigError(f"figures.{name} needs a table [aggregate]; see docs/studies.md.")
        for row in getattr(figure, "rows", ()):
            _require_row(study, f"figures.{name}", row)
    for text, claim in study.claims.items():
        for row in (claim.row, claim.than):
            _require_row(study, f"claims.{text!r}", row)


def _require_row(study: Study, key: str, row: str) -> None:
    if row not in study.rows:
        raise ConfigError(f"{key} has no row {row!r}; {hint(row, study.rows)}")


def _require_aggregate(study: Study, aggregate: Aggregation) -> None:
    """Check that the names of `[aggregate]` exist, and that every task has a number for 1."""
    known = {
        "zero": (study.references, [aggregate.zero]),
        "one": (study.references, [aggregate.one]),
        "versus": (study.methods, [aggregate.versus]),
        "tasks": (study.tasks, aggregate.tasks),
    }
    for key, (names, given) in known.items():
        for name in given:
            if name not in names:
                raise ConfigError(f"aggregate.{key} has no {name!r}; {hint(name, names)}")
    zeros, ones = (study.references[name].values for name in (aggregate.zero, aggregate.one))
    for task in aggregate.tasks or study.tasks:
        if not isinstance(ones.get(task), int | float):
            raise ConfigError(f"references.{aggregate.one!r} needs a number for the task {task}.")
        if zeros.get(task) == ones[task]:
            raise ConfigError(f"aggregate: zero and one must differ, but both are {ones[task]}.")


def _require_rows(study: Study) -> None:
    """Check every config and all seeds, and that rows of a group share an environment."""
    envs: dict[str, str] = {}  # group -> environment
    for row in study.rows.values():
        first = row.seeds[0]
        if row.side_by_side and row.seeds != tuple(range(first, first + len(row.seeds))):
            raise ConfigError(f"{row.name}: seeds side by side must be consecutive: 3, 4, 5.")
        if len(set(row.seeds)) < len(row.seeds):
            raise ConfigError(f"{row.name}: a seed is named twice; name each seed once.")
        config = row.config()
        if study.tune is not None:
            _require_trials(row, config, study.tune)
        env = envs.setdefault(row.group, config.env.name)
        if env != config.env.name:  # a group has one random policy
            raise ConfigError(
                f"{row.name}: rows of a group share an environment, here {env}, not "
                f"{config.env.name}; name the row GROUP/LABEL."
            )
        outer = next((name for name in study.rows if row.name.startswith(f"{name}/")), None)
        if outer is not None:
            raise ConfigError(f"{outer!r} is a row and a group of rows; rename one of them.")


def _require_trials(row: Row, config: Config, search: Search) -> None:
    """Check the fields of trials, and that no tuning seed is a seed of the row."""
    config.replace({**search.trials()[0], "seed": search.seeds[0]})
    if shared := set(search.seeds) & set(row.seeds):
        raise ConfigError(f"{row.name}: seed {min(shared)} is in tune.seeds; use another one.")
    if row.name.partition("/")[0] == "tune":
        raise ConfigError(f"{row.name!r} is in the folder of trials; use another name than tune.")


def _columns(key: str, value: Any) -> dict[str, str]:
    columns = {
        head: convert(f"{key}.{head}", str, path) for head, path in table_of(key, value).items()
    }
    if not columns:
        raise ConfigError(f"{key} needs at least one column; leave the key out for the return.")
    return columns


def _records(kind: type[Record]) -> Callable[[str, Any], dict[str, Record]]:
    """The reader of a table of records."""

    def read(key: str, value: Any) -> dict[str, Record]:
        given = table_of(key, value)
        return {name: record_from(f"{key}.{name}", kind, one) for name, one in given.items()}

    return read


def _figures(key: str, value: Any) -> dict[str, Figure]:
    return {name: _figure(f"{key}.{name}", one) for name, one in table_of(key, value).items()}


def _figure(key: str, value: Any) -> Figure:
    given = dict(table_of(key, value))
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in FIGURES:
        raise ConfigError(f"{key}.kind must be one of {', '.join(FIGURES)}, not {shown(kind)}.")
    return record_from(key, FIGURES[kind], given)


_SECTIONS: dict[str, Any] = {
    "evaluation": lambda key, value: record_from(key, Settings, value),
    "columns": _columns,
    "references": _records(Reference),
    "versus": lambda key, value: record_from(key, Versus, value),
    "claims": _records(Claim),
    "aggregate": lambda key, value: record_from(key, Aggregation, value),
    "figures": _figures,
    "resources": lambda key, value: record_from(key, Resources, value),
    "tune": read_search,
}
