"""Configs by name: ENV/METHOD, ENV/METHOD-VARIANT, ENV/VARIANT, and environments without a file.

The files in `presets/` hold the settings; the README there explains their format. Environments of
other libraries and of users, `jaxmarl:NAME` or `module:Name`, share one file per kind, and a flag
names the method.
"""

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from importlib import resources
from typing import Any

from pairvdn.checks import hint
from pairvdn.config import registry
from pairvdn.config.config import SECTIONS, Config, kept_arguments
from pairvdn.config.errors import ConfigError
from pairvdn.config.registry import KINDS
from pairvdn.config.toml import read_toml
from pairvdn.envs import HostEnvironment, external

OWN, ON_HOST = "own", "pettingzoo"  # files for environments that have none
METHOD = "METHOD"  # stands for any method in the form of a preset's name


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The settings of a file, or of a variant in one, with overrides for single methods.

    Attributes:
        about: a one-line description
        settings: the sections of a config
        methods: the overrides of each method, again as sections
        variants: other recipes for the same environment, by name
        only: the supported methods; None: all
    """

    about: str
    settings: Mapping[str, Any]
    methods: Mapping[str, Mapping[str, Any]]
    variants: Mapping[str, "Recipe"] = dataclasses.field(default_factory=dict)
    only: tuple[str, ...] | None = None

    @property
    def method(self) -> str | None:
        """The method, if the recipe is for a single one."""
        name: str | None = self.settings.get("method", {}).get("name")
        return name

    def config(self, env: str, method: str) -> Config:
        """The config for this environment and method.

        Shared method settings are network arguments; a method without networks ignores them.
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
    chosen = _recipe_and_method(env, rest) if slash and _is_env(env) else None
    if chosen is None:
        near = hint(name, _possible_names())
        raise ConfigError(f"There is no preset {name!r}; {near} See `pairvdn list`.")
    recipe, method = chosen
    return recipe.config(env, method)


def is_preset(name: str) -> bool:
    """Whether `load_preset` knows this name; its parts may still not fit each other."""
    env, slash, rest = name.partition("/")
    if not slash:
        return _needs_no_method(env)
    return _is_env(env) and _recipe_and_method(env, rest) is not None


@functools.cache
def preset_names() -> tuple[str, ...]:
    """All presets of registered environments, sorted; testing which methods fit takes seconds."""
    return tuple(sorted(name for env in KINDS["env"].names() for name in presets_of(env)))


def presets_of(env: str) -> dict[str, str]:
    """The presets of an environment, each with its description."""
    presets = {}
    for form, recipe in recipes_of(env).items():
        named = METHOD not in form
        methods = [str(recipe.method)] if named else recipe.only or KINDS["method"].names()
        for method in methods:
            if named or recipe.only or _fits(recipe, env, method):
                presets[form.replace(METHOD, method)] = recipe.about
    return presets


def recipes_of(env: str) -> dict[str, Recipe]:
    """The recipes of an environment by the form of their names, such as `box-jump/METHOD`."""
    recipe = recipe_of(env)
    forms = {f"{env}/{METHOD}": recipe}
    for name, variant in recipe.variants.items():
        forms[f"{env}/{name if variant.method else f'{METHOD}-{name}'}"] = variant
    return forms


def _possible_names() -> set[str]:
    """All presets, including those of methods that do not fit: enough for a hint."""
    return {
        form.replace(METHOD, method)
        for env in KINDS["env"].names()
        for form, recipe in recipes_of(env).items()
        for method in recipe.only or KINDS["method"].names()
    }


def recipe_of(env: str) -> Recipe:
    """The recipe of this environment: its own, its library's, or the one for all others."""
    if env in _files():
        return _recipe(env)
    prefix, colon, _ = env.partition(":")
    if colon and prefix in external.LIBRARIES:
        return _recipe(prefix)
    return _recipe(ON_HOST if _is_on_host(registry.constructor("env", env)) else OWN)


def _needs_no_method(env: str) -> bool:
    """Whether the name alone is a preset: the environment has no file of its own."""
    return ":" in env or (_is_env(env) and env not in _files())


def _is_env(name: str) -> bool:
    return ":" in name or name in KINDS["env"].names()


def _recipe_and_method(env: str, rest: str) -> tuple[Recipe, str] | None:
    """Parse the part after ENV/: METHOD, VARIANT or METHOD-VARIANT."""
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
    """Whether a class, or the annotation of a function, declares a host environment."""
    made = build if inspect.isclass(build) else inspect.signature(build).return_annotation
    return inspect.isclass(made) and issubclass(made, HostEnvironment)


def _fits(recipe: Recipe, env: str, method: str) -> bool:
    """Whether the method can be built for the environment."""
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


# Methods, arguments and sizes known to fit: many games have equal ones, which are traced once.
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
    keys = read_toml(file.read_text(encoding="utf-8"), file.name)
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
        raise ConfigError(f"presets/{stem}.toml: add a line `about` to the variant {name!r}.")
    return _layered(_recipe(own.pop("base")) if "base" in own else recipe, own)


def _layered(below: Recipe, keys: Mapping[str, Any]) -> Recipe:
    """The recipe with the keys of a table applied to it."""
    own = dict(keys)
    about, only = own.pop("about", below.about), own.pop("only", None)
    methods = {name: _sections(table) for name, table in own.pop("methods", {}).items()}
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
    """Overrides of a method as sections: tables are sections, the rest are method arguments."""
    tables = {key: value for key, value in overrides.items() if isinstance(value, Mapping)}
    arguments = {key: value for key, value in overrides.items() if key not in tables}
    return tables | ({"method": arguments} if arguments else {})


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the settings of `above` into those of `below`, key by key within a section.

    Another learner, optimiser or exploration drops the arguments of the old one.
    """
    merged = dict(below)
    for key, new in above.items():
        old = merged.get(key)
        if not isinstance(new, Mapping) or not isinstance(old, Mapping):
            merged[key] = new
        elif key in ("learner", "optimiser", "exploration") and "name" in new:
            merged[key] = {**(old if old.get("name") == new["name"] else {}), **new}
        else:
            merged[key] = {**old, **new}
    return merged
