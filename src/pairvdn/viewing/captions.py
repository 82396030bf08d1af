"""Lines of text as pixels, in the small font that comes with Pillow: the same on every machine."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import UInt8

from pairvdn.viewing import MissingPackageError

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


def caption(text: str, width: int, *, muted: bool = False) -> UInt8[np.ndarray, "h w 3"]:
    """One line of text, cut where the picture ends; `muted` is for what matters less."""
    image = Image.new("RGB", (width, LINE_HEIGHT), _BACKGROUND)
    shown = _fitting(" ".join(text.split()), width - 2 * _MARGIN)
    ImageDraw.Draw(image).text(
        (_MARGIN, LINE_HEIGHT / 2), shown, _MUTED if muted else _INK, _font(), anchor="lm"
    )
    return np.asarray(image)


def flowing(parts: Sequence[str], width: int) -> UInt8[np.ndarray, "h w 3"]:
    """Short texts that matter less, one after the other, in as many lines as they need."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]} | {part}"
        fits = _font().getlength(longer) <= width - 2 * _MARGIN
        lines = [*lines[:-1], longer] if fits else [*lines, part]
    return np.concatenate([caption(line, width, muted=True) for line in lines])


def _fitting(text: str, width: int) -> str:
    """The text, or as much of its start as fits with dots after it."""
    if _font().getlength(text) <= width:
        return text
    while text and _font().getlength(f"{text}...") > width:
        text = text[:-1]
    return f"{text}..."


@functools.cache
def _font() -> Any:
    return ImageFont.load_default(_FONT_SIZE)
