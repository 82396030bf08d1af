"""Grids of runs: a file that describes them, and who carries them out."""

from pairvdn.experiment.grid.cells import Cell, News, Resources, Standing, Tell
from pairvdn.experiment.grid.executor import Executor
from pairvdn.experiment.grid.file import Grid, grid_from, read_grid
from pairvdn.experiment.grid.here import Here
from pairvdn.experiment.grid.processes import Processes
from pairvdn.experiment.grid.ray_cluster import RayCluster
from pairvdn.experiment.grid.together import run_cells
from pairvdn.experiment.grid.work import last_return

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
