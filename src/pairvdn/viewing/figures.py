"""Figures for papers: learning curves and bars with intervals, and pictures side by side."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, UInt8

from pairvdn.viewing.style import (
    FAINT,
    FORMATS,
    GREY,
    INK,
    Axes,
    Figure,
    Grid,
    Line2D,
    annotate,
    count_steps,
    grid_of,
    look,
    save,
    styled,
)

MARKS = 8  # approximate number of markers on a curve
RANDOM, RANDOM_DASH = "random policy", (0, (4, 3))
_PICTURES_WIDTH, _PICTURE_HEIGHT, _TITLE_HEIGHT = 9.0, 2.4, 0.3  # inches
_FAR = 2.0  # times the methods' largest number; a random policy farther away is not drawn
_THICKNESS = 0.62  # of a bar; the distance of two bars is 1
_SPREAD = 0.36  # of the dots on a bar, so that equal ones stay visible

Line = Float[np.ndarray, "_"]


class Curve(NamedTuple):
    """A mean and an interval, or sd, around it, along the x axis."""

    label: str
    x: Line
    mean: Line
    low: Line
    high: Line


class Panel(NamedTuple):
    """One task: its curves and the return of the random policy."""

    title: str
    curves: list[Curve]
    random: float | None = None


class Bar(NamedTuple):
    """A method: the mean, its interval if there is one, and the single values."""

    label: str
    mean: float
    low: float | None
    high: float | None
    values: Line


class BarPanel(NamedTuple):
    """One task: its bars and the return of the random policy."""

    title: str
    bars: list[Bar]
    random: float


class Picture(NamedTuple):
    """Pixels and their title."""

    title: str
    pixels: UInt8[np.ndarray, "h w 3"]


@dataclasses.dataclass(frozen=True)
class Labels:
    """The words around the panels of curves, and the range of the y axis, if it is given.

    `shaded` explains the bands, `note` is a warning.
    """

    x: str = "environment steps"
    y: str = "return of a greedy episode"
    title: str = ""
    shaded: str = ""
    note: str = ""
    y_range: tuple[float, float] | None = None


@styled
def draw_curves(
    panels: Sequence[Panel], stem: Path, labels: Labels, *, formats: Sequence[str] = FORMATS
) -> list[Path]:
    """Draw one panel per task into `stem`.png and .svg, or other formats.

    The y axis is that of the methods. Where it does not reach the random policy, an arrow points to
    it: a distant line would leave no room for the differences between methods.
    """
    methods = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    width, height = (2.9, 2.2) if len(panels) > 1 else (4.6, 2.8)
    grid = grid_of(len(panels), width=width, height=height, legend=[*methods, RANDOM])
    for axes, panel in zip(grid.panels, panels, strict=True):
        _draw_curve_panel(axes, panel, methods, labels.y_range)
    for axes in grid.panels[:: grid.columns]:
        axes.set_ylabel(labels.y)
    for axes in grid.panels[-grid.columns :]:
        axes.set_xlabel(labels.x)
    within = any(_shows_random(panel, labels.y_range) for panel in panels)
    _draw_legend(grid, methods, with_random=within)
    footer = f"shaded: {labels.shaded}" if labels.shaded else ""
    annotate(grid.figure, title=labels.title, note=labels.note, footer=footer)
    return save(grid.figure, stem, formats)


@styled
def draw_bars(
    panels: Sequence[BarPanel],
    stem: Path,
    *,
    footer: str,
    title: str = "",
    note: str = "",
    measured: str = "return of an episode",
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Draw one panel per task into `stem`.png and .svg; a method has one colour in all.

    A bar starts at the return of the random policy, so its length is the progress of learning;
    zero would be arbitrary for returns that may all be negative. Where the random policy is far
    away, only the values are drawn, and an arrow points to it.
    """
    labels = list(dict.fromkeys(bar.label for panel in panels for bar in panel.bars))
    rows = max(2, *(len(panel.bars) for panel in panels))
    grid = grid_of(len(panels), width=3.1 if len(panels) > 1 else 4.2, height=0.8 + 0.27 * rows)
    for axes, panel in zip(grid.panels, panels, strict=True):
        _draw_bar_panel(axes, panel, labels, rows)
    for axes in grid.panels[-grid.columns :]:
        axes.set_xlabel(measured)
    annotate(grid.figure, title=title, note=note, footer=footer)
    return save(grid.figure, stem, formats)


@styled
def draw_pictures(
    pictures: Sequence[Picture], stem: Path, *, columns: int, note: str = "", footer: str = ""
) -> list[Path]:
    """Put pictures side by side, `columns` in a row, into `stem`.png and .svg."""
    rows = [pictures[start : start + columns] for start in range(0, len(pictures), columns)]
    return save(_pictures(rows, columns, note=note, footer=footer), stem)


def _pictures(rows: Sequence[Sequence[Picture]], columns: int, *, note: str, footer: str) -> Figure:
    """A figure whose columns are as wide as the pictures of the first row, at one height."""
    shapes = [np.array(picture.pixels.shape[1::-1]) for picture in rows[0]]  # width, height
    widths = [float(width / height) for width, height in shapes] + [1.0] * (columns - len(shapes))
    height = min(_PICTURES_WIDTH / sum(widths), _PICTURE_HEIGHT)
    size = (height * sum(widths), (height + _TITLE_HEIGHT) * len(rows))
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(rows), columns, squeeze=False, width_ratios=widths)
    for axes in grid.ravel():
        axes.set_axis_off()
    for row_axes, row in zip(grid, rows, strict=True):
        for axes, picture in zip(row_axes, row, strict=False):
            axes.imshow(picture.pixels, interpolation="antialiased")
            axes.set_title(picture.title)
            axes.set_axis_on()
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set(visible=True, color=FAINT)
    annotate(figure, note=note, footer=footer)
    return figure


def _shows_random(panel: Panel, y_range: tuple[float, float] | None) -> bool:
    """Whether the random policy is on the y axis of a panel."""
    if panel.random is None:
        return False
    if y_range is not None:
        return y_range[0] <= panel.random <= y_range[1]
    ends = [end for curve in panel.curves for end in (curve.low.min(), curve.high.max())]
    return is_near(panel.random, ends)


def is_near(random: float, ends: Sequence[float]) -> bool:
    """Whether a number is no farther from a range than twice the largest number in the range."""
    low, high = float(min(ends)), float(max(ends))
    return max(low - random, random - high) <= _FAR * max(abs(low), abs(high))


def _draw_curve_panel(
    axes: Axes, panel: Panel, methods: Sequence[str], y_range: tuple[float, float] | None
) -> None:
    """A method has the same look in all panels."""
    for curve in panel.curves:
        index = methods.index(curve.label)
        colour, dash, marker = look(index)
        every = max(1, round(len(curve.x) / MARKS))
        axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(
            curve.x,
            curve.mean,
            color=colour,
            linestyle=dash,
            marker=marker,
            markevery=(index % every, every),  # so that markers of different curves do not meet
            markersize=3.5,
            markeredgecolor="white",
            markeredgewidth=0.5,
            linewidth=1.4,
        )
    if y_range is not None:
        axes.set_ylim(*y_range)
    if panel.random is not None and _shows_random(panel, y_range):
        axes.axhline(panel.random, color="black", linestyle=RANDOM_DASH, linewidth=0.9)
    elif panel.random is not None:
        below = panel.random < axes.get_ylim()[0]
        _point_to_random(
            axes, panel.random, "↓" if below else "↑", at=(0.98, 0.03 if below else 0.97)
        )
    axes.set_title(panel.title)
    axes.grid(visible=True)
    axes.set_xlim(left=0)
    count_steps(axes)


def _point_to_random(axes: Axes, random: float, arrow: str, *, at: tuple[float, float]) -> None:
    """Name the return of the random policy, which is beyond the axis in this direction."""
    axes.text(
        *at,
        f"{arrow} {RANDOM}: {random:.4g}".replace("-", "−"),
        transform=axes.transAxes,
        horizontalalignment="left" if arrow == "←" else "right",
        verticalalignment="bottom" if at[1] < 0.5 else "top",
        fontsize=7,
        color=GREY,
    )


def _draw_legend(grid: Grid, methods: Sequence[str], *, with_random: bool) -> None:
    assert grid.legend is not None
    handles = [
        Line2D([], [], color=colour, linestyle=dash, marker=marker, markersize=4, linewidth=1.4)
        for colour, dash, marker in map(look, range(len(methods)))
    ]
    if with_random:
        handles.append(Line2D([], [], color="black", linestyle=RANDOM_DASH, linewidth=0.9))
    grid.legend.legend(
        handles,
        [grid.wrapped(label) for label in [*methods, RANDOM][: len(handles)]],
        loc="center",
        ncols=grid.legend_columns,
        handlelength=3.2,
        labelspacing=0.6,
        columnspacing=1.4,
    )


def _draw_bar_panel(axes: Axes, panel: BarPanel, labels: Sequence[str], rows: int) -> None:
    ends = [end for bar in panel.bars for end in (bar.values.min(), bar.values.max())]
    near = is_near(panel.random, ends)
    for row, bar in enumerate(panel.bars):
        colour = look(labels.index(bar.label)).colour
        if near:
            length = bar.mean - panel.random
            axes.barh(row, length, _THICKNESS, left=panel.random, color=colour, alpha=0.55)
        heights = row + _SPREAD * np.linspace(-0.5, 0.5, len(bar.values) + 2)[1:-1]
        axes.plot(
            bar.values,
            heights,
            linestyle="none",
            marker="o",
            markersize=3,
            markerfacecolor="white",
            markeredgecolor=colour,
            markeredgewidth=0.9,
        )
        if bar.low is not None and bar.high is not None:
            axes.plot([bar.low, bar.high], [row, row], color=INK, linewidth=1.6)
        axes.plot([bar.mean], [row], marker="|", markersize=9, color=INK, markeredgewidth=1.6)
    if near:
        axes.axvline(panel.random, color="black", linestyle=RANDOM_DASH, linewidth=0.9)
    elif panel.random < min(ends):
        _point_to_random(axes, panel.random, "←", at=(0.02, 0.02))
    else:
        _point_to_random(axes, panel.random, "→", at=(0.98, 0.02))
    axes.set_yticks(range(len(panel.bars)), [bar.label for bar in panel.bars])
    # The first on top; bars as thick as in the other panels, and room for the arrow.
    axes.set_ylim(rows - 0.4 if near else rows + 0.2, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
    axes.margins(x=0.08)
    axes.set_title(panel.title)
