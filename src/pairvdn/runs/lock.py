"""One process at a time writes to a run folder."""

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from pairvdn.runs.errors import BusyError


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder/lock`, or raise `BusyError` if a living process does.

    The kernel drops the lock when its process dies, however it dies. The text in the file is then
    out of date, and the next process overwrites it.
    """
    with (folder / "lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            raise BusyError(f"{folder} is being trained by {holder}; stop that first.") from None
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        yield
