"""The paper's tables and the runs behind its figures, trained and evaluated on demand."""

from pairvdn.studies.reproduce.table1 import (
    Cell,
    papers_numbers,
    table1,
    table1_cells,
    to_csv,
    to_markdown,
)
from pairvdn.studies.reproduce.tasks import (
    EXTENSIONS,
    FULL,
    PAPER_METHODS,
    QUICK,
    TASKS,
    Scale,
    available,
    config_for,
    ensure_trained,
)

__all__ = [
    "EXTENSIONS",
    "FULL",
    "PAPER_METHODS",
    "QUICK",
    "TASKS",
    "Cell",
    "Scale",
    "available",
    "config_for",
    "ensure_trained",
    "papers_numbers",
    "table1",
    "table1_cells",
    "to_csv",
    "to_markdown",
]
