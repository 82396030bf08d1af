"""Figures for papers: learning curves and bars with intervals, and pictures side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, UInt8

from pairvdn.viewing.style import (
    FAINT,
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
_LEGEND_COLUMNS = 6  # if it is below the panels
_THICKNESS = 0.62  # of a bar; the distance of two bars is 1
_SPREAD = 0.36  # of the dots on a bar, so that equal ones stay visible

Line = Float[np.ndarray, "_"]


class Curve(NamedTuple):
    """A mean and an interval, or sd, around it, at some numbers of environment steps."""

    label: str
    steps: Line
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


@styled
def draw_curves(panels: Sequence[Panel], stem: Path, *, shaded: str, note: str = "") -> list[Path]:
    """Draw one panel per task into `stem`.png and .svg; `shaded` explains the bands."""
    labels = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    grid = grid_of(len(panels), width=2.9, height=2.2, legend=True)
    for axes, panel in zip(grid.panels, panels, strict=True):
        _draw_curve_panel(axes, panel, labels)
    for axes in grid.panels[:: grid.columns]:
        axes.set_ylabel("return of an episode")
    for axes in grid.panels[-grid.columns :]:
        axes.set_xlabel("environment steps")
    _draw_legend(grid, labels)
    annotate(grid.figure, note=note, footer=f"shaded: {shaded}" if shaded else "")
    return save(grid.figure, stem)


@styled
def draw_bars(
    panels: Sequence[BarPanel],
    stem: Path,
    *,
    footer: str,
    note: str = "",
    measured: str = "return of an episode",
) -> list[Path]:
    """Draw one panel per task into `stem`.png and .svg; a method has one colour in all.

    A bar starts at the return of the random policy, so its length is the progress of learning;
    zero would be arbitrary for returns that may all be negative.
    """
    labels = list(dict.fromkeys(bar.label for panel in panels for bar in panel.bars))
    rows = max(2, *(len(panel.bars) for panel in panels))
    grid = grid_of(len(panels), width=3.1 if len(panels) > 1 else 4.2, height=0.8 + 0.27 * rows)
    for axes, panel in zip(grid.panels, panels, strict=True):
        _draw_bar_panel(axes, panel, labels, rows)
    for axes in grid.panels[-grid.columns :]:
        axes.set_xlabel(measured)
    annotate(grid.figure, note=note, footer=footer)
    return save(grid.figure, stem)


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


def _draw_curve_panel(axes: Axes, panel: Panel, labels: Sequence[str]) -> None:
    """A method has the same look in all panels."""
    if panel.random is not None:
        axes.axhline(panel.random, color="black", linestyle=RANDOM_DASH, linewidth=0.9)
    for curve in panel.curves:
        index = labels.index(curve.label)
        colour, dash, marker = look(index)
        every = max(1, round(len(curve.steps) / MARKS))
        axes.fill_between(curve.steps, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(
            curve.steps,
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
    axes.set_title(panel.title)
    axes.grid(visible=True)
    axes.set_xlim(left=0)
    count_steps(axes)


def _draw_legend(grid: Grid, labels: Sequence[str]) -> None:
    assert grid.legend is not None
    handles = [
        Line2D([], [], color=colour, linestyle=dash, marker=marker, markersize=4, linewidth=1.4)
        for colour, dash, marker in map(look, range(len(labels)))
    ]
    handles.append(Line2D([], [], color="black", linestyle=RANDOM_DASH, linewidth=0.9))
    grid.legend.legend(
        handles,
        [*labels, RANDOM],
        loc="center" if grid.legend_below else "center left",
        ncols=_LEGEND_COLUMNS if grid.legend_below else 1,
        handlelength=3.2,
        labelspacing=0.8,
    )


def _draw_bar_panel(axes: Axes, panel: BarPanel, labels: Sequence[str], rows: int) -> None:
    for row, bar in enumerate(panel.bars):
        colour = look(labels.index(bar.label)).colour
        axes.barh(
            row, bar.mean - panel.random, _THICKNESS, left=panel.random, color=colour, alpha=0.55
        )
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
    axes.axvline(panel.random, color="black", linestyle=RANDOM_DASH, linewidth=0.9)
    axes.set_yticks(range(len(panel.bars)), [bar.label for bar in panel.bars])
    axes.set_ylim(rows - 0.4, -0.6)  # the first on top; bars as thick as in the other panels
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
    axes.margins(x=0.08)
    axes.set_title(panel.title)
