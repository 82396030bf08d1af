"""Images made small: each new pixel is the mean of those below it."""

import numpy as np
from jaxtyping import Float32, UInt8


def is_image(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether an array is an image: bytes, height x width, or height x width x channels."""
    return dtype == np.uint8 and (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3, 4)))


class Shrink:
    """From an image of bytes to numbers from 0 to 1, `size` of them, grey on request.

    A new pixel is the mean of the area that it covers, parts of old pixels included, so any size up
    to the old one will do. A fourth channel, the opacity, is left out.
    """

    def __init__(self, shape: tuple[int, ...], size: tuple[int, int] | None, *, grey: bool) -> None:
        height, width = shape[:2]
        rows, columns = (height, width) if size is None else size
        if not (1 <= rows <= height and 1 <= columns <= width):
            raise ValueError(
                f"image_size must be from 1,1 to {height},{width}, the size of the images; "
                f"it is {rows},{columns}."
            )
        self._rows = np.linspace(0, height, rows + 1)
        self._columns = np.linspace(0, width, columns + 1)
        self._channels = 1 if len(shape) == 2 else min(shape[2], 3)
        self._grey = grey
        self.size = rows * columns * (1 if grey else self._channels)

    def __call__(self, image: UInt8[np.ndarray, "..."]) -> Float32[np.ndarray, " size"]:
        """The image as one line of numbers, row by row."""
        low = _means(np.ascontiguousarray(image).reshape(len(image), -1), self._rows)
        low = low.reshape(len(low), image.shape[1], -1).swapaxes(0, 1)  # columns, rows, channels
        small = _means(low.reshape(len(low), -1), self._columns)
        small = small.reshape(len(small), len(self._rows) - 1, -1).swapaxes(0, 1)
        seen = small[:, :, : self._channels]
        if self._grey:
            seen = seen.mean(axis=2)
        return seen.reshape(-1) / np.float32(255)


def _means(lines: np.ndarray, edges: np.ndarray) -> Float32[np.ndarray, "new length"]:
    """The mean of the lines between each two edges, those that an edge cuts in part.

    Whole lines are summed up as they are, bytes; a product with a matrix of shares would turn all
    into floats first, which takes ten times as long.
    """
    whole = np.floor(edges).astype(np.int64)
    kind = np.uint32 if lines.dtype == np.uint8 else np.float32
    sums = np.add.reduceat(lines, whole[:-1], axis=0, dtype=kind).astype(np.float32)
    parts = (edges - whole).astype(np.float32)[:, None]
    cut = lines[np.minimum(whole, len(lines) - 1)] * parts
    totals: np.ndarray = sums - cut[:-1] + cut[1:]
    return totals * np.float32((len(edges) - 1) / len(lines))
