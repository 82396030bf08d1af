"""Learning curves of runs and their final returns, one panel per task."""

from collections.abc import Sequence
from pathlib import Path

from pairvdn.evaluation import play_random
from pairvdn.runs.analysis.compare import grouped, runs_below
from pairvdn.runs.analysis.curves import final_returns, interval_of, learning_curve, shading
from pairvdn.runs.folder import read_config, run_path
from pairvdn.viewing.figures import Bar, BarPanel, Curve, Panel, draw_bars, draw_curves


def plot_runs(folders: Sequence[str | Path], stem: Path, *, trust: bool = False) -> list[Path]:
    """Draw the curves of run folders into `stem`.png and .svg; runs of one method are pooled.

    `stem`-bars.png and .svg show the final returns.
    """
    tasks: dict[str, dict[str, list[Path]]] = {}
    paths = [run for folder in folders for run in runs_below(run_path(folder))]
    for (task, method), runs in grouped(paths, trust=trust).items():
        tasks.setdefault(task, {})[method] = runs
    panels, bar_panels, curves, finals = [], [], [], []
    for task, methods in tasks.items():
        first = next(iter(methods.values()))[0]
        env = read_config(first, trust=trust).build_env()
        random = float(play_random(env, seed=0).returns.mean())
        panel, bars = Panel(task, [], random), BarPanel(task, [], random)
        for method, runs in methods.items():
            curve, final = learning_curve(runs), final_returns(runs)
            mean, low, high = final.estimate.value, final.estimate.low, final.estimate.high
            panel.curves.append(Curve(method, curve.steps, curve.mean, curve.low, curve.high))
            bars.bars.append(Bar(method, mean, low, high, final.values))
            curves.append(curve)
            finals.append(final)
        panels.append(panel)
        bar_panels.append(bars)
    footer = (
        "last evaluation during training; bars: mean, starting at the random policy (dashed); "
        f"dots: {interval_of(finals)}; black: 95 % bootstrap interval over them"
    )
    return [
        *draw_curves(panels, stem, shaded=shading(curves)),
        *draw_bars(bar_panels, stem.with_name(f"{stem.name}-bars"), footer=footer),
    ]
