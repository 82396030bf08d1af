"""Configs that are known by name: ENV/METHOD and ENV/METHOD-paper."""

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from pairvdn.experiment.config import Config
from pairvdn.experiment.errors import ConfigError, hint


def preset_names() -> tuple[str, ...]:
    """Every preset that there is."""
    return tuple(sorted(_files()))


def load_preset(name: str) -> Config:
    """The config of a preset, `box-jump/pairvdn` say."""
    if name not in _files():
        raise ConfigError(
            f"There is no preset {name!r}; {hint(name, _files())} See `pairvdn list`."
        )
    return Config.from_dict(_with_bases(_files()[name]))


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
    below = _with_bases(resources.files("pairvdn") / "presets" / "_base" / f"{base}.toml")
    tables = {key: below.get(key, {}) | keys[key] for key in keys if isinstance(keys[key], dict)}
    return below | keys | tables
