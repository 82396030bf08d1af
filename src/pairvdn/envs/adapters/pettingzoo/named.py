"""`pettingzoo:MODULE.ENV`: an environment by its name, with its own arguments and ours."""

import inspect
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any

from pairvdn.envs.adapters.pettingzoo.find import find
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
    length = next((one for one in _LENGTHS if one in theirs), None)

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
                # An unknown keyword, or one that the environment finds out of range.
                raise ValueError(f"{name} cannot be made: {error}") from error
            except ImportError as error:  # PettingZoo raises it for a version that is gone
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
