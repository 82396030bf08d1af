"""What can go wrong with an experiment; every message is one line for the person who runs it."""


class ConfigError(ValueError):
    """A config, preset or flag that cannot be used: unknown key, wrong type, out of range."""


class RunError(Exception):
    """A run folder that cannot be read, written or continued."""


class FolderError(RunError):
    """A folder that is not what was asked for: missing, not a run, or in the way."""


class BusyError(RunError):
    """A run folder that another process trains at the moment."""


class Interrupted(Exception):  # noqa: N818 - named for what happened, as it is read
    """A signal asked the run to stop, and it did, after saving."""

    def __init__(self, signum: int, message: str) -> None:
        super().__init__(message)
        self.signum = signum


def one_line(error: BaseException) -> str:
    """The text of an error without line breaks."""
    return " ".join(str(error).split())
