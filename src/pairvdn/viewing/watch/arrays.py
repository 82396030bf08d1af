"""A recording as named arrays of numbers, in the form that the page reads.

Names are paths: `scene.circles.centre`, `alone.actions`. What a method or an environment does not
have is not there.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from pairvdn.evaluation import Recording


def named_arrays(recording: Recording) -> dict[str, np.ndarray]:
    """Every array of a recording by name; first axis: frames or agent steps."""
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


def digits(name: str) -> int:
    """How many digits the largest number of an array keeps: places more, lest motion trembles."""
    return 5 if ".scene." in f".{name}" else 4


def _leaves(name: str, record: Any) -> Iterator[tuple[str, Any]]:
    if record is None:
        return
    if dataclasses.is_dataclass(record):
        for field in dataclasses.fields(record):
            yield from _leaves(f"{name}.{field.name}", getattr(record, field.name))
    else:
        yield name, record
