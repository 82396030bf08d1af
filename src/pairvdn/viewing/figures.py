"""Figures for papers: learning curves with intervals, and pictures side by side.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart; curves
differ in their dashes and markers too, so that a print in grey can be read. SVG files carry no date
and no random identifiers: the same numbers give the same bytes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, UInt8

try:
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ImportError as error:
    raise ImportError("Figures need matplotlib: pip install 'pairvdn[view]'") from error

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_SETTINGS: Any = {"svg.hashsalt": "pairvdn", "svg.fonttype": "none", "font.size": 9}

Line = Float[np.ndarray, "_"]


class Curve(NamedTuple):
    """A mean and an interval, or sd, around it, at some numbers of environment steps."""

    label: str
    steps: Line
    mean: Line
    low: Line
    high: Line


class Panel(NamedTuple):
    """One task: its curves and what the random policy reaches there."""

    title: str
    curves: list[Curve]
    random: float | None = None


class Picture(NamedTuple):
    """Pixels and what to write above them."""

    title: str
    pixels: UInt8[np.ndarray, "h w 3"]


def draw_curves(panels: Sequence[Panel], stem: Path, *, shaded: str, note: str = "") -> list[Path]:
    """Draw one panel per task into `stem`.png and .svg; `shaded` says what the bands are."""
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    labels = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(1.0 + 3.6 * columns, 0.9 + 2.7 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            _draw_panel(axes, panel, labels)
        for axes in grid[len(panels) :]:
            axes.remove()
        handles = {
            text: handle
            for axes in figure.axes
            for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=6, frameon=False
        )
        figure.suptitle("\n".join(filter(None, [note, f"shaded: {shaded}"])), fontsize=8)
        return _save(figure, stem)


def draw_pictures(
    pictures: Sequence[Picture], stem: Path, *, columns: int, note: str = ""
) -> list[Path]:
    """Put pictures side by side, `columns` in a row, into `stem`.png and .svg."""
    rows = -(-len(pictures) // columns)
    height, width, _ = pictures[0].pixels.shape
    with matplotlib.rc_context(_SETTINGS):
        size = (3.4 * columns, (3.4 * height / width + 0.35) * rows + (0.3 if note else 0.0))
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes in grid:
            axes.set_axis_off()
        for axes, picture in zip(grid, pictures, strict=False):
            axes.imshow(picture.pixels, interpolation="antialiased")
            axes.set_title(picture.title, fontsize=9)
        if note:
            figure.suptitle(note, fontsize=8)
        return _save(figure, stem)


def _draw_panel(axes: Axes, panel: Panel, labels: Sequence[str]) -> None:
    """A method has the same colour in all panels."""
    for curve in panel.curves:
        look = labels.index(curve.label)
        colour = COLOURS[look % len(COLOURS)]
        axes.plot(
            curve.steps,
            curve.mean,
            color=colour,
            linestyle=DASHES[look % len(DASHES)],
            marker=MARKERS[look % len(MARKERS)],
            markersize=3,
            linewidth=1.3,
            label=curve.label,
        )
        axes.fill_between(curve.steps, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
    if panel.random is not None:
        axes.axhline(panel.random, color="black", linestyle="--", linewidth=1, label="random")
    axes.set_title(panel.title, fontsize=9)
    axes.set_xlabel("environment steps")
    axes.set_ylabel("return")
    axes.spines[["top", "right"]].set_visible(False)


def _save(figure: Figure, stem: Path) -> list[Path]:
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in ("png", "svg")]
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=150, metadata=metadata)
    return paths
