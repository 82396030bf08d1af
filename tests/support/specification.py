"""What the page of an environment must hold: its docstring, with the arguments as a list."""

import inspect
import re
from typing import Any


def specification(documented: Any) -> str:
    """The docstring as Markdown; its section of arguments becomes a list."""
    text, section = _parts(documented)
    return f"{text}\n\nArguments:\n\n{_as_list(section)}" if section else text


def arguments(documented: Any) -> str:
    """Only the list."""
    return _as_list(_parts(documented)[1])


def _parts(documented: Any) -> tuple[str, str]:
    docstring = inspect.getdoc(documented)
    assert docstring is not None
    text, *section = re.split(r"^(?:Args|Attributes):\n", docstring, flags=re.MULTILINE)
    return text.strip(), "".join(section)


def _as_list(section: str) -> str:
    entries = re.split(r"^    (?=\w+: )", section, flags=re.MULTILINE)[1:]
    return "\n".join(re.sub(r"^(\w+): ", r"- `\1`: ", " ".join(entry.split())) for entry in entries)
