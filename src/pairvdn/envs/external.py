"""Environments of other libraries, by name: PREFIX:NAME, as in `jaxmarl:MPE_simple_spread_v3`."""

import difflib
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pairvdn.envs.base import Task


class Library(NamedTuple):
    """A library of environments.

    `constructor` is the path of a function from NAME to the constructor of the environment, whose
    signature lists the arguments; untyped `**keywords` mean that the library accepts others. It
    raises ImportError with the command that installs a missing package, and ValueError for an
    unknown NAME.
    """

    constructor: str
    form: str  # the format of a name
    about: str
    names_modules: bool = False  # whether NAME is an arbitrary module to import


# Libraries by prefix; each is imported on first use.
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
    """Whether `name` has the form PREFIX:NAME, with any prefix."""
    return ":" in name


def prefix_of(name: str) -> str:
    """The prefix of an external name; ValueError if no library has it."""
    prefix = name.partition(":")[0]
    if prefix not in LIBRARIES:
        near = difflib.get_close_matches(prefix, LIBRARIES, n=1) or sorted(LIBRARIES)
        forms = ", ".join(LIBRARIES[known].form for known in near)
        raise ValueError(
            f"There is no environment {name!r}: {prefix!r} is not a prefix; try {forms}."
        )
    return prefix


def constructor(name: str) -> "Callable[..., Task]":
    """The constructor of the environment PREFIX:NAME."""
    module, _, attribute = LIBRARIES[prefix_of(name)].constructor.partition(":")
    find: Callable[[str], Any] = getattr(importlib.import_module(module), attribute)
    build: Callable[..., Task] = find(name.partition(":")[2])
    return build
