"""The figure of an aggregate: which method should I use?

On top, over all tasks: the IQM of every method, the share of runs above each score, and the
probability to beat one method. Below, the mean score of every method on every task.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pairvdn.evaluation import Estimate
from pairvdn.studies.standings import THRESHOLDS, Aggregate, Standing
from pairvdn.viewing.style import GREY, INK, Axes, Figure, annotate, look, save, styled

_WIDTH = 9.0  # inches
_TOP, _ROW = 2.6, 0.24  # height of the upper panels and of a line of the lower one
_SHADES = "Blues"
_DARK = 0.6  # a score above this has white digits
_FOOTER = (
    "Scores: 0 is doing nothing, or at random; 1 is a bound. IQM: the mean of the middle half of "
    "all runs. Lines and bands: 95 % intervals, stratified bootstrap over training seeds."
)


@styled
def draw_aggregate(found: Aggregate, stem: Path, *, note: str = "") -> list[Path]:
    """Draw the aggregate into `stem`.png and .svg; methods are ordered by IQM, best first."""
    lines = len(found.standings)
    top, bottom = max(_TOP, 0.8 + 0.2 * lines), 1.1 + _ROW * (lines + len(found.incomplete))
    figure = Figure(figsize=(_WIDTH, top + bottom), layout="constrained")
    cells = figure.add_gridspec(2, 3, height_ratios=[top, bottom], width_ratios=[1, 1.2, 0.8])
    first, second, third = (figure.add_subplot(cells[0, column]) for column in range(3))
    methods = [one.method for one in found.standings]
    _draw_estimates(first, [one.iqm for one in found.standings], methods)
    first.set_title("IQM of normalised scores")
    _draw_profiles(second, found.standings)
    _draw_estimates(third, [one.better for one in found.standings], [""] * lines)
    third.axvline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    third.set_xlim(-0.03, 1.03)
    third.set_title(f"P(better than {found.versus})")
    _draw_tasks(figure.add_subplot(cells[1, :]), found)
    footer = _FOOTER
    if found.incomplete:
        footer += f" Only below, because they lack a task: {', '.join(found.incomplete)}."
    annotate(figure, note=note, footer=footer)
    return save(figure, stem)


def _draw_estimates(
    axes: Axes, estimates: Sequence[Estimate | None], labels: Sequence[str]
) -> None:
    """A dot with its interval for each method; the first is on top."""
    for row, estimate in enumerate(estimates):
        if estimate is None:
            continue
        colour, _, marker = look(row)
        if estimate.low is not None and estimate.high is not None:
            axes.plot(
                [estimate.low, estimate.high], [row, row], color=colour, linewidth=4, alpha=0.4
            )
        axes.plot([estimate.value], [row], marker=marker, markersize=5, color=colour)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=True, axis="x")


def _draw_profiles(axes: Axes, standings: Sequence[Standing]) -> None:
    """Curves that lie higher are better."""
    for row, one in enumerate(standings):
        colour, dash, _ = look(row)
        axes.plot(THRESHOLDS, one.profile.value, color=colour, linestyle=dash, linewidth=1.4)
        if one.profile.low is not None and one.profile.high is not None:
            axes.fill_between(
                THRESHOLDS, one.profile.low, one.profile.high, color=colour, alpha=0.1, linewidth=0
            )
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.02, 1.02)
    axes.grid(visible=True)
    axes.set_xlabel("score s")
    axes.set_title("share of runs with a score above s")


def _draw_tasks(axes: Axes, found: Aggregate) -> None:
    """The mean score of each method on each task, as a number and a shade; the best is bold."""
    methods = {one.method: one.scores for one in found.standings} | found.incomplete
    means = np.array(
        [
            [own[task].mean() if task in own else np.nan for task in found.tasks]
            for own in methods.values()
        ]
    )
    axes.imshow(np.clip(means, 0, 1), cmap=_SHADES, vmin=0, vmax=1.2, aspect="auto")
    for (row, column), mean in np.ndenumerate(means):
        if np.isnan(mean):
            continue
        axes.text(
            column,
            row,
            f"{mean:.2f}",
            ha="center",
            va="center",
            fontsize=7,
            color="white" if mean > _DARK else INK,
            weight="bold" if mean == np.nanmax(means[:, column]) else "normal",
        )
    axes.set_xticks(range(len(found.tasks)), found.tasks, rotation=20, ha="right")
    axes.set_yticks(range(len(methods)), list(methods))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("mean score on each task")
