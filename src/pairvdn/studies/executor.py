"""Who carries out the cells of a grid."""

import abc
from collections.abc import Sequence

from pairvdn.studies.cells import Cell, Tell
from pairvdn.studies.storage import Storage


class Executor(abc.ABC):
    """Carries out cells, in any order and number at a time; results never depend on that."""

    @abc.abstractmethod
    def run(self, cells: Sequence[Cell], storage: Storage, tell: Tell) -> None:
        """Carry out all cells, and tell how each of them ended.

        What goes wrong with one of them does not stop the others. After a signal, those that run
        are saved and told as stopped, no other is started, and `Interrupted` is raised.
        """
