"""Which arguments a constructor takes, read from its signature, and values checked against it.

Configs are checked against the code itself: a new argument of an environment or a method is a key
of presets and a flag of the command line without being written down a second time.
"""

import dataclasses
import inspect
import math
import tomllib
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, Union

from pairvdn.config.errors import ConfigError

NOT_GIVEN: Any = object()  # a default that only the constructor knows
# An argument of which only its value tells the type.
PLAIN: Any = bool | int | float | str | None


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument: its type as annotated, and its default where the signature tells it."""

    name: str
    kind: Any
    default: Any = NOT_GIVEN


def arguments_of(
    build: Callable[..., Any],
    provided: Collection[str],
    handed_to: Callable[..., Any] | None = None,
) -> dict[str, Argument]:
    """The arguments of a constructor or function, without those that the caller provides.

    Keyword arguments that are annotated with a `TypedDict`, as the networks' are, count too; they
    are handed on to `handed_to`, whose signature has their defaults.
    """
    function = _function(build)
    hints = typing.get_type_hints(function)
    later = {} if handed_to is None else inspect.signature(_function(handed_to)).parameters
    found: dict[str, Argument] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            for keyword, kind in _typed_keywords(hints.get(name)).items():
                found[keyword] = Argument(keyword, kind, _default(later.get(keyword)))
        elif name != "self" and name not in provided:
            found[name] = Argument(name, hints[name], _default(parameter))
    return found


def _function(build: Callable[..., Any]) -> Callable[..., Any]:
    return build.__init__ if inspect.isclass(build) else build


def _default(parameter: inspect.Parameter | None) -> Any:
    if parameter is None or parameter.default is parameter.empty:
        return NOT_GIVEN
    return parameter.default


def takes_others(build: Callable[..., Any]) -> bool:
    """Whether there may be arguments besides those of the signature: keywords without a type."""
    function = build.__init__ if inspect.isclass(build) else build
    return any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD and parameter.annotation is parameter.empty
        for parameter in inspect.signature(function).parameters.values()
    )


def fields_of(record: type) -> dict[str, Argument]:
    """The fields of a dataclass as arguments whose defaults something else decides."""
    hints = typing.get_type_hints(record)
    return {
        field.name: Argument(field.name, hints[field.name]) for field in dataclasses.fields(record)
    }


def _typed_keywords(kind: Any) -> Mapping[str, Any]:
    inner = typing.get_args(kind)
    return typing.get_type_hints(inner[0]) if inner else {}


def convert(where: str, kind: Any, value: Any) -> Any:
    """The value as this type, or `ConfigError`; whole numbers are welcome as floats."""
    converted = _convert(kind, value)
    if converted is NOT_GIVEN:
        raise ConfigError(f"{where} must be {describe(kind)}, not {value!r}.")
    return converted


def parse(where: str, kind: Any, text: str) -> Any:
    """What was written after a flag, as this type: as in TOML, quotes and outer brackets optional.

    `64,64` and `[64, 64]` are the same.
    """
    for candidate in (text, f"[{text}]"):
        try:
            value = tomllib.loads(f"value = {candidate}")["value"]
        except tomllib.TOMLDecodeError:
            continue
        converted = _convert(kind, value)
        if converted is not NOT_GIVEN:
            return converted
    words = _convert(kind, text)
    if words is NOT_GIVEN:
        words = _convert(kind, text.split(","))
    if words is NOT_GIVEN:
        raise ConfigError(f"{where} must be {describe(kind)}, not {text!r}.")
    return words


def describe(kind: Any) -> str:
    """A type in words."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if origin in (Union, types.UnionType):
        return " or ".join(describe(one) for one in inner)
    if origin is not None and issubclass(origin, Sequence):
        return f"a list ({describe(inner[0])}, ...)"
    return _WORDS[kind]


_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    type(None): "none",
}


def _convert(kind: Any, value: Any) -> Any:
    """The value as this type, or `NOT_GIVEN` if it does not fit."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return value if value in inner else NOT_GIVEN
    if origin in (Union, types.UnionType):
        fitting = (_convert(one, value) for one in sorted(inner, key=_none_first))
        return next((one for one in fitting if one is not NOT_GIVEN), NOT_GIVEN)
    if origin is not None and issubclass(origin, Sequence):
        if isinstance(value, str) or not isinstance(value, Sequence):
            return NOT_GIVEN
        items = tuple(_convert(inner[0], item) for item in value)
        return NOT_GIVEN if any(item is NOT_GIVEN for item in items) else items
    return _SIMPLE[kind](value)


def _none_first(kind: Any) -> bool:
    return kind is not type(None)


def _number(value: Any) -> Any:
    whole_or_float = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if whole_or_float and not math.isnan(value) else NOT_GIVEN


# TOML has no null, so that None is written "none".
_SIMPLE: dict[Any, Callable[[Any], Any]] = {
    bool: lambda value: value if isinstance(value, bool) else NOT_GIVEN,
    int: lambda value: (
        value if isinstance(value, int) and not isinstance(value, bool) else NOT_GIVEN
    ),
    float: _number,
    str: lambda value: value if isinstance(value, str) else NOT_GIVEN,
    type(None): lambda value: (
        None if value is None or (isinstance(value, str) and value.lower() == "none") else NOT_GIVEN
    ),
}
