"""Errors about settings; every message is one line for the user."""

from pathlib import Path


class ConfigError(ValueError):
    """A config, preset, study or flag that cannot be used: unknown key, wrong type or range."""


def one_line(error: BaseException) -> str:
    """The text of an error without line breaks."""
    return " ".join(str(error).split())


def raised(error: BaseException) -> str:
    """An error of foreign code in one line: its type, its text, and the line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    text = f"{type(error).__name__}: {one_line(error)}".rstrip(": ")
    if trace is None:
        return text
    return f"{text} ({Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno})"
