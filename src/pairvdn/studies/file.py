"""GRID.toml: methods x environments x seeds x any field, as named cells."""

import collections
import dataclasses
import itertools
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pairvdn.checks import hint
from pairvdn.config.config import Config, General
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.presets import load_preset
from pairvdn.config.schema import convert, fields_of
from pairvdn.envs import is_external
from pairvdn.studies.cells import Cell, Resources
from pairvdn.studies.search import Search, read_search

# Fields that a grid names otherwise.
_ELSEWHERE = {"seed": "seeds", "env.name": "environments", "method.name": "methods"}


@dataclasses.dataclass(frozen=True)
class Grid:
    """A grid as it stands in its file. `fields` hold for all cells; of `vary`, all combinations."""

    environments: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: tuple[int, ...] = (0,)
    side_by_side: bool = False
    fields: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    vary: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    resources: Resources = dataclasses.field(default_factory=Resources)
    tune: Search | None = None

    def cells(self) -> list[Cell]:
        """Every cell, checked: `ConfigError` names the nearest key of one that does not exist."""
        cells = [cell for group in self.groups() for cell in self._seeded(*group)]
        ((name, times),) = collections.Counter(cell.name for cell in cells).most_common(1)
        if times > 1:
            raise ConfigError(f"two cells would be called {name}; is a value named twice?")
        return cells

    def groups(self) -> Iterator[tuple[str, Config]]:
        """Name and config for each environment, method and combination of `vary`."""
        for env, method in itertools.product(self.environments, self.methods):
            config = _preset(env, method)
            for values in itertools.product(*self.vary.values()):
                chosen = dict(zip(self.vary, values, strict=True))
                parts = [env, method, *([_variant(chosen)] if chosen else [])]
                name = "/".join(_file_name(part) for part in parts)
                yield name, config.replace({**self.fields, **chosen})

    def _seeded(self, name: str, config: Config) -> Iterator[Cell]:
        if self.side_by_side:
            first = dataclasses.replace(config, seed=self.seeds[0])
            yield Cell(name, first, num_seeds=len(self.seeds))
            return
        for seed in self.seeds:
            yield Cell(f"{name}/seed-{seed}", dataclasses.replace(config, seed=seed))


def read_grid(path: Path) -> Grid:
    """Read a grid's file."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {one_line(error)}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {one_line(error)}") from error
    try:
        return grid_from(given)
    except ConfigError as error:
        raise ConfigError(f"{path}: {one_line(error)}") from error


def grid_from(given: Mapping[str, Any]) -> Grid:
    """A grid out of plain values."""
    for key in given:
        if key not in _READERS:
            raise ConfigError(f"A grid has no key {key!r}; {hint(key, _READERS)}")
    for key in ("environments", "methods"):
        if key not in given:
            raise ConfigError(f"A grid needs {key}, a list of names.")
    grid = Grid(**{key: _READERS[key](key, value) for key, value in given.items()})
    if grid.side_by_side and grid.seeds != tuple(
        range(grid.seeds[0], grid.seeds[0] + len(grid.seeds))
    ):
        raise ConfigError("seeds that are trained side by side must follow each other: 3, 4, 5.")
    grid.cells()  # every field is looked at before anything is trained
    if grid.tune is not None:
        for _, config in grid.groups():
            config.replace({field: draw.values[0] for field, draw in grid.tune.space.items()})
    return grid


def _names(key: str, value: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = convert(key, tuple[str, ...], value)
    if not names:
        raise ConfigError(f"{key} must name at least one.")
    return names


def _seeds(key: str, value: Any) -> tuple[int, ...]:
    """Seeds, or how many of them, from 0."""
    seeds = convert(key, int | tuple[int, ...], value)
    seeds = tuple(range(seeds)) if isinstance(seeds, int) else seeds
    if not seeds:
        raise ConfigError(f"{key} must be a list of seeds or a number of at least 1.")
    try:
        for seed in (min(seeds), max(seeds)):
            General(seed=seed)  # which knows what a seed may be
    except ValueError as error:
        raise ConfigError(f"{key}: {one_line(error)}") from error
    return seeds


def _flag(key: str, value: Any) -> bool:
    flag: bool = convert(key, bool, value)
    return flag


def _fields(key: str, value: Any) -> dict[str, Any]:
    """Dotted fields: `[fields]` may hold tables as a config does, or dotted keys."""
    fields = dict(_flat(_table(key, value)))
    for field in fields:
        if field in _ELSEWHERE:
            raise ConfigError(f"{key}.{field}: name them at the top, {_ELSEWHERE[field]} = [...].")
    return fields


def _vary(key: str, value: Any) -> dict[str, tuple[Any, ...]]:
    varied = _fields(key, value)
    for field, values in varied.items():
        if not isinstance(values, list) or not values:
            raise ConfigError(f"{key}.{field} must be a list of values to try, not {values!r}.")
    return {field: tuple(values) for field, values in varied.items()}


def _resources(key: str, value: Any) -> Resources:
    known = fields_of(Resources)
    given = _table(key, value)
    for name in given:
        if name not in known:
            raise ConfigError(f"There is no key {f'{key}.{name}'!r}; {hint(name, known)}")
    try:
        return Resources(
            **{name: convert(f"{key}.{name}", known[name].kind, one) for name, one in given.items()}
        )
    except ValueError as error:
        raise ConfigError(f"{key}.{one_line(error)}") from error


def _search(key: str, value: Any) -> Search:
    return read_search(key, _table(key, value))


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "environments": _names,
    "methods": _names,
    "seeds": _seeds,
    "side_by_side": _flag,
    "fields": _fields,
    "vary": _vary,
    "resources": _resources,
    "tune": _search,
}


def _table(key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{key} must be a table of keys, not {value!r}.")
    return value


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _preset(env: str, method: str) -> Config:
    if is_external(env):
        return load_preset(env).replace({"method.name": method})
    return load_preset(f"{env}/{method}")


def _variant(chosen: Mapping[str, Any]) -> str:
    return ",".join(f"{field}={_short(value)}" for field, value in chosen.items())


def _short(value: Any) -> str:
    return "-".join(map(str, value)) if isinstance(value, list) else str(value).lower()


def _file_name(text: str) -> str:
    """Without what separates folders, and what shells and file systems take amiss."""
    return "".join("-" if letter in '/\\:*?"<>| ' else letter for letter in text)
