"""The progress of a run: a bar on a terminal, plain lines elsewhere."""

import contextlib
import datetime
import functools
import sys
from collections.abc import Callable, Iterator
from typing import IO, Protocol, cast, runtime_checkable

import numpy as np

from pairvdn.runs.epochs import Report
from pairvdn.runs.metrics import CLOCK

OnEpoch = Callable[[Report], None]
Say = Callable[[str], None]


@runtime_checkable
class Stream(Protocol):
    """The part of an output stream that progress needs."""

    def write(self, text: str, /) -> object:
        """Write a text."""
        ...

    def flush(self) -> object:
        """Empty the buffer."""
        ...

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        ...


@contextlib.contextmanager
def progress(*, quiet: bool, stream: Stream | None = None) -> Iterator[tuple[OnEpoch, Say]]:
    """Functions to call after each epoch and with messages; warnings are printed even if quiet."""
    stream = stream or sys.stdout
    if quiet:
        yield lambda _: None, _warn
    elif stream.isatty():
        with _bar(stream) as functions:
            yield functions
    else:
        yield functools.partial(_print_line, stream), functools.partial(_print_message, stream)


def numbers(report: Report) -> dict[str, str]:
    """The numbers of an epoch as text: means over seeds, or over all episodes for returns."""

    def mean(key: str) -> float:
        return float(np.mean([line[key] for line in report.lines]))

    clock = report.lines[0][CLOCK]
    evaluations = [line["evaluation"]["mean"] for line in report.lines if "evaluation" in line]
    finished = sum(line["episodes"] for line in report.lines)
    returns = sum(line["episodes"] * line["mean_return"] for line in report.lines)
    shown = {
        "steps/s": f"{clock['env_steps_per_second']:,.0f}",
        "updates/s": f"{clock['updates_per_second']:,.0f}",
        "return": f"{returns / finished:.3g}" if finished else "-",
        "loss": f"{mean('loss'):.3g}",
        "epsilon": f"{mean('epsilon'):.2f}",
        "left": str(datetime.timedelta(seconds=round(report.seconds_left))),
    }
    if evaluations:
        shown["greedy return"] = f"{np.mean(evaluations):.4g}"
    return shown


def _warn(message: str) -> None:
    if message.startswith("warning"):
        print(message, file=sys.stderr, flush=True)


def _print_line(stream: Stream, report: Report) -> None:
    shown = "  ".join(f"{name} {text}" for name, text in numbers(report).items())
    print(f"epoch {report.epoch}/{report.epochs}  {shown}", file=stream, flush=True)


def _print_message(stream: Stream, message: str) -> None:
    warning = message.startswith("warning")
    print(message, file=sys.stderr if warning else stream, flush=True)


@contextlib.contextmanager
def frames_progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """A function of (frames done, all frames): a bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


_NARROW = "{steps/s} steps/s {updates/s} updates/s return {return} loss {loss} ε {epsilon} {left}"


@contextlib.contextmanager
def _bar(stream: Stream) -> Iterator[tuple[OnEpoch, Say]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

    console = Console(file=cast(IO[str], stream))
    # The numbers alone take 80 columns, and they matter more than a bar.
    bars: list[ProgressColumn] = [BarColumn(bar_width=24)] if console.width >= 110 else []
    columns = [
        TextColumn("{task.completed}/{task.total}"),
        *bars,
        TextColumn("{task.fields[shown]}"),
    ]
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("train", total=None, shown="compiling ...", visible=False)

        def on_epoch(report: Report) -> None:
            shown = numbers(report)
            bar.update(
                task,
                completed=report.epoch,
                total=report.epochs,
                shown=_NARROW.format(**shown),
                visible=True,
            )
            if "greedy return" in shown:
                greedy = shown["greedy return"]
                bar.console.print(f"epoch {report.epoch}: greedy return {greedy}", highlight=False)

        yield on_epoch, functools.partial(bar.console.print, highlight=False)
