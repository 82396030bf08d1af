"""Statistics on samples whose answers are known."""

import math

import numpy as np
import pytest

from pairvdn.evaluation.statistics import (
    bootstrap,
    difference,
    interquartile_mean,
    mean_over_tasks,
    performance_profile,
    probability_of_improvement,
    summarise,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_summary_of_five_numbers() -> None:
    summary = summarise([1.0, 2.0, 3.0, 4.0, 5.0], rng=rng())
    assert summary.mean == 3.0
    assert summary.sd == pytest.approx(math.sqrt(2.5))
    assert summary.values == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert summary.low < 3.0 < summary.high


def test_one_score_has_no_interval() -> None:
    assert summarise([2.0], rng=rng()) == (2.0, None, None, None, [2.0])


def test_equal_scores_have_an_interval_without_width() -> None:
    summary = summarise([4.0] * 6, rng=rng())
    assert (summary.sd, summary.low, summary.high) == (0.0, 4.0, 4.0)


def test_two_scores_are_resampled_to_both_ends() -> None:
    # Of the means 0, 1/2 and 1 the outer ones have a chance of 1/4 each: more than 2.5 %.
    summary = summarise([0.0, 1.0], rng=rng())
    assert (summary.low, summary.high) == (0.0, 1.0)


def test_the_interval_of_many_scores_is_that_of_the_normal_distribution() -> None:
    scores = rng().normal(5.0, 2.0, 400)
    summary = summarise(scores, rng=rng())
    half = 1.96 * np.std(scores) / math.sqrt(400)
    assert summary.low == pytest.approx(scores.mean() - half, abs=0.02)
    assert summary.high == pytest.approx(scores.mean() + half, abs=0.02)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    draws = np.random.default_rng(1).normal(0.0, 1.0, (300, 30))
    intervals = [
        bootstrap([draw], mean_over_tasks, rng=rng(), resamples=1_000)[1:] for draw in draws
    ]
    covered = np.mean([low <= 0.0 <= high for low, high in intervals])
    assert 0.90 <= covered <= 0.98  # 95 %, a little less for so few seeds


def test_the_bootstrap_stays_within_tasks() -> None:
    # Within a task all seeds agree, so there is nothing uncertain, however far apart the tasks.
    estimate = bootstrap([np.zeros(4), np.full(4, 100.0)], mean_over_tasks, rng=rng())
    assert estimate == (50.0, 50.0, 50.0)


def test_every_task_counts_the_same() -> None:
    estimate = bootstrap([np.zeros(9), np.ones(1)], mean_over_tasks, rng=rng())
    assert estimate.value == 0.5


@pytest.mark.parametrize(
    ("scores", "answer"),
    [
        ([1.0, 2.0, 3.0, 1000.0], 2.5),
        ([8.0, 1.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0], 4.5),
        ([5.0, -100.0, 1.0], 94.0 / -3.0),  # too few to cut any
        ([7.0], 7.0),
    ],
)
def test_interquartile_mean(scores: list[float], answer: float) -> None:
    assert float(interquartile_mean([np.array(scores)])) == pytest.approx(answer)


def test_interquartile_mean_pools_the_tasks() -> None:
    tasks = [np.array([0.0, 10.0]), np.array([4.0, 6.0])]
    assert float(interquartile_mean(tasks)) == 5.0


def test_every_task_counts_the_same_in_the_interquartile_mean() -> None:
    # As if the task of one seed had four: 0, 0, 0, 0 and 1, 2, 3, 4; two are cut at either end.
    tasks = [np.array([0.0]), np.array([1.0, 2.0, 3.0, 4.0])]
    assert float(interquartile_mean(tasks)) == pytest.approx((0 + 0 + 1 + 2) / 4)
    resampled = [np.zeros((5, 2)), np.ones((5, 3))]
    assert interquartile_mean(resampled).tolist() == [0.5] * 5


def test_performance_profile() -> None:
    tasks = [np.array([0.0, 0.5, 1.0, 1.0]), np.array([0.2, 0.8])]
    thresholds = np.array([-1.0, 0.0, 0.5, 1.0])
    profile = performance_profile(tasks, thresholds, rng=rng())
    # P(X > s) on each task, then the mean of both.
    assert profile.value.tolist() == [1.0, (0.75 + 1.0) / 2, (0.5 + 0.5) / 2, 0.0]
    assert profile.low is not None
    assert profile.high is not None
    assert (profile.low <= profile.value).all()
    assert (profile.value <= profile.high).all()
    assert profile.low[[0, 3]].tolist() == profile.high[[0, 3]].tolist() == [1.0, 0.0]
    assert 0.5 < profile.high[2] <= 1.0
    alone = performance_profile([np.array([0.7])], thresholds, rng=rng())
    assert (alone.value.tolist(), alone.low, alone.high) == ([1.0, 1.0, 1.0, 0.0], None, None)


@pytest.mark.parametrize(
    ("x", "y", "answer"),
    [
        ([2.0, 3.0], [0.0, 1.0], 1.0),
        ([0.0, 1.0], [2.0, 3.0], 0.0),
        ([1.0, 1.0], [1.0, 1.0], 0.5),
        ([1.0, 3.0], [2.0, 2.0], 0.5),
        ([1.0, 2.0, 3.0], [2.0, 0.0], (0.5 + 0.75 + 1.0) / 3),
    ],
)
def test_probability_of_improvement(x: list[float], y: list[float], answer: float) -> None:
    estimate = probability_of_improvement([np.array(x)], [np.array(y)], rng=rng())
    assert estimate.value == pytest.approx(answer)
    assert estimate.low <= estimate.value <= estimate.high


def test_probability_of_improvement_is_the_mean_over_tasks() -> None:
    better, worse = np.array([5.0, 6.0]), np.array([1.0, 2.0])
    estimate = probability_of_improvement([better, worse], [worse, better], rng=rng())
    assert estimate == (0.5, 0.5, 0.5)


def test_the_difference_of_means_covers_the_truth_and_both_ends() -> None:
    low, high = np.array([0.0, 2.0]), np.array([10.0, 10.0])
    assert difference([high], [low], rng=rng()) == (9.0, 8.0, 10.0)
    assert difference([low], [low], rng=rng()) == (0.0, -2.0, 2.0)
    draw = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        one, other = draw.normal(1.0, 1.0, 20), draw.normal(0.0, 2.0, 10)
        estimate = difference([one], [other], rng=rng(), resamples=500)
        covered += estimate.low <= 1.0 <= estimate.high
    assert 0.85 < covered / 200 < 0.99


def test_the_generator_decides() -> None:
    scores = rng().normal(size=20)
    assert summarise(scores, rng=rng()) == summarise(scores, rng=rng())
    assert summarise(scores, rng=rng()) != summarise(scores, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("scores", "message"),
    [([], "at least one number"), ([1.0, math.nan], "finite"), ([math.inf], "finite")],
)
def test_bad_scores_are_refused(scores: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap([np.array(scores)], mean_over_tasks, rng=rng())


def test_methods_must_be_compared_on_the_same_tasks() -> None:
    with pytest.raises(ValueError, match="1 and 2"):
        probability_of_improvement([np.ones(2)], [np.ones(2)] * 2, rng=rng())
    with pytest.raises(ValueError, match="at least one task"):
        bootstrap([], mean_over_tasks, rng=rng())
