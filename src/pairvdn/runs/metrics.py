"""The metrics of a run: one line of JSON per epoch, each with a checksum."""

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
        text = read_text(path)
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
                "checksum); restore the file."
            )
        last = lines[-1]["epoch"] if lines else 0
        if not isinstance(record, dict) or not _is_sound(record) or record["epoch"] <= last:
            raise FolderError(
                f"{path} cannot be used: line {number} is not the record of a next epoch."
            )
        record.pop(CHECKSUM, None)
        lines.append(record)
    return lines


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_evaluation(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _is_number(value.get("mean"))
        and isinstance(value.get("values"), list)
        and bool(value["values"])
        and all(map(_is_number, value["values"]))
    )


# The keys that commands read.
_KEYS: Mapping[str, Callable[[Any], bool]] = {
    "epoch": _is_number,
    "env_steps": _is_number,
    "updates": _is_number,
    "diverged": lambda value: isinstance(value, bool),
    CLOCK: lambda value: isinstance(value, dict) and _is_number(value.get("seconds")),
}


def _is_sound(record: Line) -> bool:
    evaluation = record.get("evaluation")
    return all(is_right(record.get(key)) for key, is_right in _KEYS.items()) and (
        "evaluation" not in record or _is_evaluation(evaluation)
    )


def evaluations(lines: Sequence[Line]) -> list[Line]:
    """The lines with a greedy evaluation."""
    return [line for line in lines if "evaluation" in line]
