"""JaxMARL's environments by name, with plain arguments as in a config."""

import importlib
import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from pairvdn.checks import MOST_AGENTS, hint, require_one_of, require_within
from pairvdn.envs.adapters.jaxmarl.adapter import FromJaxMARL, from_jaxmarl
from pairvdn.envs.adapters.jaxmarl.original import lenient, library
from pairvdn.envs.base import TeamReward


def constructor(name: str) -> Callable[..., FromJaxMARL]:
    """A function that builds the environment called `name` in JaxMARL.

    It takes the arguments of `from_jaxmarl` and of JaxMARL's class. A `layout` of Overcooked and a
    `scenario` of SMAX are given by name.
    """
    jaxmarl = library()
    known = jaxmarl.registered_envs
    if name not in known:
        raise ValueError(f"JaxMARL has no environment {name!r}; {hint(name, known)}")

    def build(
        max_steps: int | None = None, team_reward: TeamReward | None = None, **keywords: Any
    ) -> FromJaxMARL:
        _require_sizes(keywords)
        given = {
            key: _NAMED[key](value) if key in _NAMED else value for key, value in keywords.items()
        }
        with warnings.catch_warnings(), lenient():
            # Overcooked recommends its second version whenever it is made.
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                env = jaxmarl.make(name, **given)
            except (TypeError, AssertionError) as error:
                raise ValueError(f"JaxMARL cannot make {name}: {error}") from error
        _require_known(name, keywords, env)
        return from_jaxmarl(
            env, max_steps=max_steps, team_reward=team_reward, name=f"jaxmarl:{name}"
        )

    build.__doc__ = f"JaxMARL's {name}.\n\n{inspect.getdoc(from_jaxmarl)}"
    _leave_open(build)
    return build


def _require_sizes(keywords: Mapping[str, Any]) -> None:
    """Refuse numbers of agents and the like for which JaxMARL would allocate before we see it."""
    for key, value in keywords.items():
        if re.fullmatch(r"num_(?!.*steps)\w+", key) and isinstance(value, int):
            require_within(0, MOST_AGENTS, **{key: value})


def _leave_open(build: Any) -> None:
    """Remove the type of `keywords`, so that arguments known only to JaxMARL are accepted."""
    signature = inspect.signature(build)
    keywords = signature.parameters["keywords"].replace(annotation=inspect.Parameter.empty)
    kept = [other for other in signature.parameters.values() if other.name != keywords.name]
    build.__signature__ = signature.replace(parameters=[*kept, keywords])
    del build.__annotations__[keywords.name]


def _require_known(name: str, keywords: Mapping[str, Any], env: Any) -> None:
    """Refuse arguments that no constructor names: many ignore unknown `**kwargs`."""
    inside = getattr(env, "_env", env)  # SMAX with scripted enemies wraps SMAX
    classes = [*type(env).__mro__, *type(inside).__mro__]
    known = {key for base in classes for key in inspect.signature(base).parameters}
    for key in keywords:
        if key not in known:
            public = known - {"self", "args", "kwargs"}
            near = hint(key, public, "see JaxMARL's documentation.")
            raise ValueError(f"JaxMARL's {name} has no argument {key!r}; {near}")


def _layout(name: str) -> Any:
    layouts = importlib.import_module("jaxmarl.environments.overcooked").overcooked_layouts
    require_one_of(layouts, layout=name)
    return layouts[name]


def _scenario(name: str) -> Any:
    maps = importlib.import_module("jaxmarl.environments.smax.smax_env").MAP_NAME_TO_SCENARIO
    require_one_of(maps, scenario=name)
    return maps[name]


# Arguments that JaxMARL takes as objects, here given by name.
_NAMED: dict[str, Callable[[Any], Any]] = {"layout": _layout, "scenario": _scenario}
