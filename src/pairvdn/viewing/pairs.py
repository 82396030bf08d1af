"""Pairs of agents as curves over a scene, as on the page of `pairvdn watch`.

Width and colour show the contribution of a pair to the value: blue positive, orange negative, grey
none. A diamond marks pairs in which an agent departs from its additive choice, to the team's gain.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from pairvdn.evaluation import Explanation, Recording
from pairvdn.viewing.canvas import BACKGROUND, Canvas

LESS, NEUTRAL, MORE = (  # safe for the colour-blind
    np.array(colour) / 255 for colour in ((196, 86, 10), (185, 191, 200), (23, 99, 173))
)
_INK = np.array([0.09, 0.106, 0.133])
_BULGE = 0.18  # of the length, so that i-j and j-i are two curves
_SEGMENT = 12.0  # pixels of a curve that are drawn straight
_LEAST_WIDTH, _MORE_WIDTH = 1.0, 3.0  # pixels
_MARK = 4.0  # pixels from the middle of a diamond to its corners

Point = Float[np.ndarray, "2"]


class Pair(NamedTuple):
    """Two agents, their contribution as a share of a large one, and whether they coordinate."""

    first: int
    second: int
    share: float
    coordinated: bool


def pairs_at(recording: Recording, step: int, large: float) -> list[Pair]:
    """The pairs of the agent step of a step; none for methods without pairs."""
    moment = min(step, recording.length - 1)
    explanation = recording.explanation(moment)
    return [] if explanation is None else pairs_of(explanation, recording.actions[moment], large)


def pairs_of(explanation: Explanation, actions: Int[np.ndarray, " n"], large: float) -> list[Pair]:
    """The pairs behind a joint action; `large` is the contribution of full width and colour."""
    if explanation.edges is None or explanation.payoffs is None or explanation.additive is None:
        return []
    edges = np.asarray(explanation.edges)
    shares = np.nan_to_num(contributions(explanation, actions) / large)
    coordinated = np.asarray(explanation.additive.coordinated)[edges].any(axis=1)
    return [
        Pair(int(i), int(j), float(share), bool(together))
        for (i, j), share, together in zip(edges, shares.clip(-1, 1), coordinated, strict=True)
        if i != j
    ]


def large_contribution(recording: Recording) -> float:
    """The contribution with full width and colour: the 0.9 quantile of an episode."""
    choices = range(0, recording.length, recording.action_repeat)
    explanations = [(recording.explanation(step), recording.actions[step]) for step in choices]
    sizes = [abs(contributions(one, actions)) for one, actions in explanations if one is not None]
    known = np.concatenate(sizes)[~np.isnan(np.concatenate(sizes))] if sizes else np.zeros(0)
    return float(np.quantile(known, 0.9) or known.max() or 1.0) if known.size else 1.0


def contributions(
    explanation: Explanation, actions: Int[np.ndarray, " n"]
) -> Float[np.ndarray, " e"]:
    """payoffs[e, a_i, a_j] of every pair e = (i, j); NaN if an agent had no action."""
    if explanation.edges is None or explanation.payoffs is None:
        return np.zeros(0)
    edges, payoffs = np.asarray(explanation.edges), np.asarray(explanation.payoffs, np.float64)
    chosen = actions[edges]
    payoff = payoffs[np.arange(len(edges)), chosen[:, 0], chosen[:, 1]]
    return np.where((chosen >= 0).all(axis=1), payoff, np.nan)


def draw_pairs(canvas: Canvas, pairs: Iterable[Pair], places: Mapping[int, Point]) -> None:
    """Draw the pairs of visible agents, the strongest last, and diamonds over all."""
    seen = [pair for pair in pairs if pair.first in places and pair.second in places]
    known = {(pair.first, pair.second) for pair in seen}
    curves = {
        pair: _curve(
            *(canvas.to_pixels(places[agent]) for agent in (pair.first, pair.second)),
            flipped=pair.first > pair.second and (pair.second, pair.first) in known,
        )
        for pair in sorted(seen, key=lambda pair: abs(pair.share))
    }
    for pair, curve in curves.items():
        strength = np.sqrt(abs(pair.share))  # so that small ones are visible
        width = _LEAST_WIDTH + _MORE_WIDTH * strength
        canvas.line(curve, width + 1.5, np.full(3, BACKGROUND))
        towards = MORE if pair.share > 0 else LESS
        canvas.line(curve, width, NEUTRAL + strength * (towards - NEUTRAL))
    for pair, curve in curves.items():
        if pair.coordinated:
            _draw_diamond(canvas, curve[len(curve) // 2])


def _curve(start: Point, end: Point, *, flipped: bool) -> Float[np.ndarray, "k 2"]:
    """Points of a curve that bulges upwards, or downwards if it is `flipped`."""
    dx, dy = end - start
    side = (-1 if dx < 0 else 1) * (-1 if flipped else 1)
    control = (start + end) / 2 + 2 * _BULGE * side * np.array([dy, -dx])
    # An even number of segments has a point in the middle.
    segments = 2 * max(2, round(float(np.hypot(dx, dy)) / (2 * _SEGMENT)))
    share = np.linspace(0, 1, segments + 1)[:, None]
    curve: Float[np.ndarray, "k 2"] = (
        (1 - share) ** 2 * start + 2 * share * (1 - share) * control + share**2 * end
    )
    return curve


def _draw_diamond(canvas: Canvas, centre: Point) -> None:
    half = np.full(2, _MARK / np.sqrt(2))
    canvas.rectangle(centre, half + 1, np.pi / 4, _INK)
    canvas.rectangle(centre, half - 0.5, np.pi / 4, np.full(3, BACKGROUND))
