"""A scene as an array of pixels: the same scene gives the same bytes."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, UInt8

from pairvdn.checks import require_at_least
from pairvdn.envs.scene import Circles, Lines, Rectangles, Scene
from pairvdn.viewing.canvas import Canvas
from pairvdn.viewing.pairs import Pair, draw_pairs

_LINE_WIDTH = 1.5  # pixels
_RING_COLOUR = (0.478, 0.239, 0.941)  # of the selection on the watch page
_RING_WIDTH = 2.5

Point = Float[np.ndarray, "2"]


def draw(
    scene: Scene,
    *,
    height: int = 480,
    width: int = 640,
    pairs: Sequence[Pair] = (),
    ringed: int | None = None,
) -> UInt8[np.ndarray, "h w 3"]:
    """Draw one scene; its bounds fit into the picture, undistorted and centred.

    `pairs` of agents and a ring around the agent `ringed` are drawn over it.
    """
    require_at_least(1, height=height, width=width)
    canvas = Canvas.blank(np.asarray(scene.bounds, np.float64), height, width)
    if scene.rectangles is not None:
        _draw_rectangles(canvas, scene.rectangles)
    if scene.circles is not None:
        _draw_circles(canvas, scene.circles)
    if scene.lines is not None:
        _draw_lines(canvas, scene.lines)
    if pairs or ringed is not None:
        places = agent_places(scene)
        draw_pairs(canvas, pairs, {agent: place for agent, (place, _) in places.items()})
        if ringed in places:
            _draw_ring(canvas, *places[ringed])
    return canvas.picture()


def agent_places(scene: Scene) -> dict[int, tuple[Point, float]]:
    """Position and radius of each visible agent, in the world."""
    places: dict[int, tuple[Point, float]] = {}
    for shapes in (scene.rectangles, scene.circles):
        if shapes is None:
            continue
        sizes = shapes.radius if isinstance(shapes, Circles) else np.min(shapes.size, axis=1) / 2
        columns = map(np.asarray, (shapes.agent, shapes.centre, sizes))
        for agent, centre, size in zip(*columns, strict=True):
            if agent >= 0 and size > 0:
                places.setdefault(int(agent), (np.asarray(centre, np.float64), float(size)))
    return places


def _draw_rectangles(canvas: Canvas, shapes: Rectangles) -> None:
    centres = canvas.to_pixels(np.asarray(shapes.centre))
    halves = canvas.scale * np.asarray(shapes.size, np.float64) / 2
    colours = np.asarray(shapes.colour, np.float64)
    for centre, half, angle, colour in zip(
        centres, halves, np.asarray(shapes.angle), colours, strict=True
    ):
        canvas.rectangle(centre, half, float(angle), colour)


def _draw_circles(canvas: Canvas, shapes: Circles) -> None:
    centres = canvas.to_pixels(np.asarray(shapes.centre))
    radii = canvas.scale * np.asarray(shapes.radius, np.float64)
    colours = np.asarray(shapes.colour, np.float64)
    for centre, radius, colour in zip(centres, radii, colours, strict=True):
        canvas.circle(centre, float(radius), colour)


def _draw_lines(canvas: Canvas, shapes: Lines) -> None:
    ends = np.stack([np.asarray(shapes.start), np.asarray(shapes.end)], axis=1)
    colours = np.asarray(shapes.colour, np.float64)
    for points, colour in zip(canvas.to_pixels(ends), colours, strict=True):
        canvas.line(points, _LINE_WIDTH, colour)


def _draw_ring(canvas: Canvas, centre: Point, radius: float) -> None:
    # Up to the corner of a square, so that a turning box stays inside.
    around = np.sqrt(2) * canvas.scale * radius + _RING_WIDTH
    canvas.ring(canvas.to_pixels(centre), around, _RING_WIDTH, _RING_COLOUR)
