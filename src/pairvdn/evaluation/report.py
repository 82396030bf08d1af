"""Episodes of trained seeds and of the random policy, summed up as plain data for JSON."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pairvdn.evaluation.play import Numbers, Played
from pairvdn.evaluation.statistics import summarise


def report(seeds: Sequence[Played], random: Played) -> dict[str, Any]:
    """Return, random return, what the interval is over, and everything extra.

    With one training seed the values are episodes, and the interval says how sure the mean of this
    one trained value is. With several, the values are the means of the seeds, and the interval says
    what another training seed would give. The random policy's values are always episodes. Resamples
    are drawn with a fixed seed, so the same episodes give the same interval.
    """
    return {
        "return": summary([one.returns for one in seeds]),
        "random": summary([random.returns]),
        "interval_over": "episodes" if len(seeds) == 1 else "seeds",
        "extra": {**_extra(seeds), "random": _extra([random])},
    }


def summary(seeds: Sequence[Numbers]) -> dict[str, Any] | None:
    """Mean, sd, interval and values over episodes of one seed, or over the means of several.

    None where there is nothing: a share of things that never happened.
    """
    counted = [np.asarray(numbers, np.float64) for numbers in seeds if len(numbers)]
    if not counted:
        return None
    scores = counted[0] if len(seeds) == 1 else np.array([one.mean() for one in counted])
    return summarise(scores, rng=np.random.default_rng(0))._asdict()


def _extra(seeds: Sequence[Played]) -> dict[str, Any]:
    """Measures as name -> moment -> summary, shares as name -> summary."""
    first = seeds[0]
    measures = {
        name: {
            str(moment): summary([one.measures[name][moment] for one in seeds])
            for moment in moments
        }
        for name, moments in first.measures.items()
    }
    shares = {name: summary([one.shares[name] for one in seeds]) for name in first.shares}
    return {"measures": measures, "shares": shares}
