"""The arguments of a constructor, read from its code, and values checked against them.

Signatures give names, types and defaults; docstrings (`Args:` or `Attributes:`) give meanings. So a
new argument of an environment or a method is a config key and a documented flag without being
declared a second time.
"""

import dataclasses
import functools
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeVar, Union

from pairvdn.checks import hint, shown
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.toml import values_of

Record = TypeVar("Record")

INT64 = 2**63 - 1
NOT_GIVEN: Any = object()  # a default that only the constructor knows
# The type of an argument without an annotation.
PLAIN: Any = bool | int | float | str | None
# A constructor that takes `**arguments` names the dataclass that documents them in this attribute.
# The constructor decides their defaults.
ARGUMENTS_RECORD = "arguments_record"


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument: its annotated type, its default if the signature has one, its meaning."""

    name: str
    kind: Any
    default: Any = NOT_GIVEN
    meaning: str = ""
    required: bool = False


@functools.lru_cache(maxsize=256)
def arguments_of(
    build: Callable[..., Any],
    provided: tuple[str, ...] = (),
    handed_to: Callable[..., Any] | None = None,
) -> Mapping[str, Argument]:
    """The arguments of a constructor or function, without the `provided` ones.

    They include keywords annotated with a `TypedDict`, such as the network arguments, whose
    defaults are in the signature of `handed_to`, and the fields of an `arguments_record`. Arguments
    of a type that a config cannot hold keep their defaults.
    """
    hints, documented = _hints(_function(build)), meanings(build)
    later = {} if handed_to is None else _parameters(handed_to)
    arguments: dict[str, Argument] = {}
    for name, parameter in _parameters(build).items():
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments |= _typed_keywords(hints.get(name), later)
        elif parameter.kind is not parameter.VAR_POSITIONAL and name not in provided:
            default = _default(parameter)
            kind = hints.get(name, PLAIN)
            if _is_plain(kind) or default is NOT_GIVEN:
                required = default is NOT_GIVEN
                arguments[name] = Argument(name, kind, default, documented.get(name, ""), required)
    record = getattr(build, ARGUMENTS_RECORD, None)
    return MappingProxyType(arguments if record is None else arguments | fields_of(record))


def parameters_of(build: Callable[..., Any]) -> frozenset[str]:
    """The names of all parameters of a constructor or function."""
    return frozenset(_parameters(build))


def takes_others(build: Callable[..., Any]) -> bool:
    """Whether the constructor takes untyped keywords, so that more arguments may exist."""
    return any(
        parameter.kind is parameter.VAR_KEYWORD and parameter.annotation is parameter.empty
        for parameter in _parameters(build).values()
    )


def fields_of(record: type) -> dict[str, Argument]:
    """The fields of a dataclass as arguments; their defaults are left to the dataclass."""
    hints, documented = typing.get_type_hints(record), meanings(record)
    return {
        field.name: Argument(field.name, hints[field.name], meaning=documented.get(field.name, ""))
        for field in dataclasses.fields(record)
    }


def record_from(record: type[Record], given: Mapping[str, Any], where: str = "") -> Record:
    """A dataclass from plain values; errors name the key, as `where.key`."""
    known = fields_of(record)
    prefix = f"{where}." if where else ""
    for key in given:
        if key not in known:
            raise ConfigError(f"There is no key {prefix + key!r}; {hint(key, known)}")
    checked = {key: convert(prefix + key, known[key].kind, value) for key, value in given.items()}
    try:
        return record(**checked)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(prefix + one_line(error)) from error


def _function(build: Callable[..., Any]) -> Callable[..., Any]:
    return build.__init__ if inspect.isclass(build) else build


def _parameters(build: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = dict(inspect.signature(_function(build)).parameters)
    parameters.pop("self", None)
    return parameters


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError):  # a name that exists only for type checkers, or not a function
        return {}


def _default(parameter: inspect.Parameter | None) -> Any:
    if parameter is None or parameter.default is parameter.empty:
        return NOT_GIVEN
    return parameter.default


def _typed_keywords(kind: Any, later: Mapping[str, inspect.Parameter]) -> Mapping[str, Argument]:
    """The arguments that `**keywords: Unpack[SomeTypedDict]` declares."""
    if not typing.get_args(kind):
        return {}
    (keywords,) = typing.get_args(kind)  # Unpack[keywords]
    documented = meanings(keywords)
    return {
        name: Argument(name, kind, _default(later.get(name)), documented.get(name, ""))
        for name, kind in typing.get_type_hints(keywords).items()
    }


def _is_plain(kind: Any) -> bool:
    """Whether a config can hold values of this type."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return True
    if origin in (Union, types.UnionType):
        return all(map(_is_plain, inner))
    if _is_sequence(origin):
        return _is_plain(inner[0])
    return kind in _SIMPLE


def _is_sequence(origin: Any) -> bool:
    return inspect.isclass(origin) and issubclass(origin, Sequence)


def convert(where: str, kind: Any, value: Any, most: int = INT64) -> Any:
    """The value as this type, or `ConfigError`; integers are valid floats.

    Whole numbers must be from -`most` to `most`.
    """
    converted = _convert(kind, value)
    if converted is NOT_GIVEN:
        raise ConfigError(f"{where} must be {describe(kind)}, not {shown(value)}.")
    for number in converted if isinstance(converted, tuple) else (converted,):
        if isinstance(number, int) and abs(number) > most:
            raise ConfigError(f"{where} must be at most {most}, not {shown(number)}.")
    return converted


def parse(where: str, kind: Any, text: str) -> Any:
    """The text after a flag as this type: TOML in which quotes and outer brackets are optional.

    `64,64` and `[64, 64]` are the same.
    """
    candidates = [*values_of(text), text, text.split(",")]
    fitting = (value for value in candidates if _convert(kind, value) is not NOT_GIVEN)
    value = next(fitting, NOT_GIVEN)
    if value is NOT_GIVEN:
        raise ConfigError(f"{where} must be {describe(kind)}, not {shown(text)}.")
    return convert(where, kind, value)


def describe(kind: Any) -> str:
    """A type in words."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if origin in (Union, types.UnionType):
        return " or ".join(describe(one) for one in inner)
    if _is_sequence(origin):
        return f"a list ({describe(inner[0])}, ...)"
    return _WORDS.get(kind, "a value that only Python code can give")


def metavar(kind: Any) -> str:
    """A type as a placeholder in help: N, X, TEXT, {one,other}, N,N,..."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind == PLAIN:
        return "VALUE"
    if origin is Literal:
        return "{" + ",".join(map(str, inner)) + "}"
    if origin in (Union, types.UnionType):
        return "|".join(map(metavar, inner))
    if _is_sequence(origin):
        return f"{metavar(inner[0])},..."
    return _PLACEHOLDERS.get(kind, "VALUE")


_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    type(None): "none",
}
_PLACEHOLDERS = {bool: "{true,false}", int: "N", float: "X", str: "TEXT", type(None): "none"}


def _convert(kind: Any, value: Any) -> Any:
    """The value as this type, or `NOT_GIVEN` if it does not fit."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return value if value in inner else NOT_GIVEN
    if origin in (Union, types.UnionType):
        candidates = (_convert(member, value) for member in sorted(inner, key=_none_first))
        return next((found for found in candidates if found is not NOT_GIVEN), NOT_GIVEN)
    if _is_sequence(origin):
        if isinstance(value, str) or not isinstance(value, Sequence):
            return NOT_GIVEN
        items = tuple(_convert(inner[0], item) for item in value)
        return NOT_GIVEN if any(item is NOT_GIVEN for item in items) else items
    return _SIMPLE[kind](value) if kind in _SIMPLE else NOT_GIVEN


def _none_first(kind: Any) -> bool:
    return kind is not type(None)


def _number(value: Any) -> Any:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return NOT_GIVEN
    try:
        number = float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return NOT_GIVEN
    return NOT_GIVEN if math.isnan(number) else number


# TOML has no null: None is written "none".
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


_SECTION = re.compile(r"(?:Args|Arguments|Attributes):")
_ENTRY = re.compile(r"(?P<names>\w+(?:, \w+)*)(?: \([^)]*\))?: (?P<text>.*)")


def meanings(documented: Any) -> dict[str, str]:
    """The entries of the sections `Args:` and `Attributes:` of a docstring, one line each.

    A class inherits those of its bases, as it inherits their fields.
    """
    docs = [inspect.getdoc(documented)]
    if inspect.isclass(documented):
        docs = [
            inspect.getdoc(part)
            for kind in reversed(documented.__mro__)
            for part in (kind, vars(kind).get("__init__"))
        ]
    entries: dict[str, str] = {}
    for text in docs:
        entries |= _entries(text or "")
    return entries


def _entries(text: str) -> dict[str, str]:
    entries: dict[str, list[str]] = {}
    inside, names = False, ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            inside, names = bool(_SECTION.fullmatch(line)), ""
        elif inside and line.strip():
            entry = _ENTRY.fullmatch(line.strip())
            if entry and len(line) - len(line.lstrip()) == 4:
                names = entry["names"]
                entries[names] = [entry["text"]]
            elif names:
                entries[names].append(line.strip())
    return {
        name: " ".join(lines).rstrip(".")
        for names, lines in entries.items()
        for name in names.split(", ")
    }
