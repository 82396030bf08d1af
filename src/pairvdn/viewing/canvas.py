"""A canvas to paint shapes on, in plain NumPy: the same shapes give the same bytes.

Every shape is a signed distance d in pixels, negative inside. A pixel is covered by
clip(0.5 - d, 0, 1), the area of the pixel behind a straight edge at that distance: smooth edges
without supersampling.
"""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, UInt8

BACKGROUND = 1.0
_OUTLINE_WIDTH = 1.5  # pixels, inside the shape
_OUTLINE_SHADE = 0.6  # of the shape's colour, so that boxes in a stack are distinguishable

Numbers = Float[np.ndarray, "..."]
Colour = Numbers | Sequence[float]  # red, green, blue from 0 to 1


class Canvas(NamedTuple):
    """Pixels from 0 to 1, and the map from the world to them: x to the right, y UP to row 0.

    Shapes are painted at positions in the picture, (column, row), from `to_pixels`.
    """

    pixels: Float[np.ndarray, "h w 3"]
    scale: float  # pixels per unit of the world
    origin: Float[np.ndarray, "2"]  # position of the world's (0, 0) in the picture

    @staticmethod
    def blank(bounds: Float[np.ndarray, "4"], height: int, width: int) -> "Canvas":
        """A white canvas; the bounds (left, bottom, right, top) fit undistorted and centred."""
        left, bottom, right, top = bounds
        scale = min(width / (right - left), height / (top - bottom))
        middle = np.array([left + right, -(bottom + top)]) / 2
        origin = np.array([width, height]) / 2 - scale * middle
        return Canvas(np.full((height, width, 3), BACKGROUND), float(scale), origin)

    def picture(self) -> UInt8[np.ndarray, "h w 3"]:
        """The painted pixels as bytes."""
        return np.round(self.pixels * 255).astype(np.uint8)

    def to_pixels(self, points: Numbers) -> Numbers:
        """Positions in the picture, (column, row), of positions in the world."""
        flipped: Numbers = np.asarray(points, np.float64) * np.array([1.0, -1.0])
        return self.origin + self.scale * flipped

    def rectangle(self, centre: Numbers, half: Numbers, angle: float, colour: Colour) -> None:
        """Fill a rectangle of half width and half height `half`, turned counter-clockwise."""
        reach = np.hypot(*half)
        rows, columns, x, y = self._window(centre - reach, centre + reach)
        dx, dy = x - centre[0], centre[1] - y  # y up, so that angles turn counter-clockwise
        along = np.abs(np.cos(angle) * dx + np.sin(angle) * dy) - half[0]
        across = np.abs(np.cos(angle) * dy - np.sin(angle) * dx) - half[1]
        outside = np.hypot(np.maximum(along, 0), np.maximum(across, 0))
        self._fill(rows, columns, outside + np.minimum(np.maximum(along, across), 0), colour)

    def circle(self, centre: Numbers, radius: float, colour: Colour) -> None:
        """Fill a circle."""
        rows, columns, x, y = self._window(centre - radius, centre + radius)
        self._fill(rows, columns, np.hypot(x - centre[0], y - centre[1]) - radius, colour)

    def ring(self, centre: Numbers, radius: float, width: float, colour: Colour) -> None:
        """A circle's outline."""
        rows, columns, x, y = self._window(centre - radius - width, centre + radius + width)
        distance = np.abs(np.hypot(x - centre[0], y - centre[1]) - radius) - width / 2
        self._paint(rows, columns, distance, colour)

    def line(self, points: Float[np.ndarray, "k 2"], width: float, colour: Colour) -> None:
        """A line through all points, piece by piece, since each piece covers few pixels."""
        for start, end in itertools.pairwise(points):
            low, high = np.minimum(start, end) - width, np.maximum(start, end) + width
            rows, columns, x, y = self._window(low, high)
            span = end - start
            length = max(float(span @ span), 1e-12)  # a line without length is a dot
            along = np.clip(((x - start[0]) * span[0] + (y - start[1]) * span[1]) / length, 0, 1)
            distance = np.hypot(x - start[0] - along * span[0], y - start[1] - along * span[1])
            self._paint(rows, columns, distance - width / 2, colour)

    def _window(self, low: Numbers, high: Numbers) -> tuple[slice, slice, Numbers, Numbers]:
        """Rows and columns between two corners, with the centres of those pixels."""
        height, width, _ = self.pixels.shape
        columns, rows = (
            # NumPy is slow for single numbers.
            slice(
                min(max(math.floor(low[axis]) - 1, 0), size),
                min(max(math.ceil(high[axis]) + 1, 0), size),
            )
            for axis, size in enumerate((width, height))
        )
        x = np.arange(columns.start, columns.stop)[None, :] + 0.5
        y = np.arange(rows.start, rows.stop)[:, None] + 0.5
        return rows, columns, x, y

    def _paint(self, rows: slice, columns: slice, distance: Numbers, colour: Colour) -> None:
        """Cover the inside of a shape with a colour."""
        cover = np.clip(0.5 - distance, 0, 1)[:, :, None]
        seen = self.pixels[rows, columns]
        self.pixels[rows, columns] = seen + cover * (np.asarray(colour) - seen)

    def _fill(self, rows: slice, columns: slice, distance: Numbers, colour: Colour) -> None:
        """Paint a shape with an outline in a darker shade of its colour."""
        self._paint(rows, columns, distance, _OUTLINE_SHADE * np.asarray(colour))
        self._paint(rows, columns, distance + _OUTLINE_WIDTH, colour)
