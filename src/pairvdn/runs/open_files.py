"""The files that seeds side by side keep open: counted before anything is written."""

import resource

from pairvdn.config.errors import ConfigError

_PER_SEED = 2  # its lock, and its events for TensorBoard
_BESIDES = 128  # of Python, JAX and the writing of a checkpoint


def require_open_files(num_seeds: int) -> None:
    """Let this process open enough files, or raise `ConfigError` if it may not.

    Shells often start programs with a soft limit far below the one that programs may set.
    """
    needed = _PER_SEED * num_seeds + _BESIDES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise ConfigError(
            f"{num_seeds} seeds need {needed} open files, and this process may have {hard}: lower "
            "seeds, or raise the limit (ulimit -n)."
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
