"""From policies to numbers."""

from pairvdn.evaluation.rollout import Episodes, greedy_episodes, random_episodes

__all__ = ["Episodes", "greedy_episodes", "random_episodes"]
