"""Dataclasses from the tables of a TOML file, with checked keys and types."""

import dataclasses
import typing
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from pairvdn.checks import hint, shown
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.schema import convert, fields_of

Record = TypeVar("Record")


def record_from(key: str, kind: type[Record], value: Any) -> Record:
    """A dataclass from a table; an unknown key is an error with a hint."""
    given = table_of(key, value)
    known = fields_of(kind)
    require_keys(key, given, known)
    required = [
        field.name
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    for name in required:
        if name not in given:
            raise ConfigError(f"{key} needs {name}.")
    arguments = {
        name: table_of(f"{key}.{name}", one)
        if typing.get_origin(known[name].kind) is Mapping
        else convert(f"{key}.{name}", known[name].kind, one)
        for name, one in given.items()
    }
    try:
        return kind(**arguments)
    except ValueError as error:
        raise ConfigError(f"{key}.{one_line(error)}") from error


def require_keys(where: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    """Raise `ConfigError` for an unknown key, with the nearest known one."""
    for key in given:
        if key not in known:
            raise ConfigError(f"{where} has no key {key!r}; {hint(key, known)}")


def table_of(key: str, value: Any) -> Mapping[str, Any]:
    """The value, which must be a table."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{key} must be a table of keys, not {shown(value)}.")
    return value
