"""The package `jaxmarl`, which need not be installed."""

import contextlib
import importlib
import io
import sys
from collections.abc import Iterator
from types import ModuleType


def library() -> ModuleType:
    """Import `jaxmarl`; ImportError with the command that installs it if it is not there."""
    try:
        with _quietly():
            return importlib.import_module("jaxmarl")
    except ImportError as error:
        raise ImportError(
            f"JaxMARL's environments need a package that is not installed ({error}); "
            "get it with: pip install 'pairvdn[jaxmarl]'"
        ) from error


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """On import JaxMARL prints which optional parts it has, and puts back Python's own streams.

    So these must be silenced as well, and whoever had redirected theirs gets them back.
    """
    silence = io.StringIO()
    own = sys.__stdout__
    with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(sys.stderr):
        sys.__stdout__ = silence  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            sys.__stdout__ = own  # type: ignore[misc]
