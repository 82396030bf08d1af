"""Configs, run folders, and runs that can be stopped and go on."""

from pairvdn.experiment.config import Config
from pairvdn.experiment.errors import ConfigError, FolderError, Interrupted, RunError
from pairvdn.experiment.folder import read_metrics, run_folders
from pairvdn.experiment.presets import load_preset, preset_names
from pairvdn.experiment.run import Loaded, load, resume, train

__all__ = [
    "Config",
    "ConfigError",
    "FolderError",
    "Interrupted",
    "Loaded",
    "RunError",
    "load",
    "load_preset",
    "preset_names",
    "read_metrics",
    "resume",
    "run_folders",
    "train",
]
