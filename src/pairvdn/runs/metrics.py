"""The metrics of a run: one line of JSON per epoch, each with a checksum.

A line may come from a stranger, with a right checksum, so the type of every number is checked.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pairvdn.runs.errors import FolderError, RunError
from pairvdn.runs.files import (
    CHECKSUM,
    is_unchanged,
    null_as_nan,
    open_own,
    parse_json,
    read_text,
    signed,
    to_json,
    write_text,
)

CLOCK = "clock"  # the key, in a line of metrics, of everything that depends on time
METRICS = "metrics.jsonl"
MOST_BYTES = 2**30  # some million epochs

Line = dict[str, Any]


def to_line(record: Mapping[str, Any]) -> str:
    """A record as a line; numbers that are not finite are written as null."""
    return signed(to_json(record)) + "\n"


def append_line(path: Path, record: Mapping[str, Any]) -> None:
    """Add a line to the file."""
    with open_own(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, "a") as file:
        file.write(to_line(record))


def sync(path: Path) -> None:
    """Write the lines to disk: a checkpoint must not be newer than they are."""
    with open_own(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, "a") as file:
        os.fsync(file.fileno())


def cut(path: Path, epochs: int) -> None:
    """Keep only the lines of the first `epochs` epochs."""
    kept = [line for line in read_file(path) if line["epoch"] <= epochs]
    if len(kept) < epochs:
        raise RunError(
            f"{path} has {len(kept)} lines, fewer than the {epochs} epochs of the checkpoint: "
            "restore the file, or train in another folder."
        )
    write_text(path, "".join(map(to_line, kept)))


def read_metrics(folder: Path) -> list[Line]:
    """The metrics of a run so far, one record per epoch; NaN where a number was not finite."""
    return read_file(folder / METRICS)


def read_file(path: Path) -> list[Line]:
    """The lines of a file; none if it does not exist."""
    try:
        text = read_text(path, MOST_BYTES)
    except FileNotFoundError:
        return []
    return parse_metrics(text, path)


def parse_metrics(text: str, path: Path | str = METRICS) -> list[Line]:
    """The lines of metrics, without an incomplete last one; `FolderError` names a bad line."""
    lines: list[Line] = []
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        record = null_as_nan(parse_json(path, line, f"line {number}"))
        if not is_unchanged(line):
            raise FolderError(
                f"{path} cannot be used: line {number} was changed after it was written (wrong "
                "checksum, or none); restore the file."
            )
        if not isinstance(record, dict) or not _is_sound(record) or record["epoch"] != number:
            raise FolderError(
                f"{path} cannot be used: line {number} is not the record of epoch {number}; "
                "restore the file."
            )
        del record[CHECKSUM]
        lines.append(record)
    return lines


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_number(value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    return whole or isinstance(value, float)


def _is_evaluation(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _is_number(value.get("mean"))
        and isinstance(value.get("values"), list)
        and bool(value["values"])
        and all(map(_is_number, value["values"]))
    )


_REQUIRED: Mapping[str, Callable[[Any], bool]] = {
    "epoch": _is_whole,
    "env_steps": _is_whole,
    "updates": _is_whole,
    "diverged": lambda value: isinstance(value, bool),
    CLOCK: lambda value: isinstance(value, dict) and _is_number(value.get("seconds")),
}
_KEYS = {**_REQUIRED, "evaluation": _is_evaluation}


def _is_sound(record: Line) -> bool:
    """Whether the keys that commands read have their types; all others are numbers."""
    return record.keys() >= _REQUIRED.keys() and all(
        _KEYS.get(key, _is_number)(value) for key, value in record.items()
    )


def evaluations(lines: Sequence[Line]) -> list[Line]:
    """The lines with a greedy evaluation."""
    return [line for line in lines if "evaluation" in line]
