"""Evaluation of policies: episodes, recordings, explanations, statistics."""

from pairvdn.evaluation.episodes import (
    Episodes,
    greedy_episodes,
    play_episodes,
    random_episodes,
)
from pairvdn.evaluation.explanation import AdditiveBaseline, Explanation
from pairvdn.evaluation.host_recording import record_on_host
from pairvdn.evaluation.play import RANDOM_EPISODES, Played, play_greedy, play_random
from pairvdn.evaluation.recording import Frame, Recording, record_greedy, record_random
from pairvdn.evaluation.report import PolicySummary, pool_seeds, pooled, summarise_played, summary
from pairvdn.evaluation.statistics import (
    Estimate,
    Profile,
    Summary,
    bootstrap,
    deviation_over_tasks,
    difference,
    interquartile_mean,
    mean_over_tasks,
    performance_profile,
    probability_of_improvement,
    summarise,
)

__all__ = [
    "RANDOM_EPISODES",
    "AdditiveBaseline",
    "Episodes",
    "Estimate",
    "Explanation",
    "Frame",
    "Played",
    "PolicySummary",
    "Profile",
    "Recording",
    "Summary",
    "bootstrap",
    "deviation_over_tasks",
    "difference",
    "greedy_episodes",
    "interquartile_mean",
    "mean_over_tasks",
    "performance_profile",
    "play_episodes",
    "play_greedy",
    "play_random",
    "pool_seeds",
    "pooled",
    "probability_of_improvement",
    "random_episodes",
    "record_greedy",
    "record_on_host",
    "record_random",
    "summarise",
    "summarise_played",
    "summary",
]
