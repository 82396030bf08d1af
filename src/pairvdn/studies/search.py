"""The table `[tune]` of a study: the fields to search, their ranges, and early stopping."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from pairvdn.checks import hint, require_at_least, shown
from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import fields_of
from pairvdn.studies.records import record_from, require_keys, table_of

# Distribution -> its number of parameters; None for any number of values.
DRAWS: Mapping[str, int | None] = {"choice": None, "uniform": 2, "log": 2, "integers": 2}


@dataclasses.dataclass(frozen=True)
class Draw:
    """The distribution of a field: a list, or a uniform, log-uniform or integer range."""

    how: str
    values: tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Search:
    """Random search with early stopping (ASHA).

    `samples` configs are drawn. After `grace`, `grace * reduction`, ... epochs, about one trial in
    `reduction` continues.
    """

    space: Mapping[str, Draw]
    samples: int = 16
    grace: int = 1
    reduction: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        require_at_least(1, samples=self.samples, grace=self.grace)
        require_at_least(2, reduction=self.reduction)
        require_at_least(0, seed=self.seed)


def read_search(key: str, value: Any) -> Search:
    """The search that the table `[tune]` describes."""
    given = dict(table_of(key, value))
    require_keys(key, given, fields_of(Search))
    space = given.pop("space", {})
    if not isinstance(space, Mapping) or not space:
        raise ConfigError(f"{key}.space must be a table of fields, each with its distribution.")
    return record_from(key, Search, given | {"space": dict(_draws(f"{key}.space", space))})


def _draws(where: str, space: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Draw]]:
    """Fields with their draws; a table that is not a draw is a section of the config."""
    for key, value in space.items():
        field = f"{prefix}{key}"
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where}.{field} must be a table such as {{log = [1e-4, 1e-2]}}.")
        how = next(iter(value), "")
        if isinstance(value.get(how), Mapping):
            yield from _draws(where, value, f"{field}.")
        else:
            yield field, _draw(f"{where}.{field}", value)


def _draw(where: str, value: Mapping[str, Any]) -> Draw:
    if len(value) != 1 or next(iter(value)) not in DRAWS:
        given = next((how for how in value if how not in DRAWS), "")
        raise ConfigError(f"{where} needs one distribution, not {given!r}; {hint(given, DRAWS)}")
    ((how, values),) = value.items()
    wanted = DRAWS[how]
    if not isinstance(values, list) or not values or wanted not in (None, len(values)):
        many = "a list of values" if wanted is None else "two numbers, from and to"
        raise ConfigError(f"{where}.{how} must be {many}, not {shown(values)}.")
    if wanted is not None:
        _require_range(f"{where}.{how}", how, values)
    return Draw(how, tuple(values))


def _require_range(where: str, how: str, values: list[Any]) -> None:
    """Raise `ConfigError` unless there are two ascending numbers of the right kind."""
    kinds = int if how == "integers" else (int, float)
    numbers = all(isinstance(value, kinds) and not isinstance(value, bool) for value in values)
    if not numbers or not values[0] < values[1] or (how == "log" and values[0] <= 0):
        needed = {"integers": "two whole numbers", "log": "two numbers above 0"}
        raise ConfigError(
            f"{where} must be {needed.get(how, 'two numbers')}, from and to, not {shown(values)}."
        )
