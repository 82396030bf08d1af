"""Ctrl-C and SIGTERM as a request to stop at the end of an epoch."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_MESSAGE = b"stopping after this epoch, which is saved first; signal again to stop at once\n"


class StopRequest:
    """The signal that asked to stop, if there was one."""

    def __init__(self) -> None:
        self.signum: int | None = None


@contextlib.contextmanager
def stop_requested() -> Iterator[StopRequest]:
    """Record the first signal; a second one acts as usual, at once.

    Only the main thread may set handlers; in any other thread nothing can be requested.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {one: signal.getsignal(one) for one in SIGNALS}

    def record(signum: int, _: FrameType | None) -> None:
        request.signum = signum
        for one, handler in before.items():
            signal.signal(one, handler)
        # Not `print`: the signal may have interrupted one.
        os.write(sys.stderr.fileno(), _MESSAGE)

    try:
        for one in SIGNALS:
            signal.signal(one, record)
        yield request
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
