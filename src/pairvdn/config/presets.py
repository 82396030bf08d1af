"""Configs by name: ENV/METHOD, ENV/METHOD-VARIANT, ENV/VARIANT, and environments without a file.

The files in `presets/` hold the settings; the README there tells how they are read. Environments of
other libraries and of users, `jaxmarl:NAME` or `module:Name`, start from a file for all of their
kind, and a flag names the method.
"""

import dataclasses
import functools
import inspect
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from pairvdn.checks import hint
from pairvdn.config import registry
from pairvdn.config.config import SECTIONS, Config, kept_arguments
from pairvdn.config.errors import ConfigError
from pairvdn.config.registry import KINDS
from pairvdn.envs import HostEnvironment, external

OWN, ON_HOST = "own", "pettingzoo"  # files for environments that have none


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The settings of a file, or of a variant in one, and how they differ between methods.

    Attributes:
        about: what it is for, in a line
        settings: the sections of a config
        methods: method -> what is different for it, again as sections
        variants: name -> another recipe for the same environment
        only: the methods that it is for; None: all
    """

    about: str
    settings: Mapping[str, Any]
    methods: Mapping[str, Mapping[str, Any]]
    variants: Mapping[str, "Recipe"] = dataclasses.field(default_factory=dict)
    only: tuple[str, ...] | None = None

    @property
    def method(self) -> str | None:
        """The method of a recipe that is for one alone."""
        name: str | None = self.settings.get("method", {}).get("name")
        return name

    def config(self, env: str, method: str) -> Config:
        """The config for this environment and method.

        Shared settings of the method are for networks; one that has others goes without them.
        """
        known = kept_arguments("method", method)
        shared = self.settings.get("method", {})
        networks = {key: shared[key] for key in shared if key in known or method == self.method}
        keys = _over({**self.settings, "method": networks}, self.methods.get(method, {}))
        names = {"env": {"name": env}, "method": {"name": method}}
        return Config.from_dict(_over(keys, names))


def load_preset(name: str) -> Config:
    """The config of a preset, `box-jump/pairvdn` for example, or of an environment without one."""
    env, slash, rest = name.partition("/")
    if not slash and _needs_no_method(env):
        recipe = recipe_of(env)
        return recipe.config(env, recipe.method or "pairvdn")
    found = _recipe_and_method(env, rest) if slash and _is_env(env) else None
    if found is None:
        near = hint(name, preset_names())
        raise ConfigError(f"There is no preset {name!r}; {near} See `pairvdn list`.")
    recipe, method = found
    return recipe.config(env, method)


def is_preset(name: str) -> bool:
    """Whether `load_preset` knows this name; whether its parts fit is not asked."""
    env, slash, rest = name.partition("/")
    if not slash:
        return _needs_no_method(env)
    return _is_env(env) and _recipe_and_method(env, rest) is not None


@functools.cache
def preset_names() -> tuple[str, ...]:
    """Every preset of the environments that have a name of their own, sorted."""
    return tuple(sorted(name for env in KINDS["env"].names() for name in presets_of(env)))


def presets_of(env: str) -> dict[str, str]:
    """The presets of an environment, each with a line about it."""
    recipe, methods = recipe_of(env), KINDS["method"].names()
    found = {f"{env}/{one}": recipe.about for one in methods if _fits(recipe, env, one)}
    for name, variant in recipe.variants.items():
        if variant.method is not None:
            found[f"{env}/{name}"] = variant.about
            continue
        fitting = variant.only or [one for one in methods if _fits(variant, env, one)]
        found |= {f"{env}/{one}-{name}": variant.about for one in fitting}
    return found


def recipe_of(env: str) -> Recipe:
    """The recipe for this environment: its own, that of its library, or the one for all others."""
    if env in _files():
        return _recipe(env)
    prefix, colon, _ = env.partition(":")
    if colon and prefix in external.LIBRARIES:
        return _recipe(prefix)
    return _recipe(ON_HOST if _is_on_host(registry.constructor("env", env)) else OWN)


def _needs_no_method(env: str) -> bool:
    """Whether the name of an environment alone is a preset: it has no file of its own."""
    return ":" in env or (_is_env(env) and env not in _files())


def _is_env(name: str) -> bool:
    return ":" in name or name in KINDS["env"].names()


def _recipe_and_method(env: str, rest: str) -> tuple[Recipe, str] | None:
    """What stands after ENV/: METHOD, VARIANT or METHOD-VARIANT."""
    if rest in KINDS["method"].names() or ":" in rest:
        return recipe_of(env), rest
    for name, variant in recipe_of(env).variants.items():
        if variant.method is not None:
            if rest == name:
                return variant, variant.method
            continue
        method = rest.removesuffix(f"-{name}")
        if method != rest and method in (variant.only or KINDS["method"].names()):
            return variant, method
    return None


def _is_on_host(build: Any) -> bool:
    """Whether a constructor says, by its class or annotation, that it is stepped in Python."""
    made = build if inspect.isclass(build) else inspect.signature(build).return_annotation
    return inspect.isclass(made) and issubclass(made, HostEnvironment)


def _fits(recipe: Recipe, env: str, method: str) -> bool:
    """Whether the method can be built for the environment, as their constructors see it."""
    try:
        config = recipe.config(env, method)
        built = config.build_env()
        traced = (method, repr(config.method.arguments), built.spec)
        if traced not in _FITTING:
            config.require_fit(built)
            _FITTING.add(traced)
    except ConfigError:
        return False
    return True


# Methods, arguments and sizes that go together: equal ones, as many games have, are traced once.
_FITTING: set[Any] = set()


@functools.cache
def _files() -> frozenset[str]:
    """The environments that have a file."""
    names = (file.name for file in (resources.files("pairvdn") / "presets").iterdir())
    stems = {name.removesuffix(".toml") for name in names if name.endswith(".toml")}
    return frozenset(stems & set(KINDS["env"].builtin()))


@functools.cache
def _recipe(stem: str) -> Recipe:
    """The recipe of a file, with the settings of its `base` below its own."""
    file = resources.files("pairvdn") / "presets" / f"{stem}.toml"
    keys = tomllib.loads(file.read_text(encoding="utf-8"))
    below = _recipe(keys.pop("base")) if "base" in keys else Recipe("", {}, {})
    variants = {key: keys.pop(key) for key in list(keys) if _is_variant(key, keys[key])}
    recipe = _layered(below, keys)
    return dataclasses.replace(
        recipe, variants={name: _variant(stem, name, recipe, one) for name, one in variants.items()}
    )


def _is_variant(key: str, value: Any) -> bool:
    return isinstance(value, Mapping) and key not in (*SECTIONS, "methods")


def _variant(stem: str, name: str, recipe: Recipe, keys: Mapping[str, Any]) -> Recipe:
    own = dict(keys)
    if "about" not in own:
        raise ConfigError(f"presets/{stem}.toml: the variant {name!r} needs a line `about`.")
    return _layered(_recipe(own.pop("base")) if "base" in own else recipe, own)


def _layered(below: Recipe, keys: Mapping[str, Any]) -> Recipe:
    """The keys of a table of a file over a recipe."""
    own = dict(keys)
    about, only = own.pop("about", below.about), own.pop("only", None)
    methods = {name: _sections(one) for name, one in own.pop("methods", {}).items()}
    return Recipe(
        about,
        _over(below.settings, own),
        {
            name: _over(below.methods.get(name, {}), methods.get(name, {}))
            for name in (*below.methods, *methods)
        },
        only=None if only is None else tuple(only),
    )


def _sections(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides of a method as sections: tables are sections, all else arguments of the method."""
    arguments = {key: one for key, one in overrides.items() if not isinstance(one, Mapping)}
    tables = {key: one for key, one in overrides.items() if isinstance(one, Mapping)}
    return tables | ({"method": arguments} if arguments else {})


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of `above` over those of `below`, key by key within a section.

    Another learner, optimiser or exploration drops the arguments of the one below.
    """
    merged = dict(below)
    for key, one in above.items():
        old = merged.get(key)
        if not isinstance(one, Mapping) or not isinstance(old, Mapping):
            merged[key] = one
        elif key in ("learner", "optimiser", "exploration") and "name" in one:
            merged[key] = {**(old if old.get("name") == one["name"] else {}), **one}
        else:
            merged[key] = {**old, **one}
    return merged
