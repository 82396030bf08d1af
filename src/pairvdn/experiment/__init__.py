"""Configs, run folders, and runs that can be stopped and go on."""

from pairvdn.experiment.config import Config
from pairvdn.experiment.errors import ConfigError, Interrupted, RunError
from pairvdn.experiment.presets import load_preset, preset_names

__all__ = ["Config", "ConfigError", "Interrupted", "RunError", "load_preset", "preset_names"]
