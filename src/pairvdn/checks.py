"""The one set of argument checks, and hints for names that do not exist.

Every check raises ValueError with one sentence that names the argument, the condition and the
value, so that a wrong argument is found before anything is compiled.
"""

import difflib
import math
import operator
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

MOST_NAMES = 20  # that a hint lists
INT32 = 2**31 - 1  # the largest number in arrays
MOST_AGENTS = 1000  # of a built-in environment; more are a slip of the keyboard


def hint(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Suggest the nearest known name; else `otherwise`, or list all names, or the three nearest."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    if otherwise or not known:
        return otherwise or "there are none."
    if len(known) > MOST_NAMES:
        nearest = difflib.get_close_matches(name, known, n=3, cutoff=0.0)
        return f"the nearest are {', '.join(nearest)}."
    return f"known are {', '.join(known)}."


def shown(value: Any, most: int = 80) -> str:
    """A value in a message: its repr in one line, cut if it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of more digits than Python prints
        text = f"a very long {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def raised(error: BaseException) -> str:
    """An error of foreign code in one line: its type, its text, and the line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    text = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
    if trace is None:
        return text
    return f"{text} ({Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno})"


def _plain(limit: int | float) -> str:
    """Whole numbers in full: 1000000, not 1e+06."""
    return str(limit) if isinstance(limit, int) else f"{limit:g}"


def require_at_least(minimum: int | float, **arguments: int | float) -> None:
    """Raise ValueError unless every argument is at least `minimum`."""
    for name, value in arguments.items():
        if not value >= minimum:
            raise ValueError(f"{name} must be at least {_plain(minimum)}, not {shown(value)}.")


def require_above(minimum: int | float, **arguments: int | float) -> None:
    """Raise ValueError unless every argument is greater than `minimum`."""
    for name, value in arguments.items():
        if not value > minimum:
            raise ValueError(f"{name} must be greater than {_plain(minimum)}, not {shown(value)}.")


def require_within(low: int | float, high: int | float, **arguments: int | float) -> None:
    """Raise ValueError unless every argument is from `low` to `high`."""
    for name, value in arguments.items():
        if not low <= value <= high:
            raise ValueError(
                f"{name} must be from {_plain(low)} to {_plain(high)}, not {shown(value)}."
            )


def require_one_of(choices: Collection[str], **arguments: Any) -> None:
    """Raise ValueError unless every argument is one of `choices`."""
    for name, value in arguments.items():
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, not {shown(value)}.")


def require_bool(**arguments: Any) -> None:
    """Raise ValueError unless every argument is True or False."""
    for name, value in arguments.items():
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be True or False, not {shown(value)}.")


def whole_number(name: str, value: Any, least: int, most: int = INT32) -> int:
    """`value` as an int from `least` to `most`."""
    try:
        whole = operator.index(value)
    except TypeError:
        whole = None
    if whole is None or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, not {shown(value)}.")
    require_at_least(least, **{name: whole})
    if whole > most:
        raise ValueError(f"{name} must be at most {most}, not {shown(whole)}.")
    return whole


def number_within(name: str, value: Any, low: float | int, high: float | int) -> float:
    """`value` as a finite float from `low` to `high`, which may be infinite."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_finite = is_number and -sys.float_info.max <= value <= sys.float_info.max
    if not (is_finite and low <= value <= high):
        ranges = {
            (True, True): f" from {low:g} to {high:g}",
            (True, False): f" of at least {low:g}",
            (False, True): f" of at most {high:g}",
            (False, False): "",
        }
        within = ranges[math.isfinite(low), math.isfinite(high)]
        raise ValueError(f"{name} must be a finite number{within}, not {shown(value)}.")
    return float(value)


def require_shape(name: str, shape: tuple[int, ...], **expected: int) -> None:
    """Raise ValueError unless `shape` has the `expected` sizes, named axis by axis."""
    if shape != (sizes := tuple(expected.values())):
        axes = ", ".join(expected)
        raise ValueError(f"{name} must have shape ({axes}) = {sizes}, not {shape}.")
