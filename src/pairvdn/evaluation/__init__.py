"""From policies to numbers with intervals."""

from pairvdn.evaluation.film import Film, film_greedy, film_random
from pairvdn.evaluation.play import RANDOM_EPISODES, Played, play_greedy, play_random
from pairvdn.evaluation.report import report, summary
from pairvdn.evaluation.rollout import Episodes, greedy_episodes, random_episodes
from pairvdn.evaluation.statistics import (
    Estimate,
    Summary,
    bootstrap,
    interquartile_mean,
    mean_over_tasks,
    probability_of_improvement,
    summarise,
)

__all__ = [
    "RANDOM_EPISODES",
    "Episodes",
    "Estimate",
    "Film",
    "Played",
    "Summary",
    "bootstrap",
    "film_greedy",
    "film_random",
    "greedy_episodes",
    "interquartile_mean",
    "mean_over_tasks",
    "play_greedy",
    "play_random",
    "probability_of_improvement",
    "random_episodes",
    "report",
    "summarise",
    "summary",
]
