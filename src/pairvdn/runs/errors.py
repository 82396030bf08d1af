"""Errors about runs on disk; every message is one line for the user."""


class RunError(Exception):
    """A run folder that cannot be read, written or resumed."""


class FolderError(RunError):
    """A folder that is missing, is not a run, or already exists."""


class BusyError(RunError):
    """A run folder that another process is training."""


class Interrupted(Exception):  # noqa: N818 - the end of a run, not an error
    """A run that stopped, after saving, because of a signal."""

    def __init__(self, signum: int, message: str) -> None:
        super().__init__(message)
        self.signum = signum
