"""Errors about settings; every message is one line for the user."""


class ConfigError(ValueError):
    """A config, preset, study or flag that cannot be used: unknown key, wrong type or range."""


def unreadable(name: str, error: OSError | UnicodeDecodeError) -> ConfigError:
    """The error for a file that cannot be read, with the system's reason."""
    reason = error.strerror if isinstance(error, OSError) else None
    return ConfigError(f"{name} cannot be read: {reason or one_line(error)}.")


def one_line(error: BaseException) -> str:
    """The text of an error without line breaks."""
    return " ".join(str(error).split())
