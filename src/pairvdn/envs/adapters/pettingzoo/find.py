"""Finding a PettingZoo environment by the name of its module or class."""

import difflib
import importlib
import inspect
import os
import pkgutil
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from pairvdn.checks import hint

# Packages that we know, and how they are installed.
_PIP = {
    "Box2D": "Box2D",
    "PIL": "pillow",
    "cv2": "opencv-python",
    "mpe2": "mpe2",
    "pettingzoo": "'pettingzoo>=1.27'",
    "pygame": "pygame-ce",
}
_FAMILIES = ("atari", "butterfly", "classic", "sisl")  # the parts of PettingZoo itself


def find(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function that makes the environment MODULE.ENV, and the one that names its arguments.

    ENV is a module with `parallel_env`, as all of PettingZoo's are, or a class derived from
    `ParallelEnv`. Nothing else is ever called: a config may come from a stranger, and must not be
    able to name any function there is. `butterfly.pistonball_v6` is short for
    `pettingzoo.butterfly.pistonball_v6`.
    """
    # Pygame prints a greeting on the standard output, where one JSON object may be expected.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    parallel_env = _import("pettingzoo").ParallelEnv
    if not name:
        raise ValueError("pettingzoo: needs a name, as in pettingzoo:mpe2.simple_spread_v3.")
    for full in (name, f"pettingzoo.{name}"):
        module = _module(full)
        if module is not None and callable(getattr(module, "parallel_env", None)):
            return module.parallel_env, _documented(module)
        parent, _, attribute = full.rpartition(".")
        found = getattr(_module(parent), attribute, None) if parent else None
        if inspect.isclass(found) and issubclass(found, parallel_env):
            return found, found
    raise _nothing(name)


def _documented(module: ModuleType) -> Callable[..., Any]:
    """The function or class of a module whose signature names the arguments.

    PettingZoo wraps its environments in functions that take anything and pass it on.
    """
    make: Callable[..., Any] = module.parallel_env
    named = any(
        one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
        for one in inspect.signature(make).parameters.values()
    )
    return make if named else getattr(module, "raw_env", make)


def _module(full: str) -> ModuleType | None:
    """The module of this name; None if there is none."""
    try:
        module: ModuleType = _import(full)
        return module
    except ModuleNotFoundError as error:
        # Unless it is the module itself or a part of its path, the module needs it.
        if error.name is None or not f"{full}.".startswith(f"{error.name}."):
            raise _missing(error.name or full) from error
        return None


def _import(full: str) -> Any:
    with warnings.catch_warnings():
        # PettingZoo 1.27 would have us use its registry, which has only its own environments.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError as error:
            if error.name == "pettingzoo":
                raise _missing("pettingzoo") from error
            raise


def _missing(module: str) -> ImportError:
    package = module.partition(".")[0]
    return ImportError(
        f"the package {package} is not installed; get it with: "
        f"pip install {_PIP.get(package, package)}"
    )


def _nothing(name: str) -> Exception:
    """Why there is no such environment, and what is near it."""
    package, _, rest = name.partition(".")
    parent, _, wanted = name.rpartition(".")
    for full in (parent, f"pettingzoo.{parent}"):
        found = _module(full) if parent else None
        if found is not None:
            inside = [one.name for one in pkgutil.iter_modules(getattr(found, "__path__", []))]
            others = {*inside, *vars(found)} - {wanted}
            near = hint(wanted, others, "see its documentation.")
            return ValueError(
                f"{full} has no {wanted!r} that is a ParallelEnv, or a module with one; {near}"
            )
    family = difflib.get_close_matches(package, _FAMILIES, n=1)
    if family:
        return ValueError(
            f"There is no module {package!r}; did you mean 'pettingzoo:{family[0]}.{rest}'?"
        )
    if package in _PIP:
        return _missing(package)
    # No command that installs it: the name may come from the config of a stranger.
    return ModuleNotFoundError(f"There is no module {package!r}.", name=package)
