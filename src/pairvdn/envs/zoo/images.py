"""Pictures made small: the mean of the pixels below each new one."""

import numpy as np
from jaxtyping import Float32, UInt8


def is_image(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether an array is a picture: bytes, height x width, or height x width x channels."""
    return dtype == np.uint8 and (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3, 4)))


class Shrink:
    """From a picture of bytes to numbers from 0 to 1, at most `size` of them, grey if so wished.

    A new pixel is the mean of the area that it covers, parts of old pixels included, so any size up
    to the old one will do. A fourth channel, which says how opaque a pixel is, is left out.
    """

    def __init__(self, shape: tuple[int, ...], size: tuple[int, int] | None, *, grey: bool) -> None:
        height, width = shape[:2]
        rows, columns = (height, width) if size is None else size
        if not (1 <= rows <= height and 1 <= columns <= width):
            raise ValueError(
                f"image_size must be from 1,1 to {height},{width}, the size of the images; "
                f"it is {rows},{columns}."
            )
        self._rows, self._columns = _means(height, rows), _means(width, columns).T
        self._channels = 1 if len(shape) == 2 else min(shape[2], 3)
        self._grey = grey
        self.size = rows * columns * (1 if grey else self._channels)

    def __call__(self, image: UInt8[np.ndarray, "..."]) -> Float32[np.ndarray, " size"]:
        """The picture as one line of numbers, row by row."""
        channels = image[:, :, None] if image.ndim == 2 else image[:, :, : self._channels]
        planes = np.moveaxis(channels, 2, 0)
        if self._grey:
            planes = planes.mean(axis=0, dtype=np.float32, keepdims=True)
        small: np.ndarray = self._rows @ planes.astype(np.float32) @ self._columns
        return np.moveaxis(small, 0, 2).reshape(-1) / np.float32(255)


def _means(old: int, new: int) -> Float32[np.ndarray, "new old"]:
    """How much each of `old` pixels counts in each of `new` ones."""
    edges = np.linspace(0, old, new + 1)
    start = np.maximum(edges[:-1, None], np.arange(old)[None])
    end = np.minimum(edges[1:, None], np.arange(1, old + 1)[None])
    share: np.ndarray = np.maximum(end - start, 0) * new / old
    return share.astype(np.float32)
