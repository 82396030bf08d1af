"""Constructors by name, for every part of a config that is chosen by name.

Names are looked up in this order:

| name              | is                                                         | needs trust |
|-------------------|------------------------------------------------------------|-------------|
| `box-jump`, `vdn` | built in                                                   | no          |
| `door`            | registered by an installed package, through an entry point | no          |
| `jaxmarl:NAME`    | an environment of JaxMARL                                  | no          |
| `pettingzoo:NAME` | an environment of any module, with PettingZoo's interface  | yes         |
| `module:Name`     | a class or function of any module                          | yes         |

The last two import a module given by the name. A config from an untrusted source must not do that
unless the user agrees: see `require_trust`.
"""

import dataclasses
import difflib
import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import optax

from pairvdn import envs, values
from pairvdn.acting.exploration import Exploration
from pairvdn.checks import hint, raised
from pairvdn.config.builders import EXPLORATIONS, OPTIMISERS, SCHEDULES
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.envs import Task, external
from pairvdn.learning import Learner
from pairvdn.values import Value
from pairvdn.values.encoders import make_encoder


@dataclasses.dataclass(frozen=True)
class Kind:
    """A section of the config whose `name` chooses a constructor.

    Attributes:
        title: the word for the result in messages
        makes: the class of the result
        builtin: returns the built-in names
        find: returns the constructor of a built-in name
        group: the entry points through which other packages register names
        provided: arguments that the config passes to constructors that have them
        handed_to: the function that takes the constructors' typed keywords and has their defaults
    """

    title: str
    makes: type
    builtin: Callable[[], tuple[str, ...]]
    find: Callable[[str], Callable[..., Any]]
    group: str
    provided: tuple[str, ...] = ()
    handed_to: Callable[..., Any] | None = None

    def names(self) -> tuple[str, ...]:
        """All built-in and registered names."""
        return tuple(sorted({*self.builtin(), *_registered(self.group)}))


def _listed(table: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    return {"builtin": functools.partial(tuple, table), "find": table.__getitem__}


KINDS: dict[str, Kind] = {
    "env": Kind("environment", Task, envs.names, envs.constructor, "pairvdn.envs"),
    "method": Kind(
        "method",
        Value,
        values.names,
        values.constructor,
        "pairvdn.methods",
        provided=("spec", "key"),
        handed_to=make_encoder,
    ),
    "learner": Kind(
        "learner",
        Learner,
        **_listed(SCHEDULES),
        group="pairvdn.schedules",
        provided=("env", "make_value", "num_epochs", "optimiser", "exploration"),
    ),
    "optimiser": Kind(
        "optimiser",
        optax.GradientTransformation,
        **_listed(OPTIMISERS),
        group="pairvdn.optimisers",
        provided=("num_updates",),
    ),
    "exploration": Kind(
        "exploration",
        Exploration,
        **_listed(EXPLORATIONS),
        group="pairvdn.explorations",
        provided=("num_epochs",),
    ),
}


def constructor(kind: str, name: str) -> Callable[..., Any]:
    """The constructor called `name`; `ConfigError` if there is none."""
    section = KINDS[kind]
    if name in section.builtin():
        return section.find(name)
    if name in _registered(section.group):
        return _of_entry_point(section, _registered(section.group)[name])
    if ":" not in name:
        raise ConfigError(f"There is no {kind} {name!r}; {hint(name, section.names())}")
    if kind == "env" and name.partition(":")[0] in external.LIBRARIES:
        try:
            return envs.constructor(name)
        except (ValueError, ImportError) as error:
            raise ConfigError(one_line(error)) from error
        except (Exception, SystemExit) as error:  # other packages may raise anything
            raise ConfigError(f"{name} cannot be imported: {raised(error)}") from error
    return _of_module(section, name)


def module_of(kind: str, name: str) -> str | None:
    """The arbitrary module that looking up `name` would import; None if there is none."""
    prefix, colon, rest = name.partition(":")
    if not colon or name in KINDS[kind].names():
        return None
    if kind == "env" and prefix in external.LIBRARIES:
        return rest if external.LIBRARIES[prefix].names_modules else None
    return prefix


def require_trust(sections: Mapping[str, Any]) -> None:
    """Refuse a config whose names would import arbitrary modules, before importing anything."""
    for kind in KINDS:
        section = sections.get(kind)
        name = section.get("name") if isinstance(section, Mapping) else None
        module = module_of(kind, name) if isinstance(name, str) else None
        if module is not None:
            raise ConfigError(
                f"{kind}.name = {name!r} runs code of the module {module!r}; "
                "if you trust that code, add --trust (in Python: trust=True)."
            )


@functools.cache
def _registered(group: str) -> dict[str, EntryPoint]:
    """The names that installed packages add to this group."""
    entries = entry_points(group=group)
    return {entry.name: entry for entry in entries if not _lies_in_current_folder(entry)}


def _lies_in_current_folder(entry: EntryPoint) -> bool:
    """Whether the entry point is a file in the current folder, not an installed package."""
    return entry.dist is not None and Path(str(entry.dist.locate_file(""))).resolve() == Path.cwd()


def _of_entry_point(section: Kind, entry: EntryPoint) -> Callable[..., Any]:
    try:
        found = entry.load()
    except Exception as error:  # other packages may raise anything
        raise ConfigError(
            f"{entry.name} ({entry.value}) cannot be imported: {one_line(error)}"
        ) from error
    return _checked(section, entry.value, found)


def _of_module(section: Kind, name: str) -> Callable[..., Any]:
    """The class or function `module.path:Name`."""
    path, _, attribute = name.partition(":")
    if not attribute.isidentifier() or not all(map(str.isidentifier, path.split("."))):
        raise _not_a_name(section, name)
    module = _imported(section, name, path)
    if not hasattr(module, attribute):
        raise ConfigError(
            f"The module {path} has no {attribute!r}; {hint(attribute, _public(section, module))}"
        )
    return _checked(section, name, getattr(module, attribute))


def _imported(section: Kind, name: str, path: str) -> ModuleType:
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        missing = error.name or path
        if not f"{path}.".startswith(f"{missing}."):
            raise ConfigError(f"{path} imports {missing!r}, which is not installed.") from error
        if _nearly_external(section, path):
            raise _not_a_name(section, name) from error
        raise ConfigError(
            f"There is no module {missing!r} for the {section.title} {name}."
        ) from error
    except (Exception, SystemExit) as error:  # user code may raise anything
        raise ConfigError(f"{path} cannot be imported: {raised(error)}") from error


def _nearly_external(section: Kind, path: str) -> bool:
    """Whether the path may be a misspelt prefix of an external library."""
    return section.makes is Task and bool(difflib.get_close_matches(path, external.LIBRARIES))


def _not_a_name(section: Kind, name: str) -> ConfigError:
    if _nearly_external(section, name.partition(":")[0]):
        try:
            external.prefix_of(name)
        except ValueError as error:
            return ConfigError(one_line(error))
    return ConfigError(f"There is no {section.title} {name!r}; write your own as module.path:Name.")


def _checked(section: Kind, name: str, found: Any) -> Callable[..., Any]:
    """Refuse objects that cannot build this kind; the result of a function is checked later."""
    if not callable(found):
        raise ConfigError(f"{name} must be a class or function, not {type(found).__name__}.")
    if inspect.isclass(found) and not issubclass(found, section.makes):
        raise ConfigError(f"{name} must be a subclass of {_title(section.makes)}, or a function.")
    build: Callable[..., Any] = found
    return build


def require_made(kind: str, name: str, made: Any) -> None:
    """Refuse the result of a constructor if it is not of its kind."""
    if not isinstance(made, KINDS[kind].makes):
        raise ConfigError(
            f"{name} must return {_title(KINDS[kind].makes)}, not {type(made).__name__}."
        )


def _title(made: type) -> str:
    return "Environment" if made is Task else made.__name__


def _public(section: Kind, module: ModuleType) -> list[str]:
    """The public classes of this kind, and the functions, of a module."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (
            issubclass(value, section.makes)
            if inspect.isclass(value)
            else inspect.isfunction(value)
        )
    ]
