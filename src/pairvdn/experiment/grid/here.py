"""Cells one after the other, in this process."""

import dataclasses
import functools
from collections.abc import Sequence

from pairvdn.experiment.errors import Interrupted
from pairvdn.experiment.grid.cells import Cell, Standing, Tell
from pairvdn.experiment.grid.executor import Executor
from pairvdn.experiment.grid.work import carry_out
from pairvdn.experiment.storage import Storage


@dataclasses.dataclass(frozen=True)
class Here(Executor):
    """One after the other."""

    def run(self, cells: Sequence[Cell], storage: Storage, tell: Tell) -> None:
        """Carry out all cells; it is the run that is being trained which notices a signal."""
        for cell in cells:
            try:
                standing = carry_out(cell, storage, functools.partial(tell, cell.name))
            except Interrupted:
                tell(cell.name, Standing("stopped"))
                raise
            tell(cell.name, standing)
