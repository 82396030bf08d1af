"""Run folders: train into one, resume it, load and export what it has learned."""

from pairvdn.runs.errors import BusyError, FolderError, Interrupted, RunError
from pairvdn.runs.folder import read_metrics, run_folders
from pairvdn.runs.load import Loaded, load
from pairvdn.runs.train import resume, train

__all__ = [
    "BusyError",
    "FolderError",
    "Interrupted",
    "Loaded",
    "RunError",
    "load",
    "read_metrics",
    "resume",
    "run_folders",
    "train",
]
