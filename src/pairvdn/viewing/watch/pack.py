"""Recordings as named arrays, and arrays as one short text that a browser can unpack.

Numbers become integers: x is stored as round(x · 10^d), with d decimals chosen for each array so
that its largest number has a given number of digits. The page shows exactly these decimals. The
text is short because most numbers change little from step to step:

1. an array that never changes is stored once;
2. otherwise each row is stored as its difference from the row before, modulo 2^32;
3. the four bytes of the differences are stored separately: most high bytes are 0 or 255;
4. everything together is deflated (zlib) and encoded in base 64.
"""

import base64
import dataclasses
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Int32

from pairvdn.evaluation import Recording

MOST_DECIMALS = 6
# Stored for numbers that are not finite; all others are far smaller.
NOT_A_NUMBER, INFINITE = -(2**31), 2**31 - 1


def named_arrays(recording: Recording) -> dict[str, np.ndarray]:
    """Every array of a recording by its path, such as `scene.circles.centre`.

    The first axis is frames or agent steps. Arrays that a method or an environment lacks are left
    out.
    """
    frames, explanations = recording.frames, recording.explanations
    arrays = {
        **dict(_leaves("scene", frames.scene)),
        "observation": frames.observation,
        "reward": frames.reward,
        "return": recording.returns,
        **{f"measure.{name}": numbers for name, numbers in frames.measures.items()},
        "actions": recording.actions,
        **dict(_leaves("explanation", explanations)),
    }
    return {name: np.asarray(array) for name, array in arrays.items()}


def _leaves(name: str, record: Any) -> Iterator[tuple[str, Any]]:
    if record is None:
        return
    if dataclasses.is_dataclass(record):
        for field in dataclasses.fields(record):
            yield from _leaves(f"{name}.{field.name}", getattr(record, field.name))
    else:
        yield name, record


@dataclasses.dataclass(frozen=True)
class Packed:
    """The text, and the position of each array in it."""

    directory: dict[str, dict[str, Any]]
    text: str


def pack(arrays: dict[str, np.ndarray]) -> Packed:
    """Pack arrays whose first axis is time; the same arrays give the same text."""
    directory: dict[str, dict[str, Any]] = {}
    parts: list[bytes] = []
    position = 0
    for name, array in arrays.items():
        # One more digit for positions, so that motion does not tremble.
        decimals = _decimals(array, 5 if ".scene." in f".{name}" else 4)
        whole = _whole(array, decimals)
        still = len(whole) > 1 and bool((whole == whole[:1]).all())
        stored = whole[:1] if still else whole
        directory[name] = {
            "at": position,
            "shape": list(array.shape),
            "decimals": decimals,
            "still": still,
        }
        parts.append(_bytes_apart(_differences(stored)))
        position += len(parts[-1])
    return Packed(directory, base64.b64encode(zlib.compress(b"".join(parts), 9)).decode("ascii"))


def _decimals(array: np.ndarray, digits: int) -> int:
    """The decimals that give the largest number this many digits; 0 for whole numbers."""
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
    """The first row, then the difference of each from the row before; it wraps around."""
    before = np.concatenate([np.zeros_like(rows[:1]), rows[:-1]])
    differences: np.ndarray = (rows.astype(np.int64) - before).astype(np.uint32)
    return differences.view(np.int32)


def _bytes_apart(numbers: Int32[np.ndarray, "..."]) -> bytes:
    """All lowest bytes, then all second lowest, and so on."""
    little_endian = np.ascontiguousarray(numbers, "<i4").view(np.uint8)
    return np.ascontiguousarray(little_endian.reshape(-1, 4).T).tobytes()
