"""What a person sees of a grid: one live table on a terminal, plain lines elsewhere."""

import contextlib
import datetime
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import IO, Any, cast

from pairvdn.cli.progress import Stream, numbers
from pairvdn.runs.epochs import Report
from pairvdn.studies import Cell, News, Standing, Tell

_BAD = ("failed", "diverged")
# What is shown first if there is not room for all.
_ORDER = ("running", "failed", "diverged", "stopped", "waiting", "finished", "finished before")
_COLOURS = {"running": "cyan", "failed": "red", "diverged": "red", "finished": "green"}
_COLUMNS = ("steps/s", "return", "greedy return", "left")


class Progress:
    """How far each cell is, gathered from what is told."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.states: dict[str, str] = {cell.name: "waiting" for cell in cells}
        self.epochs: dict[str, str] = {cell.name: f"0/{cell.config.epochs}" for cell in cells}
        self.shown: dict[str, dict[str, str]] = {cell.name: {} for cell in cells}
        self.failures: dict[str, Standing] = {}

    def note(self, name: str, news: News) -> None:
        """Take in what was told about a cell."""
        if isinstance(news, Standing):
            self.states[name] = news.state
            if news.state in _BAD:
                self.failures[name] = news
        elif isinstance(news, Report):
            self.epochs[name] = f"{news.epoch}/{news.epochs}"
            self.shown[name] |= numbers(news)

    def counts(self) -> str:
        """How many cells are in which state."""
        found = Counter(self.states.values())
        return ", ".join(f"{found[state]} {state}" for state in _ORDER if found[state])

    def reasons(self) -> list[str]:
        """Why cells failed; a traceback, if there is one, comes before the line."""
        return [
            text
            for name, one in self.failures.items()
            for text in (one.details, f"{name}: {one.state}: {one.reason}")
            if text
        ]


@contextlib.contextmanager
def cells_progress(
    cells: Sequence[Cell], *, quiet: bool, stream: Stream | None = None
) -> Iterator[Tell]:
    """What to tell the news of cells; at the end those that failed are named, with the reason."""
    stream = stream or sys.stdout
    progress = Progress(cells)
    try:
        if stream.isatty() and not quiet:
            with _live(progress, stream) as tell:
                yield tell
        else:
            yield _Lines(progress, stream, quiet=quiet).tell
    finally:
        for text in progress.reasons():
            print(text, file=sys.stderr, flush=True)


class _Lines:
    """A line for each new standing, and warnings."""

    def __init__(self, progress: Progress, stream: Stream, *, quiet: bool) -> None:
        self._progress, self._stream, self._quiet = progress, stream, quiet

    def tell(self, name: str, news: News) -> None:
        """Print what is new."""
        self._progress.note(name, news)
        if isinstance(news, str) and news.startswith("warning"):
            print(f"{name}: {news}", file=sys.stderr, flush=True)
        if isinstance(news, Standing) and not self._quiet:
            text = f"{name}: {news.state} ({self._progress.counts()})"
            print(text, file=self._stream, flush=True)


@contextlib.contextmanager
def _live(progress: Progress, stream: Stream) -> Iterator[Tell]:
    from rich.console import Console
    from rich.live import Live

    console = Console(file=cast(IO[str], stream))
    began = datetime.datetime.now()

    def draw() -> Any:
        took = datetime.timedelta(seconds=round((datetime.datetime.now() - began).total_seconds()))
        # Two lines of heads, the caption, and the line of the prompt.
        return _table(progress, room=max(1, console.height - 6), caption=f"after {took}")

    with Live(get_renderable=draw, console=console, refresh_per_second=2) as live:

        def tell(name: str, news: News) -> None:
            progress.note(name, news)
            if isinstance(news, str) and news.startswith("warning"):
                live.console.print(f"{name}: {news}", highlight=False)

        yield tell


def _table(progress: Progress, *, room: int, caption: str) -> Any:
    """The cells that matter most now, as many as there is room for."""
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
