"""Configs that are known by name: ENV/METHOD, ENV/METHOD-paper, and PREFIX:NAME.

Of another library's environments (PREFIX:NAME) there is no list. They all start from the file of
their prefix in `_base/`, and a flag names the method.
"""

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from pairvdn.checks import hint
from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError, one_line
from pairvdn.envs import external, is_external


def preset_names() -> tuple[str, ...]:
    """Every preset that there is."""
    return tuple(sorted(_files()))


def load_preset(name: str) -> Config:
    """The config of a preset, `box-jump/pairvdn` say, or that of an external library."""
    if is_external(name):
        return _external(name)
    if name not in _files():
        raise ConfigError(
            f"There is no preset {name!r}; {hint(name, _files())} See `pairvdn list`."
        )
    return Config.from_dict(_with_bases(_files()[name]))


def _external(name: str) -> Config:
    try:
        prefix = external.prefix_of(name)
    except ValueError as error:
        raise ConfigError(one_line(error)) from error
    keys = _with_bases(_base(prefix))
    return Config.from_dict(keys | {"env": {"name": name} | keys.get("env", {})})


@functools.cache
def _files() -> Mapping[str, Traversable]:
    root = resources.files("pairvdn") / "presets"
    return {
        f"{folder.name}/{file.name.removesuffix('.toml')}": file
        for folder in root.iterdir()
        if folder.is_dir() and not folder.name.startswith("_")
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    }


def _with_bases(file: Traversable) -> dict[str, Any]:
    """The keys of a file over those of the file that it names as its `base`, in `_base/`."""
    keys = tomllib.loads(file.read_text(encoding="utf-8"))
    base = keys.pop("base", None)
    if base is None:
        return keys
    below = _with_bases(_base(base))
    tables = {key: below.get(key, {}) | keys[key] for key in keys if isinstance(keys[key], dict)}
    return below | keys | tables


def _base(name: str) -> Traversable:
    return resources.files("pairvdn") / "presets" / "_base" / f"{name}.toml"
