"""The command `pairvdn`: parse, call, print. One module per sub-command.

Exit codes: 0; 1 failure; 2 bad input; 130 and 143 after SIGINT and SIGTERM.
"""

import contextlib
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence

import pairvdn
from pairvdn.checks import hint
from pairvdn.cli.compilation import compile_quickly, use_compilation_cache

# name -> (module:function, summary). Imported when called: help must not wait for jax.
COMMANDS: dict[str, tuple[str, str]] = {
    "benchmark": ("pairvdn.cli.benchmark:main", "print how fast a preset runs here"),
    "compare": ("pairvdn.cli.compare:main", "compare runs, with confidence intervals"),
    "demo": ("pairvdn.cli.demo:main", "see a tower of boxes grow in about two minutes"),
    "evaluate": ("pairvdn.cli.evaluate:main", "play greedy episodes with a trained run"),
    "export": (
        "pairvdn.cli.export:main",
        "copy a trained value without its training state",
    ),
    "list": ("pairvdn.cli.listing:main", "list environments, methods, presets and more"),
    "play": ("pairvdn.cli.play:main", "play one agent, with the keyboard"),
    "plot": ("pairvdn.cli.plot:main", "draw learning curves"),
    "resume": ("pairvdn.cli.resume:main", "resume a run that was stopped, or extend one"),
    "study": ("pairvdn.cli.study:main", "train many runs from one file; tables and figures"),
    "train": ("pairvdn.cli.train:main", "train from a preset, or your own environment"),
    "watch": ("pairvdn.cli.watch:main", "show what the agents of a run do, and why"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(_overview())
        return 0
    if given[0] == "--version":
        print(f"pairvdn {pairvdn.__version__}")
        return 0
    if given[0] not in COMMANDS:
        return _fail(2, f"there is no command {given[0]!r}; {hint(given[0], COMMANDS)}")
    try:
        return _run(*given)
    except SystemExit as done:  # argparse has printed the help
        return int(done.code or 0)
    except KeyboardInterrupt:
        return _fail(128 + signal.SIGINT, "stopped")
    except BrokenPipeError:  # the reader, for example `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(name: str, *arguments: str) -> int:
    """Run a sub-command; errors that the user can fix take one line, a bug is a traceback."""
    use_compilation_cache()
    compile_quickly()
    from pairvdn.config.errors import ConfigError, one_line
    from pairvdn.envs import StepError
    from pairvdn.learning import Diverged
    from pairvdn.runs.errors import FolderError, Interrupted, RunError
    from pairvdn.viewing import MissingPackageError

    module, _, attribute = COMMANDS[name][0].partition(":")
    command: Callable[[Sequence[str]], int] = getattr(importlib.import_module(module), attribute)
    try:
        with _short_warnings():
            return command(arguments)
    except (ConfigError, FolderError) as error:
        return _fail(2, one_line(error))
    except (RunError, Diverged, MissingPackageError, StepError) as error:
        return _fail(1, one_line(error))
    except Interrupted as stop:
        return _fail(128 + stop.signum, one_line(stop))
    except OSError as error:  # a file that cannot be read or written
        if error.filename is None:
            raise
        return _fail(1, f"{error.filename}: {error.strerror}")


@contextlib.contextmanager
def _short_warnings() -> Iterator[None]:
    """Print warnings as one line, without the line of code that issued them."""
    usual = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: (
        f"pairvdn: warning: {' '.join(str(message).split())}\n"
    )
    try:
        yield
    finally:
        warnings.formatwarning = usual


def _fail(code: int, message: str) -> int:
    print(f"pairvdn: {message}", file=sys.stderr)
    return code


def _overview() -> str:
    lines = [f"  {name:<12} {text}" for name, (_, text) in sorted(COMMANDS.items())]
    return "\n".join(
        [
            "usage: pairvdn COMMAND [arguments]",
            "",
            pairvdn.__doc__ or "",
            "",
            *lines,
            "",
            "`pairvdn COMMAND --help` explains a command, `pairvdn --version` prints the version.",
            "Start with: pairvdn demo, or pairvdn train aloha/pairvdn",
        ]
    )
