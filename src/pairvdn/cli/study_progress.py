"""The progress of a study: one live table on a terminal, plain lines elsewhere."""

import contextlib
import datetime
import functools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import IO, Any, cast

from pairvdn.cli.progress import Stream, numbers
from pairvdn.runs.epochs import Report
from pairvdn.studies import Cell, Event, OnEvent, Status

_BAD = ("failed", "diverged")
# If there is not room for all cells, those in the first of these states are shown.
_ORDER = (
    *("running", "failed", "diverged", "busy", "stopped"),
    *("waiting", "finished", "finished before"),
)
_COLOURS = {"running": "cyan", "failed": "red", "diverged": "red", "finished": "green"}
_COLUMNS = ("steps/s", "return", "greedy return", "left")


class Progress:
    """The state and the last numbers of each cell, from its events."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.states: dict[str, str] = {cell.name: "waiting" for cell in cells}
        self.epochs: dict[str, str] = {cell.name: f"0/{cell.config.epochs}" for cell in cells}
        self.shown: dict[str, dict[str, str]] = {cell.name: {} for cell in cells}
        self.failures: dict[str, Status] = {}

    def note(self, name: str, event: Event) -> None:
        """Record an event of a cell; repeated trials are known from their first event on."""
        self.epochs.setdefault(name, "")
        self.shown.setdefault(name, {})
        if isinstance(event, Status):
            self.states[name] = event.state
            if event.state in _BAD:
                self.failures[name] = event
        elif isinstance(event, Report):
            self.epochs[name] = f"{event.epoch}/{event.epochs}"
            self.shown[name] |= numbers(event)

    def counts(self) -> str:
        """The number of cells in each state."""
        counts = Counter(self.states.values())
        return ", ".join(f"{counts[state]} {state}" for state in _ORDER if counts[state])

    def reasons(self) -> list[str]:
        """The reasons of failures, each after its traceback, if there is one."""
        return [
            text
            for name, status in self.failures.items()
            for text in (status.details, f"{name}: {status.state}: {status.reason}")
            if text
        ]


@contextlib.contextmanager
def cells_progress(
    cells: Sequence[Cell], *, quiet: bool, stream: Stream | None = None
) -> Iterator[OnEvent]:
    """The callback for events; at the end, prints the reasons of failed cells."""
    stream = stream or sys.stdout
    progress = Progress(cells)
    try:
        if stream.isatty() and not quiet:
            with _live(progress, stream) as on_event:
                yield on_event
        else:
            yield functools.partial(_print_event, progress, stream, quiet)
    finally:
        for text in progress.reasons():
            print(text, file=sys.stderr, flush=True)


def _print_event(progress: Progress, stream: Stream, quiet: bool, name: str, event: Event) -> None:
    """Print a status or the outcome of tuning, unless quiet, or a warning."""
    progress.note(name, event)
    if isinstance(event, str) and event.startswith("warning"):
        print(f"{name}: {event}", file=sys.stderr, flush=True)
    if isinstance(event, str) and event.startswith("tuned") and not quiet:
        print(event, file=stream, flush=True)
    if isinstance(event, Status) and not quiet:
        print(f"{name}: {event.state} ({progress.counts()})", file=stream, flush=True)


@contextlib.contextmanager
def _live(progress: Progress, stream: Stream) -> Iterator[OnEvent]:
    from rich.console import Console
    from rich.live import Live

    console = Console(file=cast(IO[str], stream))
    began = datetime.datetime.now()

    def draw() -> Any:
        took = datetime.timedelta(seconds=round((datetime.datetime.now() - began).total_seconds()))
        # Room for the heads, the caption and the prompt.
        return _table(progress, room=max(1, console.height - 6), caption=f"after {took}")

    with Live(get_renderable=draw, console=console, refresh_per_second=2) as live:

        def on_event(name: str, event: Event) -> None:
            progress.note(name, event)
            if isinstance(event, str) and event.startswith("warning"):
                live.console.print(f"{name}: {event}", highlight=False)
            if isinstance(event, str) and event.startswith("tuned"):
                live.console.print(event, highlight=False)

        yield on_event


def _table(progress: Progress, *, room: int, caption: str) -> Any:
    """The most urgent cells that fit."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, caption=f"{progress.counts()} {caption}", caption_justify="left")
    drawn.add_column("cell", no_wrap=True)
    for head in ("state", "epoch", *_COLUMNS):
        drawn.add_column(head, justify="right", no_wrap=True)
    urgent = sorted(progress.states, key=lambda name: _ORDER.index(progress.states[name]))
    kept = set(urgent[:room])
    for name, state in progress.states.items():
        if name in kept:
            colour = Text(state, style=_COLOURS.get(state, ""))
            shown = [progress.shown[name].get(column, "") for column in _COLUMNS]
            drawn.add_row(name, colour, progress.epochs[name], *shown)
    return drawn
