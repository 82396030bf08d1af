"""Figures for papers: learning curves with intervals, and pictures side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, UInt8

from pairvdn.viewing.style import (
    FAINT,
    Axes,
    Figure,
    Grid,
    Line2D,
    annotate,
    count_steps,
    grid_of,
    in_order,
    in_style,
    look,
    save,
)

MARKS = 8  # markers on a curve, about
RANDOM, RANDOM_DASH = "random policy", (0, (4, 3))
_PICTURES_WIDTH, _PICTURE_HEIGHT, _TITLE_HEIGHT = 9.0, 2.4, 0.3  # inches
_LEGEND_COLUMNS = 6  # where it stands below the panels

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


class Picture(NamedTuple):
    """Pixels and their title."""

    title: str
    pixels: UInt8[np.ndarray, "h w 3"]


def draw_curves(panels: Sequence[Panel], stem: Path, *, shaded: str, note: str = "") -> list[Path]:
    """Draw one panel per task into `stem`.png and .svg; `shaded` explains the bands."""
    labels = in_order([curve.label for panel in panels for curve in panel.curves])

    def drawn() -> list[Path]:
        grid = grid_of(len(panels), width=2.9, height=2.2)
        for axes, panel in zip(grid.panels, panels, strict=True):
            _draw_panel(axes, panel, labels)
        for axes in grid.panels[:: grid.columns]:
            axes.set_ylabel("return of an episode")
        for axes in grid.panels[-grid.columns :]:
            axes.set_xlabel("environment steps")
        _draw_legend(grid, labels)
        annotate(grid.figure, note=note, footer=f"shaded: {shaded}" if shaded else "")
        return save(grid.figure, stem)

    return in_style(drawn)


def draw_pictures(
    pictures: Sequence[Picture], stem: Path, *, columns: int, note: str = "", footer: str = ""
) -> list[Path]:
    """Put pictures side by side, `columns` in a row, into `stem`.png and .svg."""
    rows = [pictures[start : start + columns] for start in range(0, len(pictures), columns)]
    return in_style(lambda: save(_pictures(rows, columns, note=note, footer=footer), stem))


def _pictures(rows: Sequence[Sequence[Picture]], columns: int, *, note: str, footer: str) -> Figure:
    """Columns are as wide as the pictures of the first row are, at one height."""
    shapes = [np.array(picture.pixels.shape[1::-1]) for picture in rows[0]]  # width, height
    widths = [float(width / height) for width, height in shapes] + [1.0] * (columns - len(shapes))
    height = min(_PICTURES_WIDTH / sum(widths), _PICTURE_HEIGHT)
    size = (height * sum(widths), (height + _TITLE_HEIGHT) * len(rows))
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(rows), columns, squeeze=False, width_ratios=widths)
    for axes in grid.ravel():
        axes.set_axis_off()
    for line, row in zip(grid, rows, strict=True):
        for axes, picture in zip(line, row, strict=False):
            axes.imshow(picture.pixels, interpolation="antialiased")
            axes.set_title(picture.title)
            axes.set_axis_on()
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set(visible=True, color=FAINT)
    annotate(figure, note=note, footer=footer)
    return figure


def _draw_panel(axes: Axes, panel: Panel, labels: Sequence[str]) -> None:
    """A method has the same look in all panels."""
    if panel.random is not None:
        axes.axhline(panel.random, color="black", linestyle=RANDOM_DASH, linewidth=0.9)
    for curve in panel.curves:
        place = labels.index(curve.label)
        colour, dash, marker = look(place)
        every = max(1, round(len(curve.steps) / MARKS))
        axes.fill_between(curve.steps, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(
            curve.steps,
            curve.mean,
            color=colour,
            linestyle=dash,
            marker=marker,
            markevery=(place % every, every),  # so that markers of different curves do not meet
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
