"""A named part of a config with its arguments, checked against the constructor."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from pairvdn.checks import INT32, hint, raised
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.config.registry import KINDS, constructor, require_made
from pairvdn.config.schema import (
    NOT_GIVEN,
    PLAIN,
    Argument,
    arguments_of,
    convert,
    parameters_of,
    takes_others,
)


@dataclasses.dataclass(frozen=True)
class Component:
    """A part of a config: its kind, the name of its constructor, and all of its arguments.

    Defaults are written out, so a later change of a default does not affect old runs.
    """

    kind: str
    name: str
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        known = known_arguments(self.kind, self.name, self.arguments)
        given = checked_arguments(self.kind, f"{self.kind} {self.name!r}", known, self.arguments)
        defaults = {
            key: convert(f"{self.kind}.{key}", argument.kind, argument.default, INT32)
            for key, argument in known.items()
            if argument.default is not NOT_GIVEN
        }
        ordered = {key: (defaults | given)[key] for key in known if key in defaults | given}
        object.__setattr__(self, "arguments", ordered)

    def build(self, **provided: Any) -> Any:
        """Call the constructor with its arguments and the `provided` ones that it has.

        An error of a constructor becomes a `ConfigError` that names it.
        """
        self._require_all()
        build = constructor(self.kind, self.name)
        wanted = {key: provided[key] for key in provided if key in parameters_of(build)}
        try:
            made = build(**wanted, **self.arguments)
        except ConfigError:
            raise
        except (ValueError, ImportError) as error:
            raise ConfigError(f"{self.kind}: {one_line(error)}") from error
        except Exception as error:  # a class of a user may raise anything
            raise ConfigError(
                f"{self.kind} {self.name!r} cannot be made: {raised(error)}"
            ) from error
        require_made(self.kind, self.name, made)
        return made

    def asks_for(self, argument: str) -> bool:
        """Whether the constructor has a parameter of this name."""
        return argument in parameters_of(constructor(self.kind, self.name))

    def _require_all(self) -> None:
        for key, argument in known_arguments(self.kind, self.name, self.arguments).items():
            if argument.required and key not in self.arguments:
                flag = f"--{self.kind}.{key.replace('_', '-')}"
                raise ConfigError(f"{self.kind} {self.name!r} needs {key}; give it with {flag}.")


def known_arguments(kind: str, name: str, others: Iterable[str] = ()) -> dict[str, Argument]:
    """The arguments that a config may give to the constructor called `name`.

    A constructor with untyped keywords also takes `others`.
    """
    section, build = KINDS[kind], constructor(kind, name)
    known = arguments_of(build, section.provided, section.handed_to)
    open_ended = {key: Argument(key, PLAIN) for key in others} if takes_others(build) else {}
    return {**open_ended, **known}


def checked_arguments(
    where: str, owner: str, known: Mapping[str, Argument], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The given arguments, each known and of its type; `where` is their section of the config."""
    for key in given:
        if key not in known:
            raise ConfigError(f"{owner} has no argument {key!r}; {hint(key, known)}")
    return {
        key: convert(f"{where}.{key}", known[key].kind, value, INT32)
        for key, value in given.items()
    }
