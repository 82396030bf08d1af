"""The rows of a study from its file: tasks times methods, variations, and rows by name."""

import dataclasses
import itertools
import math
import re
from collections.abc import Mapping
from typing import Any

from pairvdn.checks import hint, shown
from pairvdn.config.config import General
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.schema import convert
from pairvdn.config.toml import flat
from pairvdn.envs import is_external
from pairvdn.runs.train import MOST_SEEDS
from pairvdn.studies.records import table_of
from pairvdn.studies.study import Row

_MOST_ROWS = 10_000
# Characters of folder names that shells and file systems accept without quotes.
_NAME = re.compile(r"(?!\.+(/|$))[\w.,=+-]+(/(?!\.+(/|$))[\w.,=+-]+)*")


def read_tasks(given: Any) -> dict[str, Mapping[str, Any]]:
    """Tasks with their changed fields: a list of environments, or a table of fields for each."""
    if isinstance(given, list):
        names: tuple[str, ...] = convert("tasks", tuple[str, ...], given)
        return {folder_name(name): {"env.name": name} for name in names}
    return {
        name: {"env.name": name, **_fields(f"tasks.{name}", fields, also=("env.name",))}
        for name, fields in table_of("tasks", given).items()
    }


def read_pairs(
    tasks: Mapping[str, Mapping[str, Any]], methods: tuple[str, ...], without: tuple[str, ...]
) -> dict[str, tuple[Mapping[str, Any], str]]:
    """TASK/METHOD -> the task's fields and the method, for all pairs but those of `without`."""
    if bool(tasks) != bool(methods):
        raise ConfigError("tasks and methods belong together: each method is trained on each task.")
    pairs = {
        f"{task}/{folder_name(method)}": (fields, method)
        for (task, fields), method in itertools.product(tasks.items(), methods)
    }
    if len(pairs) < len(tasks) * len(methods):
        raise ConfigError("methods: two of them have the same name; name each method once.")
    for name in without:
        if name not in pairs:
            raise ConfigError(f"without has no row {name!r}; {hint(name, pairs)}")
        del pairs[name]
    return pairs


def read_rows(
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
    for name, own_seeds in table_of("seeds_of", given.get("seeds_of", {})).items():
        if name not in rows:
            raise ConfigError(f"seeds_of has no row {name!r}; {hint(name, rows)}")
        rows[name] = dataclasses.replace(rows[name], seeds=_seeds(f"seeds_of.{name}", own_seeds))
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
    return ",".join(f"{field}={folder_name(_short(value))}" for field, value in chosen.items())


def _short(value: Any) -> str:
    return "-".join(map(str, value)) if isinstance(value, list) else str(value).lower()


def folder_name(text: str) -> str:
    """The text with dashes for characters that shells and file systems do not accept."""
    return re.sub(r"[^\w.,=+-]", "-", text)
