"""Many arrays as one short text that a browser can unpack.

Numbers become whole numbers: x is stored as round(x · 10^d), with d decimals chosen for each array
so that its largest number has a wanted number of digits. These decimals are what the page shows, so
it shows what was recorded. The text is short because most numbers change little from step to step:

1. an array that never changes is kept once;
2. otherwise each row is kept as its difference from the one before, modulo 2^32;
3. the four bytes of the differences are kept apart, as most high ones are 0 or 255;
4. everything together is deflated (zlib), and written in base 64.
"""

import base64
import dataclasses
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Int32

MOST_DECIMALS = 6
# Where there is no number. All others stay far below.
NOT_A_NUMBER, INFINITE = -(2**31), 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Packed:
    """The text, and where in it each array is."""

    directory: dict[str, dict[str, Any]]
    text: str


def pack(arrays: dict[str, np.ndarray], digits: Callable[[str], int]) -> Packed:
    """Pack arrays whose first axis is time, with so many digits for the largest number of each.

    The same arrays give the same text.
    """
    directory: dict[str, dict[str, Any]] = {}
    parts: list[bytes] = []
    place = 0
    for name, array in arrays.items():
        decimals = _decimals(array, digits(name))
        whole = _whole(array, decimals)
        still = len(whole) > 1 and bool((whole == whole[:1]).all())
        kept = whole[:1] if still else whole
        directory[name] = {
            "at": place,
            "shape": list(array.shape),
            "decimals": decimals,
            "still": still,
        }
        parts.append(_bytes_apart(_differences(kept)))
        place += len(parts[-1])
    return Packed(directory, base64.b64encode(zlib.compress(b"".join(parts), 9)).decode("ascii"))


def _decimals(array: np.ndarray, digits: int) -> int:
    """How many decimals give the largest number so many digits; none for whole numbers."""
    if array.dtype.kind != "f":
        return 0
    finite = np.abs(array[np.isfinite(array)], dtype=np.float64)
    largest = float(finite.max(initial=0.0))
    if largest == 0.0 or bool((finite == np.rint(finite)).all() and largest < 10**digits):
        return 0
    before_point = int(np.floor(np.log10(largest))) + 1
    return int(np.clip(digits - before_point, 0, MOST_DECIMALS))


def _whole(array: np.ndarray, decimals: int) -> Int32[np.ndarray, "..."]:
    numbers = array.astype(np.float64) * 10.0**decimals
    limited = np.clip(np.rint(np.nan_to_num(numbers)), 1 - 2**31, 2**31 - 2)
    limited = np.where(np.isnan(numbers), NOT_A_NUMBER, limited)
    limited = np.where(np.isposinf(numbers), INFINITE, limited)
    return np.where(np.isneginf(numbers), -INFINITE, limited).astype(np.int32)


def _differences(rows: Int32[np.ndarray, "..."]) -> Int32[np.ndarray, "..."]:
    """The first row, then what each adds to the one before; sums wrap around."""
    before = np.concatenate([np.zeros_like(rows[:1]), rows[:-1]])
    differences: np.ndarray = (rows.astype(np.int64) - before).astype(np.uint32)
    return differences.view(np.int32)


def _bytes_apart(numbers: Int32[np.ndarray, "..."]) -> bytes:
    """All lowest bytes, then all second ones, and so on."""
    little_endian = np.ascontiguousarray(numbers, "<i4").view(np.uint8)
    return np.ascontiguousarray(little_endian.reshape(-1, 4).T).tobytes()
