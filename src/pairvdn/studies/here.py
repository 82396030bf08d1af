"""Cells one after the other, in this process."""

import dataclasses
import functools
from collections.abc import Sequence

from pairvdn.runs.errors import Interrupted
from pairvdn.studies.cells import Cell, Standing, Tell
from pairvdn.studies.executor import Executor
from pairvdn.studies.storage import Storage
from pairvdn.studies.work import carry_out


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
