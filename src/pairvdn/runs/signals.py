"""Ctrl-C and SIGTERM as a wish that the loop grants at the end of an epoch."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_MESSAGE = b"stopping: this epoch is finished and saved first; once more to stop at once\n"


class StopRequest:
    """The signal that asked to stop, if one did."""

    def __init__(self) -> None:
        self.signum: int | None = None


@contextlib.contextmanager
def stop_requested() -> Iterator[StopRequest]:
    """Note the first signal; a second one acts as usual, at once.

    Only the main thread may set handlers; a run in any other thread cannot be asked.
    """
    wish = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield wish
        return
    before = {one: signal.getsignal(one) for one in SIGNALS}

    def note(signum: int, _: FrameType | None) -> None:
        wish.signum = signum
        for one, handler in before.items():
            signal.signal(one, handler)
        # Not `print`: the signal may have come in the middle of one.
        os.write(sys.stderr.fileno(), _MESSAGE)

    try:
        for one in SIGNALS:
            signal.signal(one, note)
        yield wish
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
