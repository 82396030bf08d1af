"""Environments of other libraries, by name: PREFIX:NAME, as in `jaxmarl:MPE_simple_spread_v3`."""

import difflib
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pairvdn.envs.base import Task


class Library(NamedTuple):
    """Where a library's environments come from.

    `constructor` is the place of a function from NAME to what builds the environment. The signature
    of what it returns says which arguments there are; an argument `**keywords` without a type means
    that there may be others, of which only the library knows. It raises ImportError with the
    command that installs what is missing, and ValueError for a NAME that does not exist.
    """

    constructor: str
    form: str  # how a name is written
    about: str
    names_modules: bool = False  # whether NAME chooses a module to import


# One line per library: prefix -> what it offers. Imported only when one of its names is asked for.
LIBRARIES: dict[str, Library] = {
    "jaxmarl": Library(
        "pairvdn.envs.adapters.jaxmarl.named:constructor",
        "jaxmarl:NAME",
        "JaxMARL's environments with discrete actions, for example MPE_simple_spread_v3.",
    ),
    "pettingzoo": Library(
        "pairvdn.envs.adapters.pettingzoo.named:constructor",
        "pettingzoo:MODULE.ENV",
        "Any ParallelEnv of PettingZoo with discrete actions, for example mpe2.simple_spread_v3.",
        names_modules=True,
    ),
}


def is_external(name: str) -> bool:
    """Whether `name` is written PREFIX:NAME, whatever the prefix."""
    return ":" in name


def prefix_of(name: str) -> str:
    """The prefix of an external name; ValueError if no library has it."""
    prefix = name.partition(":")[0]
    if prefix not in LIBRARIES:
        near = difflib.get_close_matches(prefix, LIBRARIES, n=1) or sorted(LIBRARIES)
        forms = ", ".join(LIBRARIES[one].form for one in near)
        raise ValueError(f"There is no environment {name!r}: {prefix!r} is no prefix; try {forms}.")
    return prefix


def constructor(name: str) -> "Callable[..., Task]":
    """What builds the environment that is called PREFIX:NAME."""
    module, _, attribute = LIBRARIES[prefix_of(name)].constructor.partition(":")
    find: Callable[[str], Any] = getattr(importlib.import_module(module), attribute)
    found: Callable[..., Task] = find(name.partition(":")[2])
    return found
