"""All cells of a grid: those that are finished are skipped, the others are carried out."""

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.errors import RunError
from pairvdn.studies.cells import Cell, News, Standing, Tell
from pairvdn.studies.executor import Executor
from pairvdn.studies.storage import Storage
from pairvdn.studies.work import is_finished

_LOOKS_AT_ONCE = 16  # for storage that is far away


def run_cells(
    cells: Sequence[Cell], storage: Storage, executor: Executor, tell: Tell
) -> dict[str, Standing]:
    """Carry out what is left to do; how each cell stands at the end.

    The same call goes on with what was stopped, and tries again what failed.
    """
    standings: dict[str, Standing] = {}

    def note(name: str, news: News) -> None:
        if isinstance(news, Standing):
            standings[name] = news
        tell(name, news)

    with ThreadPoolExecutor(_LOOKS_AT_ONCE) as threads:
        found = threads.map(functools.partial(_look, storage), cells)
        for cell, standing in zip(cells, found, strict=True):
            if standing is not None:
                note(cell.name, standing)
    left = [cell for cell in cells if cell.name not in standings]
    if left:
        executor.run(left, storage, note)
    return {cell.name: standings[cell.name] for cell in cells}


def _look(storage: Storage, cell: Cell) -> Standing | None:
    """How it stands with a cell already; None if there is something to do."""
    try:
        return Standing("finished before") if is_finished(cell, storage) else None
    except (ConfigError, RunError) as error:
        return Standing("failed", one_line(error))
