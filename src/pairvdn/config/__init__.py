"""The description of a run as data: a schema, a registry of names, configs and presets."""

from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.config.presets import load_preset, preset_names

__all__ = ["Config", "ConfigError", "load_preset", "preset_names"]
