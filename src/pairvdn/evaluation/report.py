"""Summaries of episodes: of one training seed, or pooled over several."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pairvdn.evaluation.play import Numbers, Played
from pairvdn.evaluation.statistics import Summary, summarise


@dataclasses.dataclass(frozen=True)
class PolicySummary:
    """Summaries of the returns, measures and shares of a policy.

    A summary is None if there was nothing to count. Measures are by name and moment.
    """

    returns: Summary
    measures: Mapping[str, Mapping[int, Summary | None]]
    shares: Mapping[str, Summary | None]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; moments become strings."""
        return {
            "return": self.returns._asdict(),
            "measures": {
                name: {str(moment): _to_dict(one) for moment, one in moments.items()}
                for name, moments in self.measures.items()
            },
            "shares": {name: _to_dict(one) for name, one in self.shares.items()},
        }

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> "PolicySummary":
        """The inverse of `to_dict`."""
        return PolicySummary(
            Summary(**plain["return"]),
            {
                name: {int(moment): _from_dict(one) for moment, one in moments.items()}
                for name, moments in plain["measures"].items()
            },
            {name: _from_dict(one) for name, one in plain["shares"].items()},
        )


def summary(episodes: Numbers) -> Summary | None:
    """A summary over episodes; None without episodes.

    The bootstrap has a fixed seed, so the same episodes give the same interval.
    """
    numbers = np.asarray(episodes, np.float64)
    return summarise(numbers, rng=np.random.default_rng(0)) if len(numbers) else None


def pooled(seeds: Sequence[Summary | None]) -> Summary | None:
    """A summary over the means of training seeds; a single seed keeps its own summary.

    An interval over episodes is about the mean of one trained value, an interval over seeds about
    the result of another training seed.
    """
    if len(seeds) == 1:
        return seeds[0]
    return summary(np.array([seed.mean for seed in seeds if seed is not None]))


def summarise_played(played: Played) -> PolicySummary:
    """Summaries over the episodes of one training seed, or of the random policy."""
    returns = summary(played.returns)
    assert returns is not None  # at least one episode was played
    return PolicySummary(
        returns,
        {
            name: {moment: summary(numbers) for moment, numbers in moments.items()}
            for name, moments in played.measures.items()
        },
        {name: summary(numbers) for name, numbers in played.shares.items()},
    )


def pool_seeds(seeds: Sequence[PolicySummary]) -> PolicySummary:
    """Summaries over training seeds, which must have the same measures."""
    first = seeds[0]
    returns = pooled([seed.returns for seed in seeds])
    assert returns is not None  # every seed has returns
    return PolicySummary(
        returns,
        {
            name: {
                moment: pooled([seed.measures[name][moment] for seed in seeds])
                for moment in moments
            }
            for name, moments in first.measures.items()
        },
        {name: pooled([seed.shares[name] for seed in seeds]) for name in first.shares},
    )


def _to_dict(one: Summary | None) -> dict[str, Any] | None:
    return None if one is None else one._asdict()


def _from_dict(plain: Mapping[str, Any] | None) -> Summary | None:
    return None if plain is None else Summary(**plain)
