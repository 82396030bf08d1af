"""Trained runs that ship with the package, named `pretrained:NAME`."""

from importlib import resources
from pathlib import Path

from pairvdn.checks import hint
from pairvdn.runs.errors import FolderError

PREFIX = "pretrained:"


def pretrained_names() -> tuple[str, ...]:
    """The names of all shipped runs."""
    return tuple(sorted(one.name for one in _root().iterdir() if one.is_dir()))


def run_path(name: str | Path) -> Path:
    """The folder of a run, given as a path or as `pretrained:NAME`."""
    if not str(name).startswith(PREFIX):
        return Path(name)
    shipped = str(name).removeprefix(PREFIX)
    if shipped not in pretrained_names():
        raise FolderError(f"There is no {name}; {hint(shipped, pretrained_names())}")
    return _root() / shipped


def is_pretrained(folder: Path) -> bool:
    """Whether a folder belongs to the package, where nothing is written."""
    return folder.parent == _root()


def _root() -> Path:
    return Path(str(resources.files("pairvdn"))) / "pretrained"
