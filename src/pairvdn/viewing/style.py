"""One look for all figures, so that they can stand beside each other in a paper.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart, without
their yellow, which is too faint for a line; lines differ in their dashes and markers too, so that a
print in grey can be read. SVG files carry no date and no random identifiers: the same numbers give
the same bytes.
"""

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

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
_LEGEND_HEIGHT = 0.35  # inches, where it has a row of its own
_SETTINGS: Any = {
    "svg.hashsalt": "pairvdn",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
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
    """How a method is drawn."""

    colour: str
    dash: Dash
    marker: str


def look(place: int) -> Look:
    """The look of the method in this place; the first six differ in colour already."""
    return Look(
        COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)], MARKERS[place % len(MARKERS)]
    )


def in_style(draw: Callable[[], list[Path]]) -> list[Path]:
    """Draw with our settings, and leave everyone else's alone."""
    with matplotlib.rc_context(_SETTINGS):
        return draw()


class Grid(NamedTuple):
    """A figure with panels, row by row, and a place for its legend."""

    figure: Figure
    panels: list[Axes]
    columns: int
    legend: Axes
    legend_below: bool


def grid_of(count: int, *, width: float, height: float) -> Grid:
    """So many panels, each of this size in inches; the legend is in a cell that they leave."""
    columns = min(_MOST_COLUMNS, count)
    rows = -(-count // columns)
    full = count % _MOST_COLUMNS == 0
    if count < _MOST_COLUMNS:
        columns += 1
    heights = [height] * rows + [_LEGEND_HEIGHT] * full
    figure = Figure(figsize=(width * columns, sum(heights)), layout="constrained")
    places = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    panels = [figure.add_subplot(places[divmod(place, columns)]) for place in range(count)]
    legend = figure.add_subplot(places[-1, :] if full else places[divmod(count, columns)])
    legend.set_axis_off()
    return Grid(figure, panels, columns, legend, full)


def grid_without_legend(
    count: int, *, width: float, height: float
) -> tuple[Figure, list[Axes], int]:
    """The same without a place for a legend: the figure, its panels, how many are in a row."""
    columns = min(_MOST_COLUMNS, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    places = figure.add_gridspec(rows, columns)
    panels = [figure.add_subplot(places[divmod(place, columns)]) for place in range(count)]
    return figure, panels, columns


def annotate(figure: Figure, *, note: str, footer: str) -> None:
    """A warning above everything, and below it how to read the figure."""
    width = int(_LETTERS_PER_INCH * figure.get_figwidth())
    above, below = textwrap.wrap(note, width), textwrap.wrap(footer, width)
    if above:
        figure.suptitle("\n".join(above), fontsize=8, color="#B00020")
    if below:
        figure.supxlabel("\n".join(below), fontsize=7, color=GREY)
    figure.set_figheight(figure.get_figheight() + _LINE_HEIGHT * len(above + below))


def count_steps(axes: Axes) -> None:
    """Numbers of steps along the x axis, as 50k or 1.5M."""
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda steps, _: short(steps)))


def short(steps: float) -> str:
    """A number of steps in few letters: 1500000 is 1.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(steps) >= size:
            return f"{steps / size:g}{letter}"
    return f"{steps:g}"


def in_order(labels: Sequence[str]) -> list[str]:
    """Every label once, as it came first."""
    return list(dict.fromkeys(labels))


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `stem`.png and .svg."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in ("png", "svg")]
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata)
    return paths
