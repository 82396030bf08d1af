"""Studies: many runs from one TOML file, their raw results as JSON, and tables of them."""

from pairvdn.studies.cells import Cell, Event, OnEvent, Resources, Status
from pairvdn.studies.claims import claims_table
from pairvdn.studies.executors import Executor, Here, Processes, run_cells
from pairvdn.studies.ray_cluster import RayCluster
from pairvdn.studies.read import read_study, shipped_names, study_from
from pairvdn.studies.results import ResultsFile, run_study
from pairvdn.studies.standings import Aggregate, Standing, aggregate, aggregate_table
from pairvdn.studies.storage import storage
from pairvdn.studies.study import Row, Study
from pairvdn.studies.summaries import fill, read_summary
from pairvdn.studies.tables import study_table, to_csv, to_markdown
from pairvdn.studies.tuning import Trial, Tuned, read_tuned, trial_cells, tune_rows

__all__ = [
    "Aggregate",
    "Cell",
    "Event",
    "Executor",
    "Here",
    "OnEvent",
    "Processes",
    "RayCluster",
    "Resources",
    "ResultsFile",
    "Row",
    "Standing",
    "Status",
    "Study",
    "Trial",
    "Tuned",
    "aggregate",
    "aggregate_table",
    "claims_table",
    "fill",
    "read_study",
    "read_summary",
    "read_tuned",
    "run_cells",
    "run_study",
    "shipped_names",
    "storage",
    "study_from",
    "study_table",
    "to_csv",
    "to_markdown",
    "trial_cells",
    "tune_rows",
]
