"""From values to actions: policies with a carry, exploration, action repeat, rollouts."""

from pairvdn.acting.exploration import Exploration, LinearEpsilon, SpreadEpsilon
from pairvdn.acting.policy import (
    Actor,
    EpsilonGreedyPolicy,
    GreedyPolicy,
    PersonPolicy,
    Policy,
    RandomPolicy,
    run_networks,
    side_by_side,
)
from pairvdn.acting.rollout import Observer, rollout

__all__ = [
    "Actor",
    "EpsilonGreedyPolicy",
    "Exploration",
    "GreedyPolicy",
    "LinearEpsilon",
    "Observer",
    "PersonPolicy",
    "Policy",
    "RandomPolicy",
    "SpreadEpsilon",
    "rollout",
    "run_networks",
    "side_by_side",
]
