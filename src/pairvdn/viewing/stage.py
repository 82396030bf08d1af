"""Recorded episodes side by side, as pictures step by step."""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Float, UInt8

from pairvdn.envs.scene import Scene
from pairvdn.evaluation import Recording
from pairvdn.runs.analysis.record import RecordedRun
from pairvdn.viewing.canvas import BACKGROUND
from pairvdn.viewing.captions import caption
from pairvdn.viewing.pairs import large_contribution, pairs_at
from pairvdn.viewing.raster import draw

_GAP = 12  # pixels between two episodes

Picture = UInt8[np.ndarray, "_ _ 3"]  # any sizes: pictures are put together
Bounds = Float[np.ndarray, "4"]


class Shown(NamedTuple):
    """An episode, and what to write above it."""

    recording: Recording
    title: str


def shown_runs(runs: Sequence[RecordedRun], episode: int = 0) -> list[Shown]:
    """One episode of each run, under its method."""
    return [
        Shown(run.recordings[episode], f"{run.method}: {run.name}, epoch {run.epoch}")
        for run in runs
    ]


class Stage:
    """Draws a step of one or several episodes; one that has ended stands still.

    All are drawn at one scale, and what is visible does not change during an episode.
    """

    def __init__(self, shown: Sequence[Shown], *, width: int = 640, most_height: int = 400) -> None:
        if not shown:
            raise ValueError("There must be at least one episode to show.")
        self.shown = list(shown)
        self.length = max(one.recording.length for one in shown)
        self._bounds = _whole_bounds(self.shown)
        self._large = [large_contribution(one.recording) for one in shown]
        left, bottom, right, top = self._bounds
        scale = min(width / (right - left), most_height / (top - bottom))
        # Even numbers, as films need them.
        self._width, self._height = (
            2 * max(1, round(scale * extent / 2)) for extent in (right - left, top - bottom)
        )

    def picture(self, step: int) -> Picture:
        """What there is after so many steps."""
        parts: list[Picture] = []
        for one, large in zip(self.shown, self._large, strict=True):
            if parts:
                parts.append(np.full((len(parts[0]), _GAP, 3), 255 * BACKGROUND, np.uint8))
            parts.append(self._part(one, min(step, one.recording.length), large))
        return np.concatenate(parts, axis=1)

    def _part(self, one: Shown, step: int, large: float) -> Picture:
        scene: Scene = eqx.tree_at(
            lambda scene: scene.bounds, one.recording.scene(step), self._bounds
        )
        pairs = pairs_at(one.recording, step, large)
        drawn = draw(scene, height=self._height, width=self._width, pairs=pairs)
        return np.concatenate(
            [
                caption(one.title, self._width),
                drawn,
                caption(_numbers(one.recording, step), self._width, muted=True),
            ]
        )


def _numbers(recording: Recording, step: int) -> str:
    """The step, the return so far and, where there is one, the first measure."""
    parts = [f"step {step}", f"return {recording.returns[step]:.2f}"]
    for name, numbers in list(recording.frames.measures.items())[:1]:
        parts.append(f"{name.replace('_', ' ')} {numbers[step]:.2f}")
    return ", ".join(parts)


def _whole_bounds(shown: Sequence[Shown]) -> Bounds:
    """What is visible in any frame of any episode."""
    every = np.concatenate([np.asarray(one.recording.frames.scene.bounds) for one in shown])
    return np.concatenate([every[:, :2].min(axis=0), every[:, 2:].max(axis=0)])
