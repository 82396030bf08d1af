"""Errors about settings; every message is one line for the user."""


class ConfigError(ValueError):
    """A config, preset, study or flag that cannot be used: unknown key, wrong type or range."""


def one_line(error: BaseException) -> str:
    """The text of an error without line breaks."""
    return " ".join(str(error).split())
