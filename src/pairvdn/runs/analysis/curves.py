"""Learning curves: greedy evaluations, or other metrics, during training."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from pairvdn.evaluation import Estimate, bootstrap, mean_over_tasks
from pairvdn.runs.errors import FolderError
from pairvdn.runs.folder import run_folders
from pairvdn.runs.metrics import CLOCK, read_metrics

OVER_SEEDS = "95 % bootstrap interval over training seeds"
OVER_EPISODES = "standard deviation over evaluation episodes (one training seed)"
_RESAMPLES = 2_000

# The x axes and metrics of curves, each with its label; `RETURN` is that of greedy episodes.
STEPS, RETURN = "steps", "return"
X_AXES: dict[str, tuple[str, Callable[[dict[str, Any]], float]]] = {
    STEPS: ("environment steps", lambda line: line["env_steps"]),
    "updates": ("updates", lambda line: line["updates"]),
    "seconds": ("training time in seconds", lambda line: line[CLOCK]["seconds"]),
}
METRICS = {
    RETURN: "return of a greedy episode",
    "mean_return": "return of a training episode",
    "loss": "loss",
    "td_error": "absolute TD error",
    "greedy_value": "greedy value of the target network",
    "epsilon": "epsilon",
}

Line = Float[np.ndarray, "_"]


class LearningCurve(NamedTuple):
    """The mean of a metric at some numbers of environment steps, and the band around it."""

    steps: Line  # or another of `X_AXES`
    mean: Line
    low: Line
    high: Line
    seeds: int


class Final(NamedTuple):
    """The last evaluations during training: one number per seed, or per episode."""

    values: Line
    estimate: Estimate
    seeds: int


def learning_curve(
    folders: Sequence[Path], *, x: str = STEPS, metric: str = RETURN, smooth: int = 1
) -> LearningCurve:
    """The curve of all seeds in these folders, up to the epoch that all have reached.

    With several seeds the band is the bootstrap interval of their mean; with one seed it is the
    standard deviation over its evaluation episodes, as in the paper's figures, and other metrics
    have none. `smooth` averages every point with the `smooth` - 1 points before it.
    """
    every = _lines(folders, metric)
    known = [lines[: min(map(len, every))] for lines in every]
    epochs = [[line["epoch"] for line in lines] for lines in known]
    if any(seed != epochs[0] for seed in epochs):
        raise FolderError(
            f"{folders[0]} and others were evaluated after different epochs: plot them separately."
        )
    # Seeds may differ by a few steps: a repeated action ends with the episode.
    along = np.array([[X_AXES[x][1](line) for line in lines] for lines in known]).mean(axis=0)
    means = np.array(
        [_moving_mean([_number(line, metric) for line in lines], smooth) for lines in known]
    )
    if len(known) == 1:
        spread = _moving_mean([_spread(line, metric) for line in known[0]], smooth)
        return LearningCurve(along, means[0], means[0] - spread, means[0] + spread, 1)
    rng = np.random.default_rng(0)
    estimates = [_mean(column, rng) for column in means.T]
    return LearningCurve(
        along,
        means.mean(axis=0),
        np.array([estimate.low for estimate in estimates]),
        np.array([estimate.high for estimate in estimates]),
        len(known),
    )


def final_returns(folders: Sequence[Path]) -> Final:
    """The end of the curve of these folders; with one seed, the episodes of its last evaluation."""
    last = [lines[-1]["evaluation"] for lines in _lines(folders, RETURN)]
    values = last[0]["values"] if len(last) == 1 else [evaluation["mean"] for evaluation in last]
    numbers = np.array(values, np.float64)
    return Final(numbers, _mean(numbers, np.random.default_rng(0)), len(last))


def _lines(folders: Sequence[Path], metric: str) -> list[list[dict[str, Any]]]:
    """The lines with this metric of every seed in these folders; each has at least one."""
    runs = [run for folder in folders for run in run_folders(folder)]
    key = "evaluation" if metric == RETURN else metric
    known = [[line for line in read_metrics(run) if key in line] for run in runs]
    for run, lines in zip(runs, known, strict=True):
        if not lines:
            raise FolderError(f"{run} has no {key} yet; there is nothing to plot.")
    return known


def _number(line: dict[str, Any], metric: str) -> float:
    return float(line["evaluation"]["mean"] if metric == RETURN else line[metric])


def _spread(line: dict[str, Any], metric: str) -> float:
    """The standard deviation over the episodes of an evaluation."""
    return float(np.std(line["evaluation"]["values"])) if metric == RETURN else 0.0


def _moving_mean(numbers: Sequence[float], width: int) -> Line:
    """The mean of each number and the `width` - 1 before it, as far as there are so many."""
    means: Line = np.array(
        [np.mean(numbers[max(0, end - width) : end]) for end in range(1, len(numbers) + 1)]
    )
    return means


def _mean(numbers: Line, rng: np.random.Generator) -> Estimate:
    return bootstrap([numbers], mean_over_tasks, rng=rng, resamples=_RESAMPLES)


def interval_of(finals: Sequence[Final]) -> str:
    """The unit of the dots and intervals of final returns, for a legend."""
    words = {"training seeds" if final.seeds > 1 else "episodes (one seed)" for final in finals}
    return " or ".join(sorted(words, reverse=True))


def shading(curves: Sequence[LearningCurve], metric: str = RETURN) -> str:
    """The meaning of the bands of learning curves, for a legend; empty if there are none."""
    of_one = OVER_EPISODES if metric == RETURN else ""
    words = {OVER_SEEDS if curve.seeds > 1 else of_one for curve in curves}
    return "; or ".join(sorted(words - {""}))
