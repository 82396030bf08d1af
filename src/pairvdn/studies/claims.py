"""The claims of a study: statements about its rows, each with the interval that decides it."""

import numpy as np

from pairvdn.evaluation import Estimate, deviation_over_tasks, difference, mean_over_tasks
from pairvdn.evaluation.statistics import Scores
from pairvdn.studies.study import Claim, Study
from pairvdn.studies.tables import Lines, Rows, at, estimated

_STATISTICS = {"mean": mean_over_tasks, "sd": deviation_over_tasks}


def claims_table(study: Study, rows: Rows) -> Lines:
    """Per claim: the compared rows, the difference with its interval, and the verdict.

    The row after the minus sign is the one that would refute the claim.
    """
    lines = [["claim", "compared", "number", "difference", "verdict"]]
    for text, claim in study.claims.items():
        found = judge(claim, rows)
        shown = "–" if found is None else estimated(found)
        compared = f"`{claim.row}` - `{claim.than}`"
        lines.append([text, compared, _number(claim), shown, verdict(found)])
    return lines


def judge(claim: Claim, rows: Rows) -> Estimate | None:
    """The difference of the claim's two rows, with its interval over training seeds.

    None if a row has no results, or fewer than the two seeds that an interval needs.
    """
    if claim.row not in rows or claim.than not in rows:
        return None
    mine, others = (_scores(rows, row, claim) for row in (claim.row, claim.than))
    if min(len(mine), len(others)) < 2:
        return None
    statistic = _STATISTICS[claim.statistic]
    return difference([mine], [others], statistic, rng=np.random.default_rng(0))


def verdict(found: Estimate | None) -> str:
    """`holds` if the whole interval is above 0, `the opposite holds` if it is below 0."""
    if found is None or found.low is None or found.high is None:
        return "not run"
    if found.low > 0:
        return "holds"
    return "the opposite holds" if found.high < 0 else "not shown"


def _scores(rows: Rows, row: str, claim: Claim) -> Scores:
    """One number for each seed of a row."""
    scores = np.array(at(rows[row], claim.path)["values"], np.float64)
    return scores - np.array(at(rows[row], claim.minus)["values"]) if claim.minus else scores


def _number(claim: Claim) -> str:
    paths = [path.removeprefix("measures.") for path in (claim.path, claim.minus) if path]
    return ("sd of " if claim.statistic == "sd" else "") + " - ".join(paths)
