"""Recorded episodes side by side, as pictures with captions, step by step."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Float, UInt8

from pairvdn.envs.scene import Scene
from pairvdn.evaluation import Recording
from pairvdn.runs.analysis.record import RecordedRun
from pairvdn.viewing import MissingPackageError
from pairvdn.viewing.canvas import BACKGROUND
from pairvdn.viewing.pairs import large_contribution, pairs_at
from pairvdn.viewing.raster import draw

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError as error:
    raise MissingPackageError(
        "Text on pictures needs Pillow: pip install 'pairvdn[view]'"
    ) from error

LINE_HEIGHT = 22  # pixels
_FONT_SIZE = 13
_MARGIN = 8
_INK, _MUTED, _BACKGROUND = (23, 27, 34), (90, 100, 114), (255, 255, 255)
_GAP = 12  # pixels between two episodes

Picture = UInt8[np.ndarray, "_ _ 3"]  # of any size: pictures are put together
Bounds = Float[np.ndarray, "4"]


class Shown(NamedTuple):
    """An episode and the title above it."""

    recording: Recording
    title: str


def shown_runs(runs: Sequence[RecordedRun], episode: int = 0) -> list[Shown]:
    """One episode of each run, under its method."""
    return [
        Shown(run.recordings[episode], f"{run.method}: {run.name}, epoch {run.epoch}")
        for run in runs
    ]


class Stage:
    """Draws a step of one or several episodes; an episode that has ended keeps its last picture.

    All episodes have one scale, and the visible area does not change.
    """

    def __init__(self, shown: Sequence[Shown], *, width: int = 640, most_height: int = 400) -> None:
        if not shown:
            raise ValueError("A stage needs at least one episode.")
        self.shown = list(shown)
        self.length = max(one.recording.length for one in shown)
        self._bounds = _whole_bounds(self.shown)
        self._large = [large_contribution(one.recording) for one in shown]
        left, bottom, right, top = self._bounds
        scale = min(width / (right - left), most_height / (top - bottom))
        # Films need even numbers.
        self._width, self._height = (
            2 * max(1, round(scale * extent / 2)) for extent in (right - left, top - bottom)
        )

    def picture(self, step: int) -> Picture:
        """The picture after `step` steps."""
        parts: list[Picture] = []
        for one, large in zip(self.shown, self._large, strict=True):
            if parts:
                parts.append(np.full((len(parts[0]), _GAP, 3), 255 * BACKGROUND, np.uint8))
            parts.append(self._part(one, min(step, one.recording.length), large))
        return np.concatenate(parts, axis=1)

    def _part(self, one: Shown, step: int, large: float) -> Picture:
        drawn = self._drawn(one.recording, step, large)
        return np.concatenate(
            [
                caption(one.title, self._width),
                drawn,
                caption(_numbers(one.recording, step), self._width, muted=True),
            ]
        )

    def _drawn(self, recording: Recording, step: int, large: float) -> Picture:
        """The scene with its pairs, or the recorded picture in the same size."""
        if recording.pictures is not None:
            image = Image.fromarray(recording.pictures[step])
            return np.asarray(image.resize((self._width, self._height)))
        scene: Scene = eqx.tree_at(lambda scene: scene.bounds, recording.scene(step), self._bounds)
        pairs = pairs_at(recording, step, large)
        return draw(scene, height=self._height, width=self._width, pairs=pairs)


def _numbers(recording: Recording, step: int) -> str:
    """The step, the return so far and, if there is one, the first measure."""
    parts = [f"step {step}", f"return {recording.returns[step]:.2f}"]
    for name, numbers in list(recording.frames.measures.items())[:1]:
        parts.append(f"{name.replace('_', ' ')} {numbers[step]:.2f}")
    return ", ".join(parts)


def _whole_bounds(shown: Sequence[Shown]) -> Bounds:
    """The area that contains the bounds of every frame of every episode."""
    every = np.concatenate([np.asarray(one.recording.frames.scene.bounds) for one in shown])
    return np.concatenate([every[:, :2].min(axis=0), every[:, 2:].max(axis=0)])


def caption(text: str, width: int, *, muted: bool = False) -> Picture:
    """One line of text in the font of Pillow, cut at the width; `muted` is less prominent."""
    image = Image.new("RGB", (width, LINE_HEIGHT), _BACKGROUND)
    shown = _fitting(" ".join(text.split()), width - 2 * _MARGIN)
    ImageDraw.Draw(image).text(
        (_MARGIN, LINE_HEIGHT / 2), shown, _MUTED if muted else _INK, _font(), anchor="lm"
    )
    return np.asarray(image)


def flowing(parts: Sequence[str], width: int) -> Picture:
    """Short muted texts, one after the other, in as many lines as they need."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]} | {part}"
        fits = _font().getlength(longer) <= width - 2 * _MARGIN
        lines = [*lines[:-1], longer] if fits else [*lines, part]
    return np.concatenate([caption(line, width, muted=True) for line in lines])


def _fitting(text: str, width: int) -> str:
    """The text, shortened with dots if it does not fit."""
    if _font().getlength(text) <= width:
        return text
    while text and _font().getlength(f"{text}...") > width:
        text = text[:-1]
    return f"{text}..."


@functools.cache
def _font() -> Any:
    return ImageFont.load_default(_FONT_SIZE)
