"""A scene as an array of pixels, in plain NumPy: the same scene gives the same bytes.

Every shape is a signed distance d in pixels, negative inside. A pixel is covered by
clip(0.5 - d, 0, 1), which is the area of the pixel behind a straight edge at that distance: smooth
edges without drawing anything twice.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, UInt8

from pairvdn.envs.scene import Circles, Lines, Rectangles, Scene

BACKGROUND = 1.0
_LINE_WIDTH = 1.5  # pixels
_OUTLINE_WIDTH = 1.5  # pixels, inside the shape
_OUTLINE_SHADE = 0.6  # of the shape's colour, so that boxes in a stack can be told apart

Numbers = Float[np.ndarray, "..."]


def draw(scene: Scene, *, height: int = 480, width: int = 640) -> UInt8[np.ndarray, "h w 3"]:
    """Draw one scene; what is in its bounds fits into the picture undistorted, in the middle."""
    if height < 1 or width < 1:
        raise ValueError(f"height and width must be at least 1; they are {height} and {width}.")
    canvas = _Canvas.blank(np.asarray(scene.bounds, np.float64), height, width)
    if scene.rectangles is not None:
        _draw_rectangles(canvas, scene.rectangles)
    if scene.circles is not None:
        _draw_circles(canvas, scene.circles)
    if scene.lines is not None:
        _draw_lines(canvas, scene.lines)
    return np.round(canvas.pixels * 255).astype(np.uint8)


class _Canvas(NamedTuple):
    """Pixels from 0 to 1, and how the world maps to them: x to the right, y UP to row 0."""

    pixels: Float[np.ndarray, "h w 3"]
    scale: float  # pixels per unit of the world
    origin: Float[np.ndarray, "2"]  # where in the picture the world's (0, 0) is

    @staticmethod
    def blank(bounds: Float[np.ndarray, "4"], height: int, width: int) -> "_Canvas":
        left, bottom, right, top = bounds
        scale = min(width / (right - left), height / (top - bottom))
        middle = np.array([left + right, -(bottom + top)]) / 2
        origin = np.array([width, height]) / 2 - scale * middle
        return _Canvas(np.full((height, width, 3), BACKGROUND), float(scale), origin)

    def to_pixels(self, points: Numbers) -> Numbers:
        """Places in the picture, (column, row), of places in the world."""
        flipped: Numbers = np.asarray(points, np.float64) * np.array([1.0, -1.0])
        return self.origin + self.scale * flipped

    def window(self, low: Numbers, high: Numbers) -> tuple[slice, slice, Numbers, Numbers]:
        """Rows and columns between two corners, with the centres of those pixels."""
        rows, columns = (
            slice(
                int(np.clip(np.floor(low[axis]) - 1, 0, size)),
                int(np.clip(np.ceil(high[axis]) + 1, 0, size)),
            )
            for axis, size in ((1, self.pixels.shape[0]), (0, self.pixels.shape[1]))
        )
        x = np.arange(columns.start, columns.stop)[None, :] + 0.5
        y = np.arange(rows.start, rows.stop)[:, None] + 0.5
        return rows, columns, x, y

    def paint(self, rows: slice, columns: slice, distance: Numbers, colour: Numbers) -> None:
        """Cover the inside of a shape with a colour."""
        cover = np.clip(0.5 - distance, 0, 1)[:, :, None]
        seen = self.pixels[rows, columns]
        self.pixels[rows, columns] = seen + cover * (colour - seen)

    def fill(self, rows: slice, columns: slice, distance: Numbers, colour: Numbers) -> None:
        """Paint a shape with an outline in a darker shade of its colour."""
        self.paint(rows, columns, distance, _OUTLINE_SHADE * colour)
        self.paint(rows, columns, distance + _OUTLINE_WIDTH, colour)


def _draw_rectangles(canvas: _Canvas, shapes: Rectangles) -> None:
    centres = canvas.to_pixels(np.asarray(shapes.centre))
    halves = canvas.scale * np.asarray(shapes.size, np.float64) / 2
    colours = np.asarray(shapes.colour, np.float64)
    for centre, half, angle, colour in zip(
        centres, halves, np.asarray(shapes.angle), colours, strict=True
    ):
        reach = np.hypot(*half)
        rows, columns, x, y = canvas.window(centre - reach, centre + reach)
        dx, dy = x - centre[0], centre[1] - y  # y up, so that angles turn counter-clockwise
        along = np.abs(np.cos(angle) * dx + np.sin(angle) * dy) - half[0]
        across = np.abs(np.cos(angle) * dy - np.sin(angle) * dx) - half[1]
        outside = np.hypot(np.maximum(along, 0), np.maximum(across, 0))
        canvas.fill(rows, columns, outside + np.minimum(np.maximum(along, across), 0), colour)


def _draw_circles(canvas: _Canvas, shapes: Circles) -> None:
    centres = canvas.to_pixels(np.asarray(shapes.centre))
    radii = canvas.scale * np.asarray(shapes.radius, np.float64)
    colours = np.asarray(shapes.colour, np.float64)
    for centre, radius, colour in zip(centres, radii, colours, strict=True):
        rows, columns, x, y = canvas.window(centre - radius, centre + radius)
        canvas.fill(rows, columns, np.hypot(x - centre[0], y - centre[1]) - radius, colour)


def _draw_lines(canvas: _Canvas, shapes: Lines) -> None:
    starts = canvas.to_pixels(np.asarray(shapes.start))
    ends = canvas.to_pixels(np.asarray(shapes.end))
    colours = np.asarray(shapes.colour, np.float64)
    for start, end, colour in zip(starts, ends, colours, strict=True):
        low, high = np.minimum(start, end) - _LINE_WIDTH, np.maximum(start, end) + _LINE_WIDTH
        rows, columns, x, y = canvas.window(low, high)
        span = end - start
        length = max(float(span @ span), 1e-12)  # a line without length is a dot
        along = np.clip(((x - start[0]) * span[0] + (y - start[1]) * span[1]) / length, 0, 1)
        distance = np.hypot(x - start[0] - along * span[0], y - start[1] - along * span[1])
        canvas.paint(rows, columns, distance - _LINE_WIDTH / 2, colour)
