"""Checks of what an environment is made with, so that a wrong argument is named at once."""

import math
import operator
from collections.abc import Collection
from typing import Any


def whole_number(name: str, value: Any, least: int) -> int:
    """`value` as an int of at least `least`."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number; it is {value!r}.") from None
    if whole < least:
        raise ValueError(f"{name} must be at least {least}; it is {whole}.")
    return whole


def number_within(name: str, value: Any, low: float | int, high: float | int) -> float:
    """`value` as a finite float from `low` to `high`, which may be infinite."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and math.isfinite(value) and low <= value <= high):
        raise ValueError(f"{name} must be a finite number from {low:g} to {high:g}; it is {value}.")
    return float(value)


def one_of(name: str, value: Any, allowed: Collection[str]) -> None:
    """Refuse a `value` that is not among the names in `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; it is {value!r}.")
