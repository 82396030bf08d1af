"""Small files of a run folder, which may come from a stranger or from a broken disk.

Reading never hangs (on a named pipe), never takes memory without limit (for a sparse file) and
never runs anything; writing never leaves the folder (through a symbolic link). What is wrong with a
file is a `FolderError` that names it.
"""

import errno
import json
import math
import os
import shutil
import stat
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from pairvdn.config.errors import one_line
from pairvdn.config.toml import levels_exceed
from pairvdn.runs.errors import FolderError

CHECKSUM = "crc32"  # the key of a checksum in a JSON object
_MOST_BYTES = 2**26  # of a small file; configs and manifests have some kB
_MOST_LEVELS = 50  # of JSON; files of runs have five


def read_text(path: Path, most: int = _MOST_BYTES) -> str:
    """The text of a regular file; FileNotFoundError or NotADirectoryError if there is none."""
    with open_regular(path) as file:
        data: bytes = file.read(min(most, os.fstat(file.fileno()).st_size) + 1)
    if len(data) > most:
        raise FolderError(f"{path} cannot be used: it has more than {most} bytes.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FolderError(
            f"{path} cannot be used: byte {error.start} is not UTF-8 text."
        ) from error


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading bytes; `FolderError` for a pipe or a folder, which may hang."""
    return _regular(path, os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")


def parse_json(path: Path | str, text: str, part: str = "it") -> Any:
    """The JSON in the text of a file, or of a `part` of it; `FolderError` names both."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FolderError(
            f"{path} cannot be used: {part} is not JSON ({one_line(error)})."
        ) from error
    if levels_exceed(_MOST_LEVELS, value):
        raise FolderError(f"{path} cannot be used: {part} has too many brackets inside each other.")
    return value


def to_json(value: Any, *, indent: int | None = None) -> str:
    """The value as JSON; numbers that JSON does not have, NaN and infinities, become null."""
    return json.dumps(_finite(value), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value


def null_as_nan(value: Any) -> Any:
    """The inverse of `to_json` for parsed JSON without a null of its own."""
    if isinstance(value, Mapping):
        return {key: null_as_nan(one) for key, one in value.items()}
    if isinstance(value, list):
        return [null_as_nan(one) for one in value]
    return math.nan if value is None else value


def signed(text: str) -> str:
    """The text of a JSON object, with a checksum of that text as its last key."""
    return f'{text[:-1].rstrip()}, "{CHECKSUM}": {zlib.crc32(text.encode())}}}'


def is_unchanged(text: str) -> bool:
    """Whether a text is as `signed` wrote it; False for a text without a checksum."""
    start = max(0, text.rfind(f', "{CHECKSUM}": '))
    return any(text == signed(f"{text[:start]}{end}") for end in ("}", "\n}"))


def write_text(path: Path, text: str) -> None:
    """Replace a small file atomically; a symbolic link is replaced, not followed."""
    new = path.with_name(f".new-{path.name}")
    new.unlink(missing_ok=True)
    write_new(new, text)
    new.replace(path)
    sync_folder(path.parent)


def write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet, and wait until it is on the disk."""
    with open_own(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def open_own(path: Path, flags: int, mode: str) -> IO[Any]:
    """Open a file of a run folder for writing; `FolderError` if it is a link or not a file."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _is_link(path) from error
        if error.errno == errno.ENXIO:  # a named pipe that nobody reads
            raise FolderError(f"{path} is not a regular file; remove it.") from error
        raise
    return _regular(path, descriptor, mode)


def _regular(path: Path, descriptor: int, mode: str) -> IO[Any]:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FolderError(f"{path} is not a regular file; remove it.")
    return os.fdopen(descriptor, mode, encoding=None if "b" in mode else "utf-8")


def require_no_link(*paths: Path) -> None:
    """Raise `FolderError` if a path is a symbolic link: a run writes only inside its folder."""
    for path in paths:
        if path.is_symlink():
            raise _is_link(path)


def _is_link(path: Path) -> FolderError:
    return FolderError(
        f"{path} is a symbolic link, and runs do not write through links: remove it."
    )


def make_folder(path: Path) -> None:
    """Make a folder inside a run, if it does not exist."""
    require_no_link(path)
    path.mkdir(parents=True, exist_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, not only the contents of its files."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a folder, or a link to one, if it exists."""
    if path.is_symlink():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)
