"""What arguments mean, read from the docstrings that document them."""

import inspect
import re
from typing import Any

_SECTION = re.compile(r"(?:Args|Arguments|Attributes):")
_ENTRY = re.compile(r"(?P<names>\w+(?:, \w+)*)(?: \([^)]*\))?: (?P<text>.*)")


def meanings(documented: Any) -> dict[str, str]:
    """The entries of the sections `Args:` and `Attributes:` of a docstring, one line each."""
    docs = [inspect.getdoc(documented)]
    if inspect.isclass(documented):
        docs.append(inspect.getdoc(documented.__init__))
    found: dict[str, str] = {}
    for text in docs:
        found |= _entries(text or "")
    return found


def _entries(text: str) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    inside, names = False, ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            inside, names = bool(_SECTION.fullmatch(line)), ""
        elif inside and line.strip():
            entry = _ENTRY.fullmatch(line.strip())
            if entry and len(line) - len(line.lstrip()) == 4:
                names = entry["names"]
                found[names] = [entry["text"]]
            elif names:
                found[names].append(line.strip())
    return {
        name: " ".join(lines).rstrip(".")
        for names, lines in found.items()
        for name in names.split(", ")
    }
