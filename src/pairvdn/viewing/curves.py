"""Learning curves of runs and where they end, one panel per task."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pairvdn.config.config import Config
from pairvdn.envs import Task
from pairvdn.evaluation import play_random
from pairvdn.runs.analysis.compare import grouped
from pairvdn.runs.analysis.curves import (
    Final,
    LearningCurve,
    final_returns,
    interval_of,
    learning_curve,
    shading,
)
from pairvdn.runs.folder import read_config
from pairvdn.viewing.bars import Bar, BarPanel, draw_bars
from pairvdn.viewing.figures import Curve, Panel, draw_curves


class TaskRuns(NamedTuple):
    """The runs of one task by method; `config` is that of the first."""

    title: str
    config: Config
    runs: dict[str, list[Path]]


def plot_runs(folders: Sequence[str | Path], stem: Path, *, trust: bool = False) -> list[Path]:
    """Draw the curves of run folders into `stem`.png and .svg; runs of one method are pooled.

    `stem`-bars.png and .svg show where the curves end. `trust` is as in `read_config`.
    """
    tasks = _tasks([Path(folder) for folder in folders], trust=trust)
    curves = [{method: learning_curve(runs) for method, runs in one.runs.items()} for one in tasks]
    finals = [{method: final_returns(runs) for method, runs in one.runs.items()} for one in tasks]
    random = [random_return(task.config.env.build()) for task in tasks]
    titles = [task.title for task in tasks]
    panels = [panel(*parts) for parts in zip(titles, curves, random, strict=True)]
    every = [curve for by_method in curves for curve in by_method.values()]
    bars = dict(zip(titles, zip(finals, random, strict=True), strict=True))
    return [
        *draw_curves(panels, stem, shaded=shading(every)),
        *plot_finals(bars, stem.with_name(f"{stem.name}-bars")),
    ]


def plot_finals(
    tasks: Mapping[str, tuple[Mapping[str, Final], float]], stem: Path, *, note: str = ""
) -> list[Path]:
    """Draw what methods reach, and the random policy, in each task, as bars."""
    panels = [
        BarPanel(
            title,
            [
                Bar(method, one.estimate.value, one.estimate.low, one.estimate.high, one.values)
                for method, one in finals.items()
            ],
            random,
        )
        for title, (finals, random) in tasks.items()
    ]
    over = interval_of([one for finals, _ in tasks.values() for one in finals.values()])
    footer = (
        "last evaluation while training; bars: mean, from the random policy (dashed) on; "
        f"dots: {over}; black: 95 % bootstrap interval over them"
    )
    return draw_bars(panels, stem, footer=footer, note=note)


def panel(title: str, curves: Mapping[str, LearningCurve], random: float) -> Panel:
    """One task, with what the random policy reaches there."""
    drawn = [
        Curve(method, curve.steps, curve.mean, curve.low, curve.high)
        for method, curve in curves.items()
    ]
    return Panel(title, drawn, random)


def random_return(env: Task) -> float:
    """What the random policy reaches."""
    return float(play_random(env, seed=0).returns.mean())


def _tasks(paths: Sequence[Path], *, trust: bool) -> list[TaskRuns]:
    tasks: dict[str, TaskRuns] = {}
    for (title, method), runs in grouped(paths, trust=trust).items():
        config = read_config(runs[0], trust=trust)
        task = tasks.setdefault(title, TaskRuns(title, config, {}))
        task.runs[method] = runs
    return list(tasks.values())
