"""`pettingzoo:MODULE.ENV`: environments by name, with their own arguments and ours."""

import difflib
import importlib
import inspect
import os
import pkgutil
import re
import warnings
from collections.abc import Callable, Mapping
from inspect import Parameter
from types import ModuleType
from typing import Any

from pairvdn.checks import hint
from pairvdn.envs.base import TeamReward

# The type of an argument that has no annotation, by the type of its default.
_PLAIN: Any = bool | int | float | str | None
_KINDS: dict[type, Any] = {bool: bool, int: int | float, float: float, str: str, type(None): _PLAIN}
# Names that environments give to the length of an episode: our `max_steps`.
_LENGTHS = ("max_cycles", "max_steps")


def constructor(name: str) -> Callable[..., Any]:
    """A function that builds the environment MODULE.ENV, with its own arguments and ours."""
    make_env, documented = find(name)
    from pairvdn.envs.adapters.pettingzoo.env import FromPettingZoo  # needs PettingZoo, found above

    theirs = inspect.signature(documented).parameters
    length = next((key for key in _LENGTHS if key in theirs), None)

    def build(
        *,
        max_steps: int | None = None,
        team_reward: TeamReward = "sum",
        image_size: tuple[int, ...] | None = None,
        grey: bool = True,
        **keywords: Any,
    ) -> Any:
        if length is not None and max_steps is not None:
            keywords[length] = max_steps

        def make_one() -> Any:
            try:
                return make_env(**keywords)
            except (TypeError, AssertionError) as error:
                # An unknown or invalid keyword.
                raise ValueError(f"{name} cannot be made: {error}") from error
            except ImportError as error:  # PettingZoo raises it for removed versions
                raise ValueError(str(error)) from error

        return FromPettingZoo(
            make_one,
            name=f"pettingzoo:{name}",
            max_steps=max_steps,
            team_reward=team_reward,
            image_size=image_size,
            grey=grey,
        )

    build.__doc__ = inspect.getdoc(FromPettingZoo)
    _write_signature(build, theirs, length)
    return build


def _write_signature(build: Any, theirs: Mapping[str, Parameter], length: str | None) -> None:
    """Add the arguments of the environment to the signature of the function that builds it."""
    ours = {
        key: one
        for key, one in inspect.signature(build).parameters.items()
        if one.kind is not one.VAR_KEYWORD
    }
    default = theirs[length].default if length is not None else None
    if isinstance(default, int):
        ours["max_steps"] = ours["max_steps"].replace(default=default, annotation=int)
    own = [
        Parameter(key, Parameter.KEYWORD_ONLY, default=one.default, annotation=_kind(one.default))
        for key, one in theirs.items()
        if key not in (*_LENGTHS, "self", *ours)
        and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        and (one.default is one.empty or type(one.default) in _KINDS)
    ]
    anything = [
        Parameter("keywords", Parameter.VAR_KEYWORD)
        for one in theirs.values()
        if one.kind is one.VAR_KEYWORD
    ]
    parameters = [*ours.values(), *own, *anything]
    build.__signature__ = inspect.Signature(parameters)
    build.__annotations__ = {
        one.name: one.annotation for one in parameters if one.annotation is not one.empty
    }


def _kind(default: Any) -> Any:
    return _KINDS.get(type(default), _PLAIN)


# Known packages and how to install them.
_PIP = {
    "Box2D": "Box2D",
    "PIL": "pillow",
    "cv2": "opencv-python",
    "mpe2": "mpe2",
    "pettingzoo": "'pettingzoo>=1.27'",
    "pygame": "pygame-ce",
}
_FAMILIES = ("atari", "butterfly", "classic", "sisl")  # of PettingZoo itself


def find(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function that makes the environment MODULE.ENV, and the one that names its arguments.

    ENV is a module with `parallel_env`, like all of PettingZoo's, or a subclass of `ParallelEnv`.
    Nothing else is ever called: a config from an untrusted source must not be able to call
    arbitrary functions. `butterfly.pistonball_v6` is short for
    `pettingzoo.butterfly.pistonball_v6`.
    """
    # Pygame prints a greeting on the standard output, which may have to be pure JSON.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    parallel_env = _import("pettingzoo").ParallelEnv
    if not re.fullmatch(r"\w+(\.\w+){0,20}", name):
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

    PettingZoo wraps its environments in functions that pass all arguments on.
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
        # Missing is not the module itself or a parent of it, but one of its imports.
        if error.name is None or not f"{full}.".startswith(f"{error.name}."):
            raise _missing(error.name or full) from error
        return None


def _import(full: str) -> Any:
    with warnings.catch_warnings():
        # PettingZoo 1.27 recommends its registry, which has only its own environments.
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
    """The error for an unknown environment, with a hint."""
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
    # Do not suggest installing it: the name may come from an untrusted config.
    return ModuleNotFoundError(f"There is no module {package!r}.", name=package)
