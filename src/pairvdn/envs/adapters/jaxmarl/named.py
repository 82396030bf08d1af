"""JaxMARL's environments by name, with arguments as plain as a config can hold."""

import importlib
import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from pairvdn.checks import hint
from pairvdn.envs.adapters.jaxmarl.adapter import FromJaxMARL, from_jaxmarl
from pairvdn.envs.adapters.jaxmarl.library import lenient, library
from pairvdn.envs.base import TeamReward


def constructor(name: str) -> Callable[..., FromJaxMARL]:
    """A function that builds the environment that JaxMARL's `make` calls `name`.

    It takes the arguments of `from_jaxmarl`, and as keywords those of JaxMARL's class. A `layout`
    of Overcooked and a `scenario` of SMAX are given by name.
    """
    jaxmarl = library()
    known = jaxmarl.registered_envs
    if name not in known:
        raise ValueError(f"JaxMARL has no environment {name!r}; {hint(name, known)}")

    def build(
        max_steps: int | None = None, team_reward: TeamReward | None = None, **keywords: Any
    ) -> FromJaxMARL:
        given = {key: _NAMED.get(key, _as_is)(value) for key, value in keywords.items()}
        with warnings.catch_warnings(), lenient():
            # Overcooked recommends its second version at every start.
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                env = jaxmarl.make(name, **given)
            except (TypeError, AssertionError) as error:
                raise ValueError(f"JaxMARL refuses to make {name}: {error}") from error
        _require_known(name, keywords, env)
        return from_jaxmarl(
            env, max_steps=max_steps, team_reward=team_reward, name=f"jaxmarl:{name}"
        )

    build.__doc__ = f"JaxMARL's {name}.\n\n{inspect.getdoc(from_jaxmarl)}"
    _leave_open(build)
    return build


def _leave_open(build: Any) -> None:
    """Keywords without a type mean that there may be others, which only JaxMARL knows."""
    signature = inspect.signature(build)
    keywords = signature.parameters["keywords"].replace(annotation=inspect.Parameter.empty)
    kept = [one for one in signature.parameters.values() if one.name != keywords.name]
    build.__signature__ = signature.replace(parameters=[*kept, keywords])
    del build.__annotations__[keywords.name]


def _require_known(name: str, keywords: Mapping[str, Any], env: Any) -> None:
    """Refuse arguments that no constructor names: many take `**kwargs` and ignore the unknown."""
    inside = getattr(env, "_env", env)  # SMAX inside SMAX with enemies that play by themselves
    classes = [*type(env).__mro__, *type(inside).__mro__]
    known = {key for one in classes for key in inspect.signature(one).parameters}
    for key in keywords:
        if key not in known:
            public = known - {"self", "args", "kwargs"}
            near = hint(key, public, "see JaxMARL's documentation.")
            raise ValueError(f"JaxMARL's {name} has no argument {key!r}; {near}")


def _layout(name: str) -> Any:
    layouts = importlib.import_module("jaxmarl.environments.overcooked").overcooked_layouts
    return _looked_up("layout", name, layouts)


def _scenario(name: str) -> Any:
    maps = importlib.import_module("jaxmarl.environments.smax.smax_env").MAP_NAME_TO_SCENARIO
    return _looked_up("scenario", name, maps)


def _looked_up(what: str, name: Any, known: Mapping[str, Any]) -> Any:
    if name not in known:
        raise ValueError(f"{what} must be one of {', '.join(known)}, not {name!r}.")
    return known[name]


def _as_is(value: Any) -> Any:
    return value


# Arguments that JaxMARL takes as objects and that have a name there.
_NAMED: dict[str, Callable[[Any], Any]] = {"layout": _layout, "scenario": _scenario}
