"""Reading a study from its TOML file; docs/studies.md describes the format."""

import itertools
import math
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pairvdn.checks import hint, shown
from pairvdn.config.config import Config, General
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.registry import require_trust
from pairvdn.config.schema import convert
from pairvdn.config.toml import flat, read_toml, read_toml_file
from pairvdn.envs import is_external
from pairvdn.runs.analysis.evaluate import Settings
from pairvdn.runs.train import MOST_SEEDS
from pairvdn.studies.cells import Resources
from pairvdn.studies.records import record_from, require_keys, table_of
from pairvdn.studies.search import Search, read_search
from pairvdn.studies.study import (
    FIGURES,
    Aggregation,
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
    *("seeds", "fields", "vary", "tasks", "rows"),
    *("evaluation", "columns", "references", "versus", "aggregate", "figures", "resources", "tune"),
)
_MOST_ROWS = 10_000
# Characters of folder names that shells and file systems accept without quotes.
_NAME = re.compile(r"(?!\.+(/|$))[\w.,=+-]+(/(?!\.+(/|$))[\w.,=+-]+)*")


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
    tasks = _tasks(given.get("tasks", {}))
    pairs = _pairs(tasks, plain.get("methods", ()), plain.pop("without", ()))
    rows = _rows(given, pairs, side_by_side)
    if not trust:
        for row in rows.values():
            require_trust(row.names())
    if "methods" in plain:
        plain["methods"] = tuple(map(_folder_name, plain["methods"]))  # as rows are labelled
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
            if row not in study.rows:
                raise ConfigError(f"figures.{name} has no row {row!r}; {hint(row, study.rows)}")


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


def _tasks(given: Any) -> dict[str, Mapping[str, Any]]:
    """Tasks with their changed fields: a list of environments, or a table of fields for each."""
    if isinstance(given, list):
        names: tuple[str, ...] = convert("tasks", tuple[str, ...], given)
        return {_folder_name(name): {"env.name": name} for name in names}
    return {
        name: {"env.name": name, **_fields(f"tasks.{name}", fields, also=("env.name",))}
        for name, fields in table_of("tasks", given).items()
    }


def _pairs(
    tasks: Mapping[str, Mapping[str, Any]], methods: tuple[str, ...], without: tuple[str, ...]
) -> dict[str, tuple[Mapping[str, Any], str]]:
    """TASK/METHOD -> the task's fields and the method, for all pairs but those of `without`."""
    if bool(tasks) != bool(methods):
        raise ConfigError("tasks and methods belong together: each method is trained on each task.")
    pairs = {
        f"{task}/{_folder_name(method)}": (fields, method)
        for (task, fields), method in itertools.product(tasks.items(), methods)
    }
    if len(pairs) < len(tasks) * len(methods):
        raise ConfigError("methods: two of them have the same name; name each method once.")
    for name in without:
        if name not in pairs:
            raise ConfigError(f"without has no row {name!r}; {hint(name, pairs)}")
        del pairs[name]
    return pairs


def _rows(
    given: Mapping[str, Any],
    pairs: Mapping[str, tuple[Mapping[str, Any], str]],
    side_by_side: bool,
) -> dict[str, Row]:
    """Every pair of task and method with every combination of `vary`, then the rows by name."""
    shared = _fields("fields", given.get("fields", {}))
    seeds = _seeds("seeds", given.get("seeds", 1))
    rows: dict[str, Row] = {}
    varied = _vary(given.get("vary", {}))
    if (number := len(pairs) * math.prod(map(len, varied.values()))) > _MOST_ROWS:
        raise ConfigError(
            f"A study may have at most {_MOST_ROWS} rows, not {number}: shorten tasks, methods or "
            "the lists of vary."
        )
    for pair, (fields, method) in pairs.items():
        own = {key: value for key, value in fields.items() if key != "env.name"}
        env = fields["env.name"]
        outside = {"method.name": method} if is_external(env) else {}
        for values in itertools.product(*varied.values()):
            chosen = dict(zip(varied, values, strict=True))
            name = f"{pair}/{_variant(chosen)}" if chosen else pair
            if name in rows:
                raise ConfigError(f"Two rows have the name {name}; is a value given twice?")
            preset = env if outside else f"{env}/{method}"
            rows[name] = Row(
                name, preset, {**shared, **outside, **own, **chosen}, seeds, side_by_side
            )
    for name, table in table_of("rows", given.get("rows", {})).items():
        own = dict(table_of(f"rows.{name}", table))
        if "preset" not in own:
            raise ConfigError(
                f"rows.{name} needs a preset, ENV/METHOD; see `pairvdn list presets`."
            )
        preset = convert(f"rows.{name}.preset", str, own.pop("preset"))
        own_seeds = _seeds(f"rows.{name}.seeds", own.pop("seeds")) if "seeds" in own else seeds
        fields = _fields(f"rows.{name}", own, also=("method.name", "env.name"))
        rows[name] = Row(name, preset, {**shared, **fields}, own_seeds, side_by_side)
    if not rows:
        raise ConfigError("A study needs rows, or tasks and methods.")
    for name in rows:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"row {name!r} must be letters, digits and .,=+-_ between slashes.")
    return rows


def _seeds(key: str, value: Any) -> tuple[int, ...]:
    """A list of seeds, or a number of seeds from 0 on."""
    seeds = convert(key, int | tuple[int, ...], value)
    if isinstance(seeds, int) and seeds > MOST_SEEDS:
        raise ConfigError(f"{key} must be at most {MOST_SEEDS}, not {shown(seeds)}.")
    seeds = tuple(range(seeds)) if isinstance(seeds, int) else seeds
    if not seeds:
        raise ConfigError(f"{key} must be a list of seeds or a number of at least 1.")
    try:
        for seed in (min(seeds), max(seeds)):
            General(seed=seed)  # checks the range
    except ValueError as error:
        raise ConfigError(f"{key}: {one_line(error)}") from error
    return seeds


# Fields that a study sets by keys of its own.
_ELSEWHERE = {"seed": "use seeds", "env.name": "use tasks", "method.name": "use methods"}


def _fields(key: str, value: Any, also: tuple[str, ...] = ()) -> dict[str, Any]:
    """Dotted fields, from tables as in a config or from dotted keys."""
    fields = flat(table_of(key, value))
    for field in fields:
        if field in _ELSEWHERE and field not in also:
            raise ConfigError(f"{key}.{field} is not allowed here; {_ELSEWHERE[field]}.")
    return fields


def _vary(value: Any) -> dict[str, tuple[Any, ...]]:
    varied = _fields("vary", value)
    for field, values in varied.items():
        if not isinstance(values, list) or not values:
            raise ConfigError(f"vary.{field} must be a list of values to try, not {shown(values)}.")
    return {field: tuple(values) for field, values in varied.items()}


def _variant(chosen: Mapping[str, Any]) -> str:
    return ",".join(f"{field}={_folder_name(_short(value))}" for field, value in chosen.items())


def _short(value: Any) -> str:
    return "-".join(map(str, value)) if isinstance(value, list) else str(value).lower()


def _folder_name(text: str) -> str:
    """The text with dashes for characters that shells and file systems do not accept."""
    return re.sub(r"[^\w.,=+-]", "-", text)


def _columns(key: str, value: Any) -> dict[str, str]:
    columns = {
        head: convert(f"{key}.{head}", str, path) for head, path in table_of(key, value).items()
    }
    if not columns:
        raise ConfigError(f"{key} needs at least one column; leave the key out for the return.")
    return columns


def _references(key: str, value: Any) -> dict[str, Reference]:
    return {
        name: record_from(f"{key}.{name}", Reference, one)
        for name, one in table_of(key, value).items()
    }


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
    "references": _references,
    "versus": lambda key, value: record_from(key, Versus, value),
    "aggregate": lambda key, value: record_from(key, Aggregation, value),
    "figures": _figures,
    "resources": lambda key, value: record_from(key, Resources, value),
    "tune": read_search,
}
