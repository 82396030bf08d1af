"""Grids of runs: a file that describes them, and who carries them out."""

from pairvdn.studies.cells import Cell, News, Resources, Standing, Tell
from pairvdn.studies.executor import Executor
from pairvdn.studies.file import Grid, grid_from, read_grid
from pairvdn.studies.here import Here
from pairvdn.studies.processes import Processes
from pairvdn.studies.ray_cluster import RayCluster
from pairvdn.studies.together import run_cells
from pairvdn.studies.work import last_return

__all__ = [
    "Cell",
    "Executor",
    "Grid",
    "Here",
    "News",
    "Processes",
    "RayCluster",
    "Resources",
    "Standing",
    "Tell",
    "grid_from",
    "last_return",
    "read_grid",
    "run_cells",
]
