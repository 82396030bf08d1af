"""Run-time type checks switched off, for tests of what our own checks say about wrong arguments."""

import contextlib
from collections.abc import Iterator

import jaxtyping


@contextlib.contextmanager
def unchecked_types() -> Iterator[None]:
    """Users run without run-time type checks, so a wrong `Literal` reaches the constructor."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)
