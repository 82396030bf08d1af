"""Scores with their uncertainty: means, intervals, and probabilities of improvement.

A *score* is one number per training seed (or per episode, where there is only one seed). With
several tasks the scores are one array per task, and the bootstrap is stratified: it resamples seeds
within each task, never across tasks. All randomness comes from the caller's NumPy generator. The
statistics are those of Agarwal et al., "Deep RL at the edge of the statistical precipice" (2021),
implemented from their definitions.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Scores = Float[np.ndarray, "_"]  # tasks may have different numbers of seeds
# Scores of one task, with leading axes of resamples.
Resamples = Float[np.ndarray, "*samples _"]
# From the scores of all tasks to one number per resample.
Statistic = Callable[[list[Resamples]], Float[np.ndarray, "..."]]

CONFIDENCE = 0.95
RESAMPLES = 10_000


class Estimate(NamedTuple):
    """A number and its bootstrap interval; None with too few scores to resample."""

    value: float
    low: float | None
    high: float | None


class Profile(NamedTuple):
    """A share at each threshold with its pointwise interval; None with too few scores."""

    value: Float[np.ndarray, " thresholds"]
    low: Float[np.ndarray, " thresholds"] | None
    high: Float[np.ndarray, " thresholds"] | None


class Summary(NamedTuple):
    """A summary of scores. `sd` is the sample deviation (n - 1); None with one score."""

    mean: float
    sd: float | None
    low: float | None
    high: float | None
    values: list[float]


def summarise(scores: Sequence[float] | Scores, *, rng: np.random.Generator) -> Summary:
    """Mean, standard deviation and a 95 % bootstrap interval of the mean."""
    checked = _scores(scores)
    estimate = bootstrap([checked], mean_over_tasks, rng=rng)
    sd = float(np.std(checked, ddof=1)) if len(checked) > 1 else None
    return Summary(estimate.value, sd, estimate.low, estimate.high, checked.tolist())


def mean_over_tasks(tasks: list[Resamples]) -> Float[np.ndarray, "*samples"]:
    """The mean over seeds, then over tasks: every task counts the same."""
    return np.asarray(np.mean([np.mean(scores, axis=-1) for scores in tasks], axis=0))


def deviation_over_tasks(tasks: list[Resamples]) -> Float[np.ndarray, "*samples"]:
    """The sample deviation over seeds, then the mean over tasks: how unsteady a method is."""
    return np.asarray(np.mean([np.std(scores, axis=-1, ddof=1) for scores in tasks], axis=0))


def interquartile_mean(tasks: list[Resamples]) -> Float[np.ndarray, "*samples"]:
    """The mean of the middle half of all scores of all tasks.

    floor(n / 4) scores are cut at either end: more robust than the mean against outliers, and
    statistically more efficient than the median. Scores of tasks with fewer seeds are repeated, so
    that every task counts the same.
    """
    most = math.lcm(*(scores.shape[-1] for scores in tasks))
    alike = [np.repeat(scores, most // scores.shape[-1], axis=-1) for scores in tasks]
    ordered = np.sort(np.concatenate(alike, axis=-1), axis=-1)
    cut = ordered.shape[-1] // 4
    return np.asarray(np.mean(ordered[..., cut : ordered.shape[-1] - cut], axis=-1))


def bootstrap(
    tasks: Sequence[Scores],
    statistic: Statistic,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """A statistic with its percentile interval over resamples of the seeds of each task."""
    checked = _checked(tasks)
    value = float(statistic(checked))
    if max(len(scores) for scores in checked) < 2:
        return Estimate(value, None, None)
    drawn = statistic([_resampled(scores, resamples, rng) for scores in checked])
    return Estimate(value, *_interval(drawn, confidence))


def difference(
    tasks: Sequence[Scores],
    others: Sequence[Scores],
    statistic: Statistic = mean_over_tasks,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """The statistic of one method less that of the other; seeds are resampled independently."""
    count = len(tasks)

    def subtracted(both: list[Resamples]) -> Float[np.ndarray, "*samples"]:
        return np.asarray(statistic(both[:count]) - statistic(both[count:]))

    return bootstrap(
        [*tasks, *others], subtracted, rng=rng, resamples=resamples, confidence=confidence
    )


def performance_profile(
    tasks: Sequence[Scores],
    thresholds: Float[np.ndarray, " thresholds"],
    *,
    rng: np.random.Generator,
    resamples: int = 2_000,
    confidence: float = CONFIDENCE,
) -> Profile:
    """The share of seeds with a score above each threshold: mean over tasks of P(X > threshold)."""
    checked = _checked(tasks)
    value = _share_above(checked, thresholds)
    if max(len(scores) for scores in checked) < 2:
        return Profile(value, None, None)
    drawn = _share_above([_resampled(scores, resamples, rng) for scores in checked], thresholds)
    tail = (1 - confidence) / 2
    return Profile(value, *np.quantile(drawn, [tail, 1 - tail], axis=0))


def _share_above(
    tasks: list[Resamples], thresholds: Float[np.ndarray, " thresholds"]
) -> Float[np.ndarray, "*samples thresholds"]:
    above = [np.mean(scores[..., None] > thresholds, axis=-2) for scores in tasks]
    return np.asarray(np.mean(above, axis=0))


def probability_of_improvement(
    tasks: Sequence[Scores],
    others: Sequence[Scores],
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """The probability that a seed of one method beats a seed of the other, on a random task.

    The mean over tasks of P(X > Y) + P(X = Y) / 2 with X and Y random seeds of the two methods: the
    Mann-Whitney statistic. 0.5 means that neither is better.
    """
    if len(tasks) != len(others) or not tasks:
        raise ValueError(
            f"Both methods need scores on the same tasks, at least one; they have {len(tasks)} "
            f"and {len(others)}."
        )
    pairs = [(_scores(x), _scores(y)) for x, y in zip(tasks, others, strict=True)]
    value = float(np.mean([_share_better(x, y) for x, y in pairs]))
    if max(min(len(x), len(y)) for x, y in pairs) < 2:
        return Estimate(value, None, None)
    drawn = np.mean(
        [
            _share_better(_resampled(x, resamples, rng), _resampled(y, resamples, rng))
            for x, y in pairs
        ],
        axis=0,
    )
    return Estimate(value, *_interval(drawn, confidence))


def _share_better(x: Resamples, y: Resamples) -> Float[np.ndarray, "*samples"]:
    wins, ties = x[..., :, None] > y[..., None, :], x[..., :, None] == y[..., None, :]
    return np.asarray(np.mean(wins + 0.5 * ties, axis=(-2, -1)))


def _resampled(scores: Scores, resamples: int, rng: np.random.Generator) -> Resamples:
    return scores[rng.integers(len(scores), size=(resamples, len(scores)))]


def _interval(drawn: Float[np.ndarray, " samples"], confidence: float) -> tuple[float, float]:
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


def _checked(tasks: Sequence[Scores]) -> list[Scores]:
    """The scores of at least one task."""
    if not tasks:
        raise ValueError("There must be at least one task.")
    return [_scores(scores) for scores in tasks]


def _scores(scores: Sequence[float] | Scores) -> Scores:
    """The scores as an array of at least one finite number."""
    array = np.asarray(scores, np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"Scores must be a list of at least one number, not of shape {array.shape}."
        )
    if not np.all(np.isfinite(array)):
        raise ValueError("Scores must be finite; leave out diverged runs and report their number.")
    return array
