"""Environments as pure JAX functions, built by name with `make`."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from pairvdn.checks import hint, raised, shown
from pairvdn.envs import external
from pairvdn.envs.adapters.jaxmarl import from_jaxmarl, to_jaxmarl
from pairvdn.envs.adapters.pettingzoo import from_pettingzoo, to_pettingzoo
from pairvdn.envs.base import (
    Environment,
    HasClock,
    HasMeasureMeanings,
    HasMeasures,
    HasNames,
    HasPictures,
    HasPositions,
    HasShares,
    HasTeamReward,
    HostCopy,
    HostEnvironment,
    HostStep,
    Share,
    StepError,
    Task,
    require_size,
    seconds_per_step,
)
from pairvdn.envs.check import ContractError, check_env, require_shapes
from pairvdn.envs.external import is_external

# One line per environment: its id and its constructor, which is imported on first use.
_REGISTRY: dict[str, str] = {
    "aloha": "pairvdn.envs.aloha:Aloha",
    "box-jump": "pairvdn.envs.box_jump.env:BoxJump",
    "climbing": "pairvdn.envs.one_step:climbing",
    "cooking": "pairvdn.envs.cooking.env:cooking",
    "crossroads": "pairvdn.envs.one_step:crossroads",
    "crossroads-all": "pairvdn.envs.one_step:crossroads_all",
    "disperse": "pairvdn.envs.disperse:Disperse",
    "gather": "pairvdn.envs.gather:Gather",
    "hallway": "pairvdn.envs.hallway:Hallway",
    "penalty": "pairvdn.envs.one_step:penalty",
    "predator-prey": "pairvdn.envs.predator_prey:PredatorPrey",
    "pursuit": "pairvdn.envs.pursuit:Pursuit",
    "qtran": "pairvdn.envs.one_step:qtran",
    "ring-game": "pairvdn.envs.one_step:ring_game",
    "sensor": "pairvdn.envs.sensor:Sensor",
    "simple-spread": "pairvdn.envs.simple_spread:SimpleSpread",
    "t-maze": "pairvdn.envs.t_maze:TMaze",
    "wall": "pairvdn.envs.one_step:wall",
    "wall-graded": "pairvdn.envs.one_step:wall_graded",
}


def names() -> tuple[str, ...]:
    """The ids of the built-in environments."""
    return tuple(sorted(_REGISTRY))


def constructor(name: str) -> Callable[..., Task]:
    """The constructor of the environment called `name`; its signature lists the arguments.

    `name` is one of `names()`, or PREFIX:NAME for an environment of another library.
    """
    if external.is_external(name):
        return external.constructor(name)
    if name not in _REGISTRY:
        raise ValueError(f"There is no environment {name!r}; {hint(name, _REGISTRY)}")
    module, _, attribute = _REGISTRY[name].partition(":")
    build: Callable[..., Task] = getattr(importlib.import_module(module), attribute)
    return build


def make(name: str, /, **arguments: Any) -> Environment[Any]:
    """Build the environment called `name`; `arguments` go to its constructor.

    Raises ValueError, naming the argument, for any that does not exist or does not fit.
    """
    if not isinstance(name, str):
        raise ValueError(f"The name of an environment must be a string, not {shown(name)}.")
    build = constructor(name)
    parameters = inspect.signature(build).parameters
    if not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        for key in arguments:
            if key not in parameters:
                raise ValueError(f"{name} has no argument {key!r}; {hint(key, parameters)}")
    try:
        env = build(**arguments)
        require_size(env)
    except (ValueError, ImportError):
        raise
    except Exception as error:
        raise ValueError(
            f"{name} cannot be made with {shown(arguments)}: {raised(error)}"
        ) from error
    if not isinstance(env, Environment):
        raise ValueError(
            f"{name} is stepped in Python and is not a pure function; "
            f"use `envs.constructor({name!r})` or `from_pettingzoo` instead of `make`."
        )
    return env


__all__ = [
    "ContractError",
    "Environment",
    "HasClock",
    "HasMeasureMeanings",
    "HasMeasures",
    "HasNames",
    "HasPictures",
    "HasPositions",
    "HasShares",
    "HasTeamReward",
    "HostCopy",
    "HostEnvironment",
    "HostStep",
    "Share",
    "StepError",
    "Task",
    "check_env",
    "constructor",
    "from_jaxmarl",
    "from_pettingzoo",
    "is_external",
    "make",
    "names",
    "require_shapes",
    "require_size",
    "seconds_per_step",
    "to_jaxmarl",
    "to_pettingzoo",
]
