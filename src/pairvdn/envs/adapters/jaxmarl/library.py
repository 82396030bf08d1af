"""The package `jaxmarl`, which need not be installed, and its manners."""

import contextlib
import importlib
import io
import sys
from collections.abc import Iterator
from types import ModuleType

import jax


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

    So these are silenced as well, and a caller's redirected streams are restored.
    """
    silence = io.StringIO()
    own = sys.__stdout__
    with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(sys.stderr):
        sys.__stdout__ = silence  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            sys.__stdout__ = own  # type: ignore[misc]


@contextlib.contextmanager
def lenient() -> Iterator[None]:
    """Allow what JaxMARL does and the caller may have forbidden: mixing dtypes and ranks."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield
