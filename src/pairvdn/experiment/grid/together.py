"""All cells of a grid: those that are finished are skipped, the others are carried out."""

from collections.abc import Sequence

from pairvdn.experiment.errors import ConfigError, RunError, one_line
from pairvdn.experiment.grid.cells import Cell, News, Standing, Tell
from pairvdn.experiment.grid.executor import Executor
from pairvdn.experiment.grid.work import is_finished
from pairvdn.experiment.storage import Storage


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

    left = []
    for cell in cells:
        try:
            finished = is_finished(cell, storage)
        except (ConfigError, RunError) as error:
            note(cell.name, Standing("failed", one_line(error)))
            continue
        if finished:
            note(cell.name, Standing("finished before"))
        else:
            left.append(cell)
    if left:
        executor.run(left, storage, note)
    return {cell.name: standings[cell.name] for cell in cells}
