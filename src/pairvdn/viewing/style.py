"""One style for all figures.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart, without
their yellow, which is too faint for a line. Lines also differ in dashes and markers, so that a grey
print can be read. SVG files have no date and no random identifiers: the same numbers give the same
bytes.
"""

import textwrap
from collections.abc import Callable, Sequence
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
INK, GREY, FAINT, WARNING = "#222222", "#666666", "#D5D5D5", "#B00020"
FORMATS = ("png", "svg")
DOTS_PER_INCH = 200
_MOST_COLUMNS = 3
_LETTERS_PER_INCH = 15  # of the smallest font
_LINE_HEIGHT = 0.15  # inches of a line of such text
_LEGEND_HEIGHT, _LEGEND_ENTRY = 0.26, 1.45  # inches of a line of a legend, and of an entry
_LEGEND_HANDLE = 0.75  # inches beside the text of an entry
_LEGEND_LETTERS = 24  # of an entry of that width
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
    legend_columns: int
    legend_letters: int  # in a line of an entry

    def wrapped(self, label: str) -> str:
        """The label of an entry of the legend, in as many lines as it needs."""
        return "\n".join(textwrap.wrap(label, self.legend_letters))


def grid_of(count: int, *, width: float, height: float, legend: Sequence[str] = ()) -> Grid:
    """`count` panels, each of this size in inches, and room for a legend with these labels.

    The legend fills the last cell if exactly that one is free and wide enough, else a row below the
    panels.
    """
    columns = 2 if count == 4 else min(_MOST_COLUMNS, count)
    heights = [height] * -(-count // columns)
    longest = max(map(len, legend), default=0)
    entry = _LEGEND_ENTRY
    if longest > _LEGEND_LETTERS:
        entry = _LEGEND_HANDLE + longest / _LETTERS_PER_INCH
    in_cell = bool(legend) and count > 1 and count % columns == columns - 1 and entry <= width
    legend_columns = 1 if in_cell else max(1, int(width * columns / entry))
    room = width * (1 if in_cell else columns / legend_columns) - _LEGEND_HANDLE
    letters = max(_LEGEND_LETTERS, int(room * _LETTERS_PER_INCH))
    if legend and not in_cell:
        lines = max(len(textwrap.wrap(label, letters)) for label in legend)
        heights.append(_LEGEND_HEIGHT * lines * -(-len(legend) // legend_columns))
    figure = Figure(figsize=(width * columns, sum(heights)), layout="constrained")
    cells = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    panels = [figure.add_subplot(cells[divmod(index, columns)]) for index in range(count)]
    if not legend:
        return Grid(figure, panels, columns, None, 0, 0)
    axes = figure.add_subplot(cells[-1, -1] if in_cell else cells[-1, :])
    axes.set_axis_off()
    return Grid(figure, panels, columns, axes, legend_columns, letters)


def annotate(figure: Figure, *, title: str = "", note: str, footer: str) -> None:
    """Write a title, or a warning, above the panels and an explanation below them."""
    width = int(_LETTERS_PER_INCH * figure.get_figwidth())
    above = textwrap.wrap(note or title, width)
    below = textwrap.wrap(footer, width)
    if above:
        size, colour = (8, WARNING) if note else (10, INK)
        figure.suptitle("\n".join(above), fontsize=size, color=colour)
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


def known_formats() -> tuple[str, ...]:
    """The file formats that matplotlib can write."""
    return tuple(sorted(Figure().canvas.get_supported_filetypes()))


def save(figure: Figure, stem: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write `stem`.png and .svg, or other formats that matplotlib knows."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in formats]
    for path in paths:
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=_WITHOUT_DATE.get(path.suffix, {}))
    return paths


# The same numbers give the same bytes.
_WITHOUT_DATE: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
