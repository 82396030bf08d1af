"""Comparing runs: means, intervals, and the probability that one method beats another."""

import dataclasses
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairvdn.config.config import Config
from pairvdn.config.errors import ConfigError
from pairvdn.config.toml import flat
from pairvdn.evaluation import (
    Estimate,
    bootstrap,
    interquartile_mean,
    mean_over_tasks,
    probability_of_improvement,
)
from pairvdn.runs.analysis.evaluate import Evaluated, Settings, evaluate
from pairvdn.runs.errors import FolderError
from pairvdn.runs.folder import RunFolder, read_config, run_folders, run_path
from pairvdn.runs.metrics import METRICS

# Sections that may differ between runs of one recipe: the task, the seed, and settings that change
# no result.
_NOT_THE_RECIPE = ("env", "seed", "evaluation", "checkpoints")

Name = tuple[str, str]  # task and method


class Row(NamedTuple):
    """One method on one task, by its last checkpoints and, separately, by its best ones.

    `better` is the probability that a seed of this row beats a seed of the first row of its task.
    Exported runs have no best checkpoint.
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
    """All rows, and the probability of improvement over all tasks that two methods share."""

    rows: list[Row]
    over_tasks: dict[str, Estimate]  # of each method against the first one


def compare(
    folders: Sequence[str | Path], settings: Settings, *, trust: bool = False
) -> Comparison:
    """Evaluate every run and pool the runs of a method on a task."""
    if not folders:
        raise ConfigError("compare needs at least one run.")
    paths = [run for folder in folders for run in runs_below(run_path(folder))]
    ignoring = () if settings.max_steps is None else ("max_steps",)
    groups = grouped(paths, ignoring=ignoring, trust=trust)
    last = {
        name: [evaluate(path, settings, trust=trust) for path in group]
        for name, group in groups.items()
    }
    of_best = dataclasses.replace(settings, checkpoint="best")
    best = {
        name: [evaluate(path, of_best, trust=trust) for path in group]
        for name, group in groups.items()
        if all(_has_best(run) for path in group for run in run_folders(path))
    }
    return Comparison([_row(name, last, best) for name in groups], _over_tasks(last))


def _has_best(run: Path) -> bool:
    """Whether a run has an intact best checkpoint; warns about a damaged one."""
    folder = RunFolder(run)
    found = folder.has_best()
    if not found and folder.best().exists():
        warnings.warn(f"{folder.best()} is skipped: it is damaged", stacklevel=3)
    return found


def runs_below(folder: Path) -> list[Path]:
    """The folder itself if it holds runs; else those below it, as in the folder of a study.

    A run without its config stays in the list, where it is an error: no run may vanish.
    """
    found = _runs_inside(folder) if folder.is_dir() else []
    # Trials of a study, tune/ROW/trial-K, keep no checkpoint and are not part of its results.
    rows = [run for run in found if not _is_trial(run.relative_to(folder))]
    return rows or [folder]


def _is_trial(run: Path) -> bool:
    return "tune" in run.parts and run.name.startswith("trial-")


def _runs_inside(folder: Path) -> list[Path]:
    if any((folder / name).exists() for name in ("config.toml", "checkpoints", METRICS)):
        return [folder]
    inner = sorted(path for path in folder.iterdir() if path.is_dir())
    links = [path for path in inner if path.is_symlink()]
    if links:  # it may lead around in a circle
        raise FolderError(f"{links[0]} is a symbolic link: name what it points to instead.")
    return [run for path in inner for run in _runs_inside(path)]


def grouped(
    paths: Sequence[Path], *, ignoring: Sequence[str] = (), trust: bool = False
) -> dict[Name, list[Path]]:
    """The runs of each task and method, which count as seeds of one experiment.

    Runs of one method and task whose settings differ form groups of their own, named by the
    settings that differ. `ignoring` lists arguments of environments that may differ within a task.
    """
    configs = [read_config(path, trust=trust) for path in paths]
    runs = [run.resolve() for path in paths for run in run_folders(path)]
    twice = [run for run in runs if runs.count(run) > 1]
    if twice:
        raise ConfigError(f"{twice[0]} is named twice; name each run once.")
    recipes = list(map(_recipe, configs))
    names = [
        (task, config.method.name)
        for task, config in zip(task_labels(configs, ignoring), configs, strict=True)
    ]
    groups: dict[Name, list[Path]] = {}
    for path, (task, method), recipe in zip(paths, names, recipes, strict=True):
        peers = [
            other for name, other in zip(names, recipes, strict=True) if name == (task, method)
        ]
        words = _differing(recipe, peers)
        label = f"{method} ({', '.join(words)})" if words else method
        groups.setdefault((task, label), []).append(path)
    return groups


def _recipe(config: Config) -> dict[str, Any]:
    """The settings on which results depend, besides the task and the seed."""
    plain = config.to_dict()
    return flat({key: plain[key] for key in plain if key not in _NOT_THE_RECIPE})


def _differing(mine: Mapping[str, Any], peers: Sequence[Mapping[str, Any]]) -> list[str]:
    """`key=value` for each setting in which not all peers agree."""
    keys = dict.fromkeys(key for peer in peers for key in peer)
    return [
        f"{key}={json.dumps(mine.get(key))}"
        for key in keys
        if any(peer.get(key) != mine.get(key) for peer in peers)
    ]


def task_labels(configs: Sequence[Config], ignoring: Sequence[str] = ()) -> list[str]:
    """A short name of each config's task: the environment, and the arguments that differ."""
    plain = [_task(config, ignoring) for config in configs]
    labels = []
    for config, task in zip(configs, plain, strict=True):
        peers = [other for other in plain if other["name"] == task["name"]]
        labels.append(" ".join([config.env.name, *sorted(_differing(task, peers))]))
    return labels


def scores(runs: Sequence[Evaluated]) -> np.ndarray:
    """One number per training seed, or per episode if there is only one seed."""
    return np.array(runs[0].greedy.returns.values) if len(runs) == 1 else _of_seeds(runs)


def _of_seeds(runs: Sequence[Evaluated]) -> np.ndarray:
    """One number per training seed."""
    returns = [(one.greedy.returns, one.seeds) for one in runs]
    return np.concatenate([one.values if seeds > 1 else [one.mean] for one, seeds in returns])


def comparable(
    mine: Sequence[Evaluated], other: Sequence[Evaluated]
) -> tuple[np.ndarray, np.ndarray]:
    """Seeds against seeds, or episodes against episodes if both have one seed."""
    seeds = _of_seeds(mine), _of_seeds(other)
    return (scores(mine), scores(other)) if seeds[0].size == seeds[1].size == 1 else seeds


def _task(config: Config, ignoring: Sequence[str]) -> dict[str, Any]:
    arguments = config.env.arguments
    counting = {key: value for key, value in arguments.items() if key not in ignoring}
    return {"name": config.env.name, **counting}


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _row(
    name: Name, last: Mapping[Name, list[Evaluated]], best: Mapping[Name, list[Evaluated]]
) -> Row:
    task, method = name
    runs = last[name]
    mine = scores(runs)
    first = next(other for other in last if other[0] == task)
    seeds = sum(one.seeds for one in runs)
    return Row(
        task=task,
        method=method,
        runs=[one.run for one in runs],
        seeds=seeds,
        diverged=sum(one.diverged for one in runs),
        interval_over="episodes" if seeds == 1 else "seeds",
        mean=bootstrap([mine], mean_over_tasks, rng=_rng()),
        interquartile_mean=bootstrap([mine], interquartile_mean, rng=_rng()),
        best_checkpoint=bootstrap([scores(best[name])], mean_over_tasks, rng=_rng())
        if name in best
        else None,
        random=runs[0].random.returns.mean,
        better=_better([comparable(runs, last[first])]),
    )


def _better(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Estimate:
    """The probability that the first of each pair is better."""
    mine, others = zip(*pairs, strict=True)
    return probability_of_improvement(mine, others, rng=_rng())


def _over_tasks(known: Mapping[Name, Sequence[Evaluated]]) -> dict[str, Estimate]:
    """Each method against the first one, on the tasks that both have, if there are several."""
    methods = list(dict.fromkeys(method for _, method in known))
    improvements = {}
    for method in methods[1:]:
        shared = [task for task, one in known if one == method and (task, methods[0]) in known]
        if len(shared) > 1:
            improvements[method] = _better(
                [comparable(known[task, method], known[task, methods[0]]) for task in shared]
            )
    return improvements
