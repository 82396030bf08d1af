"""Learning curves: the greedy evaluations during training, from the metrics of runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from pairvdn.evaluation import Estimate, bootstrap, mean_over_tasks
from pairvdn.runs.errors import FolderError
from pairvdn.runs.folder import run_folders
from pairvdn.runs.metrics import evaluations, read_metrics

OVER_SEEDS = "95 % bootstrap interval over training seeds"
OVER_EPISODES = "standard deviation over evaluation episodes (one training seed)"
_RESAMPLES = 2_000

Line = Float[np.ndarray, "_"]


class LearningCurve(NamedTuple):
    """Mean greedy return at some numbers of environment steps, and the band around it."""

    steps: Line
    mean: Line
    low: Line
    high: Line
    seeds: int


class Final(NamedTuple):
    """The last evaluations during training: one number per seed, or per episode."""

    values: Line
    estimate: Estimate
    seeds: int


def learning_curve(folders: Sequence[Path]) -> LearningCurve:
    """The curve of all seeds in these folders, up to the epoch that all have reached.

    With several seeds the band is the bootstrap interval of their mean, with one seed the standard
    deviation over its evaluation episodes, as in the paper's figures.
    """
    every = _evaluations(folders)
    evaluated = [lines[: min(map(len, every))] for lines in every]
    epochs = [[line["epoch"] for line in lines] for lines in evaluated]
    if any(seed != epochs[0] for seed in epochs):
        raise FolderError(
            f"{folders[0]} and others were evaluated after different epochs: plot them separately."
        )
    # Seeds may differ by a few steps: a repeated action ends with the episode.
    steps = np.array([[line["env_steps"] for line in lines] for lines in evaluated]).mean(axis=0)
    means = np.array([[line["evaluation"]["mean"] for line in lines] for lines in evaluated])
    if len(evaluated) == 1:
        episodes = [np.array(line["evaluation"]["values"]) for line in evaluated[0]]
        spread = np.array([np.std(values) for values in episodes])
        return LearningCurve(steps, means[0], means[0] - spread, means[0] + spread, 1)
    rng = np.random.default_rng(0)
    estimates = [_mean(column, rng) for column in means.T]
    return LearningCurve(
        steps,
        means.mean(axis=0),
        np.array([estimate.low for estimate in estimates]),
        np.array([estimate.high for estimate in estimates]),
        len(evaluated),
    )


def final_returns(folders: Sequence[Path]) -> Final:
    """The end of the curve of these folders; with one seed, the episodes of its last evaluation."""
    last = [lines[-1]["evaluation"] for lines in _evaluations(folders)]
    values = last[0]["values"] if len(last) == 1 else [evaluation["mean"] for evaluation in last]
    numbers = np.array(values, np.float64)
    return Final(numbers, _mean(numbers, np.random.default_rng(0)), len(last))


def _evaluations(folders: Sequence[Path]) -> list[list[dict[str, Any]]]:
    """The lines with an evaluation of every seed in these folders; each has at least one."""
    runs = [run for folder in folders for run in run_folders(folder)]
    evaluated = [evaluations(read_metrics(run)) for run in runs]
    for run, lines in zip(runs, evaluated, strict=True):
        if not lines:
            raise FolderError(f"{run} has no evaluation yet; there is nothing to plot.")
    return evaluated


def _mean(numbers: Line, rng: np.random.Generator) -> Estimate:
    return bootstrap([numbers], mean_over_tasks, rng=rng, resamples=_RESAMPLES)


def interval_of(finals: Sequence[Final]) -> str:
    """The unit of the dots and intervals of final returns, for a legend."""
    words = {"training seeds" if final.seeds > 1 else "episodes (one seed)" for final in finals}
    return " or ".join(sorted(words, reverse=True))


def shading(curves: Sequence[LearningCurve]) -> str:
    """The meaning of the bands of learning curves, for a legend."""
    words = {OVER_SEEDS if curve.seeds > 1 else OVER_EPISODES for curve in curves}
    return "; or ".join(sorted(words))
