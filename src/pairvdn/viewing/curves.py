"""Learning curves of runs and their final returns, one panel per task."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from pairvdn.checks import require_at_least, require_one_of
from pairvdn.evaluation import play_random
from pairvdn.runs.analysis.compare import grouped, runs_below
from pairvdn.runs.analysis.curves import (
    METRICS,
    RETURN,
    STEPS,
    X_AXES,
    Final,
    LearningCurve,
    final_returns,
    interval_of,
    learning_curve,
    shading,
)
from pairvdn.runs.folder import read_config, run_path
from pairvdn.viewing.figures import (
    Bar,
    BarPanel,
    Curve,
    Labels,
    Panel,
    draw_bars,
    draw_curves,
)
from pairvdn.viewing.style import FORMATS

_BARS_FOOTER = (
    "last evaluation during training; dots: {}; black: mean and its 95 % bootstrap interval; bars "
    "start at the random policy (dashed) unless it is far off"
)


@dataclasses.dataclass(frozen=True)
class PlotSettings:
    """The axes, title and files of a plot.

    Attributes:
        x: the x axis: environment steps, updates or seconds
        metric: the y axis: the return of greedy episodes, or another of `METRICS`
        smooth: number of points that a moving average covers
        title: title of the figure
        y_range: range of the y axis; None: that of the methods
        formats: file formats of matplotlib
    """

    x: str = STEPS
    metric: str = RETURN
    smooth: int = 1
    title: str = ""
    y_range: tuple[float, float] | None = None
    formats: tuple[str, ...] = FORMATS

    def __post_init__(self) -> None:
        require_one_of(X_AXES, x=self.x)
        require_one_of(METRICS, metric=self.metric)
        require_at_least(1, smooth=self.smooth)
        if self.y_range is not None and not self.y_range[0] < self.y_range[1]:
            raise ValueError(f"y_range must be two rising numbers, not {self.y_range}.")


def plot_runs(
    folders: Sequence[str | Path],
    stem: Path,
    settings: PlotSettings | None = None,
    *,
    trust: bool = False,
) -> list[Path]:
    """Draw the curves of run folders into `stem`.png and .svg; runs of one method are pooled.

    For returns, `stem`-bars.png and .svg show the final ones.
    """
    settings = settings or PlotSettings()
    of_returns = settings.metric in (RETURN, "mean_return")
    panels: dict[str, Panel] = {}
    bars: dict[str, BarPanel] = {}
    curves: list[LearningCurve] = []
    finals: list[Final] = []
    paths = [run for folder in folders for run in runs_below(run_path(folder))]
    for (task, method), runs in grouped(paths, trust=trust).items():
        if task not in panels:
            random = _random_return(runs[0], trust=trust) if of_returns else None
            panels[task] = Panel(task, [], random)
            bars[task] = BarPanel(task, [], random or 0.0)
        curve = learning_curve(runs, x=settings.x, metric=settings.metric, smooth=settings.smooth)
        panels[task].curves.append(Curve(method, *curve[:4]))
        curves.append(curve)
        if settings.metric == RETURN:
            finals.append(final_returns(runs))
            bars[task].bars.append(_bar(method, finals[-1]))
    labels = Labels(
        x=X_AXES[settings.x][0],
        y=METRICS[settings.metric],
        title=settings.title,
        shaded=shading(curves, settings.metric),
        y_range=settings.y_range,
    )
    drawn = draw_curves(list(panels.values()), stem, labels, formats=settings.formats)
    if not finals:
        return drawn
    return drawn + draw_bars(
        list(bars.values()),
        stem.with_name(f"{stem.name}-bars"),
        footer=_BARS_FOOTER.format(interval_of(finals)),
        title=settings.title,
        formats=settings.formats,
    )


def _random_return(run: Path, *, trust: bool) -> float:
    """The mean return of the random policy in the environment of a run."""
    env = read_config(run, trust=trust).build_env()
    return float(play_random(env, seed=0).returns.mean())


def _bar(method: str, final: Final) -> Bar:
    mean, low, high = final.estimate.value, final.estimate.low, final.estimate.high
    return Bar(method, mean, low, high, final.values)
