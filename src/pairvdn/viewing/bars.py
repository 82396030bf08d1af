"""Final returns of methods as bars, with their intervals.

A bar starts at the return of the random policy, so its length is the progress of learning; zero
would be arbitrary for returns that may all be negative.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from pairvdn.viewing.figures import RANDOM_DASH
from pairvdn.viewing.style import (
    INK,
    Axes,
    annotate,
    grid_without_legend,
    in_order,
    in_style,
    look,
    save,
)

_THICKNESS = 0.62  # of the room for a bar
_SPREAD = 0.36  # of the room over which dots are spread, so that equal ones stay visible


class Bar(NamedTuple):
    """A method: the mean, its interval if there is one, and the single values."""

    label: str
    mean: float
    low: float | None
    high: float | None
    values: Float[np.ndarray, "_"]


class BarPanel(NamedTuple):
    """One task: its bars, and the return of the random policy."""

    title: str
    bars: list[Bar]
    random: float


def draw_bars(
    panels: Sequence[BarPanel],
    stem: Path,
    *,
    footer: str,
    note: str = "",
    measured: str = "return of an episode",
) -> list[Path]:
    """Draw one panel per task into `stem`.png and .svg; a method has one colour in all."""
    labels = in_order([bar.label for panel in panels for bar in panel.bars])
    most = max(len(panel.bars) for panel in panels)

    def drawn() -> list[Path]:
        figure, grid, columns = grid_without_legend(
            len(panels), width=3.1 if len(panels) > 1 else 4.2, height=0.8 + 0.27 * max(most, 2)
        )
        for axes, panel in zip(grid, panels, strict=True):
            _draw_panel(axes, panel, labels, most)
        for axes in grid[-columns:]:
            axes.set_xlabel(measured)
        annotate(figure, note=note, footer=footer)
        return save(figure, stem)

    return in_style(drawn)


def _draw_panel(axes: Axes, panel: BarPanel, labels: Sequence[str], most: int) -> None:
    for row, bar in enumerate(panel.bars):
        colour = look(labels.index(bar.label)).colour
        axes.barh(
            row, bar.mean - panel.random, _THICKNESS, left=panel.random, color=colour, alpha=0.55
        )
        places = row + _SPREAD * (np.linspace(-0.5, 0.5, len(bar.values) + 2)[1:-1])
        axes.plot(
            bar.values,
            places,
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
    axes.set_ylim(max(most, 2) - 0.4, -0.6)  # the first on top; as thick as in the other panels
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
    axes.margins(x=0.08)
    axes.set_title(panel.title)
