"""The table `[tune]` of a grid: which fields are searched, where, and when a trial may end."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from pairvdn.checks import hint
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.schema import convert, fields_of

# How a field is drawn -> how many numbers that takes; None for as many values as one likes.
DRAWS: Mapping[str, int | None] = {"choice": None, "uniform": 2, "log": 2, "integers": 2}


@dataclasses.dataclass(frozen=True)
class Draw:
    """How a field is drawn: one of a list, or uniformly, log-uniformly or whole in an interval."""

    how: str
    values: tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Search:
    """Random search with early stopping (ASHA).

    `samples` configs are drawn. Of those that have done `grace`, `grace * reduction`, ... epochs,
    about one in `reduction` goes on.
    """

    space: Mapping[str, Draw]
    samples: int = 16
    grace: int = 1
    reduction: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in {"samples": 1, "grace": 1, "reduction": 2, "seed": 0}.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, not {getattr(self, name)}.")


def read_search(key: str, given: Mapping[str, Any]) -> Search:
    """The search that a table describes."""
    known = fields_of(Search)
    for name in given:
        if name not in known:
            raise ConfigError(f"There is no key {f'{key}.{name}'!r}; {hint(name, known)}")
    numbers = {
        name: convert(f"{key}.{name}", int, value)
        for name, value in given.items()
        if name != "space"
    }
    space = given.get("space", {})
    if not isinstance(space, Mapping) or not space:
        raise ConfigError(f"{key}.space must be a table of fields, each with how it is drawn.")
    try:
        return Search(space=dict(_draws(f"{key}.space", space)), **numbers)
    except ValueError as error:
        raise ConfigError(f"{key}.{one_line(error)}") from error


def _draws(where: str, space: Mapping[str, Any], prefix: str = "") -> Any:
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
        raise ConfigError(f"{where} must be drawn in one way, not {given!r}; {hint(given, DRAWS)}")
    ((how, values),) = value.items()
    wanted = DRAWS[how]
    if not isinstance(values, list) or not values or wanted not in (None, len(values)):
        many = "a list of values" if wanted is None else "two numbers, from and to"
        raise ConfigError(f"{where}.{how} must be {many}, not {values!r}.")
    if wanted is not None:
        _require_range(f"{where}.{how}", how, values)
    return Draw(how, tuple(values))


def _require_range(where: str, how: str, values: list[Any]) -> None:
    """Two numbers that grow; whole ones, or above 0, where the draw needs that."""
    kinds = int if how == "integers" else (int, float)
    numbers = all(isinstance(one, kinds) and not isinstance(one, bool) for one in values)
    if not numbers or not values[0] < values[1] or (how == "log" and values[0] <= 0):
        needed = {"integers": "two whole numbers", "log": "two numbers above 0"}
        raise ConfigError(
            f"{where} must be {needed.get(how, 'two numbers')}, from and to, not {values!r}."
        )
