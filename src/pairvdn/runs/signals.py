"""Ctrl-C and SIGTERM as a request to stop at the end of an epoch."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_MESSAGE = b"stopping after this epoch, which will be saved; signal again to stop at once\n"


class StopRequest:
    """The signal that requested the stop; None before."""

    def __init__(self) -> None:
        self.signum: int | None = None


@contextlib.contextmanager
def stop_requested() -> Iterator[StopRequest]:
    """Record the first signal; a second one has its usual effect.

    Only the main thread may set handlers: in any other thread the request stays empty.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {signum: signal.getsignal(signum) for signum in SIGNALS}

    def restore() -> None:
        for signum, handler in before.items():
            signal.signal(signum, handler)

    def record(signum: int, _: FrameType | None) -> None:
        request.signum = signum
        restore()
        # Not `print`: the signal may have interrupted one.
        os.write(sys.stderr.fileno(), _MESSAGE)

    try:
        for signum in SIGNALS:
            signal.signal(signum, record)
        yield request
    finally:
        restore()
