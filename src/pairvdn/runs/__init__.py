"""Run folders: train into one, resume it, load it, export it."""

from pairvdn.runs.epochs import Report
from pairvdn.runs.errors import BusyError, FolderError, Interrupted, RunError
from pairvdn.runs.export import export
from pairvdn.runs.folder import read_config, run_folders
from pairvdn.runs.load import Loaded, load
from pairvdn.runs.metrics import read_metrics
from pairvdn.runs.train import resume, train

__all__ = [
    "BusyError",
    "FolderError",
    "Interrupted",
    "Loaded",
    "Report",
    "RunError",
    "export",
    "load",
    "read_config",
    "read_metrics",
    "resume",
    "run_folders",
    "train",
]
