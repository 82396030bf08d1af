"""What `make test` tries of a list of cases; `make test-all` tries them all."""

from collections.abc import Iterable
from typing import Any

import pytest


def first(count: int, cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters: those after the first `count` are slow.

    For cases that repeat one rule, each at the price of a training or of a compilation.
    """
    listed = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [
        pytest.param(*case, marks=() if number < count else pytest.mark.slow)
        for number, case in enumerate(listed)
    ]
