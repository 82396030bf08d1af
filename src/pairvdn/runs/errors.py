"""Errors about runs on disk; every message is one line for the person who runs the command."""


class RunError(Exception):
    """A run folder that cannot be read, written or continued."""


class FolderError(RunError):
    """A folder that is missing, is not a run, or already exists."""


class BusyError(RunError):
    """A run folder that another process is training."""


class Interrupted(Exception):  # noqa: N818 - named for what happened, as it is read
    """A signal asked the run to stop, and it stopped after saving."""

    def __init__(self, signum: int, message: str) -> None:
        super().__init__(message)
        self.signum = signum
