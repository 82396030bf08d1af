"""Several runs side by side: who is better, by how much, and how sure that is."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairvdn.evaluation import (
    Estimate,
    bootstrap,
    interquartile_mean,
    mean_over_tasks,
    probability_of_improvement,
)
from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.runs.analysis.evaluate import Settings, evaluate
from pairvdn.runs.folder import has_best, read_config, run_folders
from pairvdn.runs.pretrained import run_path

# What may differ between runs of one recipe: the task, where the random numbers start, and what
# changes no result.
_NOT_THE_RECIPE = ("env", "seed", "evaluation", "checkpoints")


class Row(NamedTuple):
    """One method on one task, by its last and its best checkpoints, which are never mixed.

    `better` is the probability that a seed of this row beats one of the first row of its task.
    Teams that were exported have no best checkpoint.
    """

    task: str
    method: str
    runs: list[str]
    seeds: int
    diverged: int
    interval_over: str
    mean: Estimate
    interquartile_mean: Estimate
    best_checkpoint: Estimate | None
    random: float
    better: Estimate


class Comparison(NamedTuple):
    """All rows, and over all tasks that two methods share: how likely is one better."""

    rows: list[Row]
    over_tasks: dict[str, Estimate]  # method -> against the first method


def compare(
    folders: Sequence[str | Path], settings: Settings, *, trust: bool = False
) -> Comparison:
    """Evaluate every run and put runs of the same method and task together."""
    if not folders:
        raise ConfigError("Name at least one run.")
    paths = [run_path(folder) for folder in folders]
    ignoring = () if settings.max_steps is None else ("max_steps",)
    groups = grouped(paths, ignoring=ignoring, trust=trust)
    last = {
        name: [evaluate(path, settings, trust=trust) for path in group]
        for name, group in groups.items()
    }
    best = {
        name: [_best(path, settings, trust=trust) for path in group]
        for name, group in groups.items()
        if all(has_best(run) for path in group for run in run_folders(path))
    }
    return Comparison([_row(name, last, best) for name in groups], _over_tasks(last))


def grouped(
    paths: Sequence[Path], *, ignoring: Sequence[str] = (), trust: bool = False
) -> dict[tuple[str, str], list[Path]]:
    """Task and method -> the runs of it, which are then taken for seeds of one experiment.

    Runs of one method and task that were trained differently are kept apart, and then named after
    their folders. `ignoring` are arguments of environments that may differ within a task.
    """
    configs = [read_config(path, trust=trust) for path in paths]
    runs = [run.resolve() for path in paths for run in run_folders(path)]
    twice = [run for run in runs if runs.count(run) > 1]
    if twice:
        raise ConfigError(f"{twice[0]} is named twice.")
    recipes: dict[tuple[str, str], list[dict[str, Any]]] = {}
    groups: dict[tuple[str, str, int], list[Path]] = {}
    for path, config, task in zip(paths, configs, task_labels(configs, ignoring), strict=True):
        plain = config.to_dict()
        recipe = {key: plain[key] for key in plain if key not in _NOT_THE_RECIPE}
        known = recipes.setdefault((task, config.method.name), [])
        if recipe not in known:
            known.append(recipe)
        groups.setdefault((task, config.method.name, known.index(recipe)), []).append(path)
    return {
        (task, method if len(recipes[task, method]) == 1 else f"{method} ({runs[0].name})"): runs
        for (task, method, _), runs in groups.items()
    }


def task_labels(configs: Sequence[Config], ignoring: Sequence[str] = ()) -> list[str]:
    """A short name of each config's task: the environment, and in what it differs from others."""
    plain = [_task(config, ignoring) for config in configs]
    labels = []
    for config, task in zip(configs, plain, strict=True):
        peers = [other for other in plain if other["name"] == task["name"]]
        differing = [
            key for key in sorted(task) if any(peer.get(key) != task[key] for peer in peers)
        ]
        words = [f"{key}={json.dumps(task[key])}" for key in differing]
        labels.append(" ".join([config.env.name, *words]))
    return labels


def scores(reports: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """One number per training seed; per episode, where there is one seed in all."""
    if len(reports) == 1:
        return np.array(reports[0]["return"]["values"])
    return _of_seeds(reports)


def _of_seeds(reports: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """One number per training seed."""
    return np.concatenate(
        [
            np.array(one["return"]["values"])
            if one["interval_over"] == "seeds"
            else np.array([one["return"]["mean"]])
            for one in reports
        ]
    )


def comparable(
    mine: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]]
) -> tuple[np.ndarray, np.ndarray]:
    """Seeds beside seeds; episodes beside episodes only where both have one seed."""
    seeds = _of_seeds(mine), _of_seeds(other)
    return (scores(mine), scores(other)) if seeds[0].size == seeds[1].size == 1 else seeds


def _task(config: Config, ignoring: Sequence[str]) -> dict[str, Any]:
    arguments = config.env.arguments
    counting = {key: value for key, value in arguments.items() if key not in ignoring}
    return {"name": config.env.name, **counting}


def _best(folder: Path, settings: Settings, *, trust: bool) -> dict[str, Any]:
    best = Settings(settings.episodes, settings.max_steps, settings.seed, "best")
    return evaluate(folder, best, trust=trust)


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _row(
    name: tuple[str, str],
    last: Mapping[tuple[str, str], list[dict[str, Any]]],
    best: Mapping[tuple[str, str], list[dict[str, Any]]],
) -> Row:
    task, method = name
    mine = scores(last[name])
    first = next(other for other in last if other[0] == task)
    seeds = sum(one["extra"]["seeds"] for one in last[name])
    return Row(
        task=task,
        method=method,
        runs=[one["run"] for one in last[name]],
        seeds=seeds,
        diverged=sum(one["extra"]["diverged"] for one in last[name]),
        interval_over="episodes" if seeds == 1 else "seeds",
        mean=bootstrap([mine], mean_over_tasks, rng=_rng()),
        interquartile_mean=bootstrap([mine], interquartile_mean, rng=_rng()),
        best_checkpoint=bootstrap([scores(best[name])], mean_over_tasks, rng=_rng())
        if name in best
        else None,
        random=last[name][0]["random"]["mean"],
        better=_better([comparable(last[name], last[first])]),
    )


def _better(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Estimate:
    """How likely the first of each pair is the better one."""
    mine, others = zip(*pairs, strict=True)
    return probability_of_improvement(mine, others, rng=_rng())


def _over_tasks(
    known: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
) -> dict[str, Estimate]:
    """Each method against the first one, on the tasks that both have, if there are several."""
    methods = list(dict.fromkeys(method for _, method in known))
    found = {}
    for method in methods[1:]:
        shared = [task for task, one in known if one == method and (task, methods[0]) in known]
        if len(shared) > 1:
            found[method] = _better(
                [comparable(known[task, method], known[task, methods[0]]) for task in shared]
            )
    return found
