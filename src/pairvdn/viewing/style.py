"""One style for all figures.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart, without
their yellow, which is too faint for a line. Lines also differ in dashes and markers, so that a grey
print can be read. SVG files have no date and no random identifiers: the same numbers give the same
bytes.
"""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pairvdn.viewing import MissingPackageError

try:
    import matplotlib
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from matplotlib.lines import Line2D as Line2D
    from matplotlib.ticker import FuncFormatter, MaxNLocator
except ImportError as error:
    raise MissingPackageError("Figures need matplotlib: pip install 'pairvdn[view]'") from error

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
Dash = Literal["-", "--", "-.", ":"]
DASHES: tuple[Dash, ...] = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK, GREY, FAINT = "#222222", "#666666", "#D5D5D5"
DOTS_PER_INCH = 200
_MOST_COLUMNS = 3
_LETTERS_PER_INCH = 15  # of the smallest font
_LINE_HEIGHT = 0.15  # inches of a line of such text
_LEGEND_HEIGHT = 0.35  # inches of a legend with its own row
_SETTINGS: Any = {
    "svg.hashsalt": "pairvdn",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",  # part of matplotlib, so the same on every machine
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "axes.linewidth": 0.7,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.titlepad": 6,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "text.color": INK,
    "axes.labelcolor": INK,
}


class Look(NamedTuple):
    """Colour, dash and marker of a method."""

    colour: str
    dash: Dash
    marker: str


def look(index: int) -> Look:
    """The look of a method by its index; the first six differ in colour."""
    return Look(
        COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)], MARKERS[index % len(MARKERS)]
    )


Drawing = TypeVar("Drawing", bound=Callable[..., list[Path]])


def styled(draw: Drawing) -> Drawing:
    """Draw with our settings; those of matplotlib itself stay unchanged."""
    return matplotlib.rc_context(_SETTINGS)(draw)


class Grid(NamedTuple):
    """A figure with panels, row by row, and the axes of its legend, if it has one."""

    figure: Figure
    panels: list[Axes]
    columns: int
    legend: Axes | None
    legend_below: bool


def grid_of(count: int, *, width: float, height: float, legend: bool = False) -> Grid:
    """`count` panels, each of this size in inches; a legend fills a free cell or its own row."""
    columns = min(_MOST_COLUMNS, count)
    heights = [height] * -(-count // columns)
    below = legend and count % _MOST_COLUMNS == 0
    if below:
        heights.append(_LEGEND_HEIGHT)
    elif legend and count < _MOST_COLUMNS:
        columns += 1
    figure = Figure(figsize=(width * columns, sum(heights)), layout="constrained")
    cells = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    panels = [figure.add_subplot(cells[divmod(index, columns)]) for index in range(count)]
    if not legend:
        return Grid(figure, panels, columns, None, below)
    axes = figure.add_subplot(cells[-1, :] if below else cells[divmod(count, columns)])
    axes.set_axis_off()
    return Grid(figure, panels, columns, axes, below)


def annotate(figure: Figure, *, note: str, footer: str) -> None:
    """Write a warning above the panels and an explanation below them."""
    width = int(_LETTERS_PER_INCH * figure.get_figwidth())
    above, below = textwrap.wrap(note, width), textwrap.wrap(footer, width)
    if above:
        figure.suptitle("\n".join(above), fontsize=8, color="#B00020")
    if below:
        figure.supxlabel("\n".join(below), fontsize=7, color=GREY)
    figure.set_figheight(figure.get_figheight() + _LINE_HEIGHT * len(above + below))


def count_steps(axes: Axes) -> None:
    """Label the x axis with numbers of steps such as 50k or 1.5M."""
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda steps, _: short(steps)))


def short(steps: float) -> str:
    """A number of steps in few characters: 1500000 is 1.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(steps) >= size:
            return f"{steps / size:g}{letter}"
    return f"{steps:g}"


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem`.png and .svg."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in ("png", "svg")]
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata)
    return paths
