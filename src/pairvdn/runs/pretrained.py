"""Trained teams that come with the package, named `pretrained:NAME`."""

from importlib import resources
from pathlib import Path

from pairvdn.runs.errors import FolderError
from pairvdn.checks import hint

PREFIX = "pretrained:"


def pretrained_names() -> tuple[str, ...]:
    """Every trained team that there is."""
    return tuple(sorted(one.name for one in _root().iterdir() if one.is_dir()))


def run_path(name: str | Path) -> Path:
    """The folder of a run that is given as a path, or as `pretrained:NAME`."""
    if not str(name).startswith(PREFIX):
        return Path(name)
    team = str(name).removeprefix(PREFIX)
    if team not in pretrained_names():
        raise FolderError(f"There is no {name}; {hint(team, pretrained_names())}")
    return _root() / team


def is_pretrained(folder: Path) -> bool:
    """Whether a folder belongs to the package, which is not written to."""
    return folder.parent == _root()


def _root() -> Path:
    return Path(str(resources.files("pairvdn"))) / "pretrained"
