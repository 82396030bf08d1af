"""Evaluations of runs in the JSON layout of marl-eval (Gorsane et al., arXiv 2209.10485).

    environment > task > method > run > step_1, step_2, ..., absolute_metrics

A step has its number of environment steps and the returns of its greedy episodes. The absolute
metric is the return of the best checkpoint in ten times as many episodes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairvdn.runs.analysis.compare import grouped
from pairvdn.runs.analysis.evaluate import Settings, evaluate
from pairvdn.runs.errors import FolderError
from pairvdn.runs.folder import read_config, run_folders, run_path
from pairvdn.runs.metrics import read_metrics

METRIC = "return"
_TIMES = 10  # as many episodes for the absolute metric


def marl_eval(folders: Sequence[str | Path], *, trust: bool = False) -> dict[str, Any]:
    """The evaluations of all seeds in these folders; runs of one method and task are pooled."""
    groups = grouped([run_path(folder) for folder in folders], trust=trust)
    environments: dict[str, Any] = {}
    for (task, method), paths in groups.items():
        name = read_config(paths[0], trust=trust).env.name
        methods = environments.setdefault(name, {}).setdefault(task, {})
        runs = [run for path in paths for run in run_folders(path)]
        methods[method] = {f"run_{k}": _run(run, trust=trust) for k, run in enumerate(runs, 1)}
    return environments


def _run(run: Path, *, trust: bool) -> dict[str, Any]:
    lines = [line for line in read_metrics(run) if "evaluation" in line]
    if not lines:
        raise FolderError(f"{run} has no evaluation yet; there is nothing to export.")
    steps = {
        f"step_{k}": {"step_count": line["env_steps"], METRIC: line["evaluation"]["values"]}
        for k, line in enumerate(lines, 1)
    }
    episodes = _TIMES * len(lines[-1]["evaluation"]["values"])
    best = evaluate(run, Settings(episodes=episodes, checkpoint="best"), trust=trust)
    return {**steps, "absolute_metrics": {METRIC: list(best.greedy.returns.values)}}
