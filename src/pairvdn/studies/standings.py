"""The aggregate of a study: all methods over all tasks, as scores from 0 to 1 with intervals."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from pairvdn.config.errors import ConfigError
from pairvdn.evaluation import (
    Estimate,
    Profile,
    bootstrap,
    interquartile_mean,
    mean_over_tasks,
    performance_profile,
    probability_of_improvement,
)
from pairvdn.evaluation.statistics import Scores
from pairvdn.runs.errors import FolderError
from pairvdn.studies.study import Aggregation, Study
from pairvdn.studies.tables import Lines, Rows, at, estimated

THRESHOLDS: Float[np.ndarray, " thresholds"] = np.linspace(0.0, 1.0, 101)


class Standing(NamedTuple):
    """A method: its scores on each task, one for each seed, and statistics over all tasks.

    `better` is the probability that it beats the method `versus`; None for that method itself.
    """

    method: str
    scores: dict[str, Scores]
    iqm: Estimate
    mean: Estimate
    profile: Profile  # at THRESHOLDS
    better: Estimate | None


class Aggregate(NamedTuple):
    """The standings, best IQM first, and the scores of methods that lack a task."""

    versus: str
    tasks: tuple[str, ...]
    standings: list[Standing]
    incomplete: dict[str, dict[str, Scores]]

    def missing(self, method: str) -> list[str]:
        """The tasks on which an incomplete method has no results."""
        return [task for task in self.tasks if task not in self.incomplete[method]]


def aggregate(study: Study, rows: Rows) -> Aggregate:
    """Aggregate the results of a study; `FolderError` while `versus` lacks a task.

    Only methods with results on every task are compared: a mean over other tasks would be another
    number.
    """
    if study.aggregate is None:
        raise ConfigError(f"{study.name} has no table [aggregate]; see docs/studies.md.")
    how = study.aggregate
    versus, tasks = how.versus, how.tasks or study.tasks
    if missing := missing_tasks(study, rows, versus):
        raise FolderError(f"{study.name}: {versus} needs results on {', '.join(missing)}.")
    scores = {
        method: {
            task: _scores(study, how, rows, task, method)
            for task in tasks
            if f"{task}/{method}" in rows
        }
        for method in study.methods
    }
    standings = [
        _standing(method, own, None if method == versus else scores[versus])
        for method, own in scores.items()
        if len(own) == len(tasks)
    ]
    standings.sort(key=lambda one: -one.iqm.value)
    incomplete = {method: own for method, own in scores.items() if 0 < len(own) < len(tasks)}
    return Aggregate(versus, tasks, standings, incomplete)


def missing_tasks(study: Study, rows: Rows, method: str) -> list[str]:
    """The tasks of the aggregate on which a method has no results."""
    tasks = (study.aggregate and study.aggregate.tasks) or study.tasks
    return [task for task in tasks if f"{task}/{method}" not in rows]


def _scores(study: Study, how: Aggregation, rows: Rows, task: str, method: str) -> Scores:
    """(x - zero) / (one - zero) for the x of each seed."""
    row = rows[f"{task}/{method}"]
    found = at(row, how.path)
    if found is None:
        raise FolderError(f"{task}/{method} has no number {how.path}.")
    # A single seed has the values of its episodes.
    values = np.array(found["values"] if row["seeds"] > 1 else [found["mean"]], np.float64)
    zero = study.references[how.zero].values.get(task, at(row["random"], how.path)["mean"])
    one = study.references[how.one].values[task]
    return np.asarray((values - zero) / (one - zero))


def _standing(method: str, scores: dict[str, Scores], versus: dict[str, Scores] | None) -> Standing:
    tasks = list(scores.values())

    def rng() -> np.random.Generator:
        return np.random.default_rng(0)  # the same results give the same table

    better = None
    if versus is not None:
        better = probability_of_improvement(tasks, list(versus.values()), rng=rng())
    return Standing(
        method,
        scores,
        bootstrap(tasks, interquartile_mean, rng=rng()),
        bootstrap(tasks, mean_over_tasks, rng=rng()),
        performance_profile(tasks, THRESHOLDS, rng=rng()),
        better,
    )


def aggregate_table(study: Study, rows: Rows) -> Lines:
    """A line per method, best first, then the methods that lack a task."""
    found = aggregate(study, rows)
    lines = [["", "IQM", "mean", f"P(more than `{found.versus}`)", "seeds"]]
    for one in found.standings:
        seeds = [len(scores) for scores in one.scores.values()]
        many = str(seeds[0]) if len(set(seeds)) == 1 else f"{min(seeds)} to {max(seeds)}"
        better = "–" if one.better is None else estimated(one.better)
        lines.append([f"`{one.method}`", estimated(one.iqm), estimated(one.mean), better, many])
    for method in found.incomplete:
        lines.append([f"`{method}`", f"not on {', '.join(found.missing(method))}", "–", "–", "–"])
    return lines
