"""TOML: reading that refuses with one line, a writer, and tables with dotted keys."""

import errno
import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pairvdn.config.errors import ConfigError, one_line, unreadable

# Far more than any config or study; reading a larger text takes memory many times its size.
_MOST_CHARACTERS = 10_000_000
_MOST_LEVELS = 20  # of tables and lists; configs and studies have four
# Python's reader needs the square of the number of parts of a dotted key, in time and memory.
_LONG_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){100}""")


def read_toml(text: str, name: str) -> dict[str, Any]:
    """The tables of a TOML text; `ConfigError` with its `name` if it is not TOML."""
    if len(text) > _MOST_CHARACTERS:
        raise ConfigError(f"{name} is too large: more than {_MOST_CHARACTERS} characters.")
    if _LONG_KEY.search(text):
        raise ConfigError(f"{name} cannot be used: a key has more than 100 dots.")
    try:
        tables = tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{name} is not TOML: too many brackets inside each other.") from error
    except ValueError as error:  # TOMLDecodeError, or a number of too many digits
        raise ConfigError(f"{name} is not TOML: {one_line(error)}") from error
    if levels_exceed(_MOST_LEVELS, tables):
        raise ConfigError(f"{name} cannot be used: too many tables or brackets inside each other.")
    return tables


def levels_exceed(most: int, value: Any) -> bool:
    """Whether tables and lists are nested more than `most` levels deep: recursion would fail."""
    level = [value]
    for _ in range(most + 1):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(level)


def read_toml_file(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        if not Path(path).is_file():  # a pipe would hang
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        if Path(path).stat().st_size > 4 * _MOST_CHARACTERS:  # UTF-8 has at most four bytes each
            raise ConfigError(f"{path} is too large: more than {_MOST_CHARACTERS} characters.")
        return read_toml(Path(path).read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(str(path), error) from error


def values_of(text: str) -> list[Any]:
    """What a text may mean as a TOML value: as it stands, and as a list without its brackets."""
    values = []
    for candidate in (text, f"[{text}]"):
        try:
            tables = read_toml(f"value = {candidate}", "the value")
        except ConfigError:
            continue
        if list(tables) == ["value"]:  # a line break may start another key
            values.append(tables["value"])
    return values


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as one table with dotted keys."""
    fields: dict[str, Any] = {}
    for key, value in table.items():
        inner = isinstance(value, Mapping)
        fields |= flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return fields


def to_toml(tables: Mapping[str, Any]) -> str:
    """A mapping of values, and of mappings of values, as TOML; None is written "none"."""
    lines = [
        f"{_key(key)} = {_value(value)}"
        for key, value in tables.items()
        if not isinstance(value, Mapping)
    ]
    for name, table in tables.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{name}]"] + [
                f"{_key(key)} = {_value(one)}" for key, one in table.items()
            ]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _value(key)


def _value(value: Any) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)
