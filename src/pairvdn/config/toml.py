"""A TOML writer for configs: the standard library has only a reader."""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def to_toml(tables: Mapping[str, Any]) -> str:
    """A mapping of values, and of mappings of values, as TOML; None is written "none"."""
    lines = [
        f"{key} = {_value(value)}"
        for key, value in tables.items()
        if not isinstance(value, Mapping)
    ]
    for name, table in tables.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{name}]"] + [f"{key} = {_value(one)}" for key, one in table.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)
