"""Learning curves of runs, one panel per task, one curve per method."""

from collections.abc import Sequence
from pathlib import Path

from pairvdn.envs import Task
from pairvdn.evaluation import play_random
from pairvdn.experiment.compare import task_labels
from pairvdn.experiment.config import Config
from pairvdn.experiment.curves import LearningCurve, learning_curve, shading
from pairvdn.experiment.folder import read_config
from pairvdn.viewing.figures import Curve, Panel, draw_curves


def plot_runs(folders: Sequence[str | Path], stem: Path) -> list[Path]:
    """Draw the curves of run folders into `stem`.png and .svg; runs of one method are pooled."""
    paths = [Path(folder) for folder in folders]
    configs = [read_config(path) for path in paths]
    tasks: dict[str, dict[str, list[Path]]] = {}
    envs: dict[str, Config] = {}
    for path, config, task in zip(paths, configs, task_labels(configs), strict=True):
        tasks.setdefault(task, {}).setdefault(config.method.name, []).append(path)
        envs.setdefault(task, config)
    curves = {
        task: {method: learning_curve(runs) for method, runs in methods.items()}
        for task, methods in tasks.items()
    }
    panels = [panel(task, by_method, envs[task].env.build()) for task, by_method in curves.items()]
    every = [curve for by_method in curves.values() for curve in by_method.values()]
    return draw_curves(panels, stem, shaded=shading(every))


def panel(title: str, curves: dict[str, LearningCurve], env: Task) -> Panel:
    """One task, with what the random policy reaches there."""
    drawn = [
        Curve(method, curve.steps, curve.mean, curve.low, curve.high)
        for method, curve in curves.items()
    ]
    return Panel(title, drawn, float(play_random(env, seed=0).returns.mean()))
