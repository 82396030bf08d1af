"""Parts that need an extra: a missing package is one line with the command that installs it."""

import importlib
from types import ModuleType

from pairvdn.config.errors import one_line
from pairvdn.runs.errors import RunError


def drawing(module: str) -> ModuleType:
    """A module of `pairvdn.viewing`, which may need packages that are not installed."""
    try:
        return importlib.import_module(f"pairvdn.viewing.{module}")
    except ImportError as error:
        raise RunError(one_line(error)) from error
