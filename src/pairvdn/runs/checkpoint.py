"""Checkpoints: trees of arrays on disk, written atomically and verified when read.

A checkpoint is a folder: for each part a `.npz` of named leaves (no pickle), and `manifest.json`
with the shape, type and checksum of every leaf, and facts such as the epoch. Nothing in it is
believed: shapes are compared before an array is read, and any error while reading means damage.
"""

import contextlib
import json
import math
import os
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from pairvdn.checks import shown
from pairvdn.config.errors import one_line
from pairvdn.runs.errors import RunError
from pairvdn.runs.files import (
    CHECKSUM,
    make_folder,
    open_regular,
    parse_json,
    read_text,
    remove,
    sync_folder,
    write_new,
)

FORMAT = 1
MANIFEST = "manifest.json"

Tree = TypeVar("Tree")


class DamagedError(Exception):
    """A checkpoint that is incomplete, or was changed after it was written."""


class TooLargeError(RunError):
    """An intact checkpoint for which this machine is too small."""


def named_leaves(tree: Any, inside: str = "") -> dict[str, np.ndarray]:
    """The leaves of a tree by their paths."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {inside + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def write(
    folder: Path, parts: Mapping[str, Any], facts: Mapping[str, Any], *, inside: str = ""
) -> None:
    """Write a checkpoint so that a complete one, old or new, exists at any moment.

    `inside` is the path of the parts in a larger tree, as in `read`. The new folder is written
    beside the old one. A folder cannot replace another atomically, so the old one is renamed for
    an instant; `existing` finds it under that name.
    """
    new = folder.with_name(f".new-{folder.name}")
    remove(new)
    try:
        make_folder(folder.parent)  # a copy of a run may lack folders that were empty
        new.mkdir()
        described = {
            name: _write_part(new / f"{name}.npz", tree, inside) for name, tree in parts.items()
        }
        manifest = {"format": FORMAT, "facts": dict(facts), "parts": described}
        write_new(new / MANIFEST, json.dumps({**manifest, CHECKSUM: _text_checksum(manifest)}))
        sync_folder(new)
        if folder.exists():
            remove(_replaced(folder))
            folder.rename(_replaced(folder))
        new.rename(folder)
        sync_folder(folder.parent)
    finally:
        remove(new)
    remove(_replaced(folder))


def existing(folder: Path) -> Path:
    """The folder, or its renamed predecessor if the replacement was interrupted."""
    return folder if folder.exists() or not _replaced(folder).exists() else _replaced(folder)


def _replaced(folder: Path) -> Path:
    return folder.with_name(f".old-{folder.name}")


def name_of(epoch: int) -> str:
    """The name of the checkpoint after `epoch` epochs."""
    return f"epoch-{epoch:06d}"


def facts(folder: Path) -> dict[str, Any]:
    """The facts of a checkpoint; its `epoch` is a whole number, and that in its name if it has one.

    A copy under the name of another one must not pass for it.
    """
    known: dict[str, Any] = _manifest(folder)["facts"]
    epoch: Any = known.get("epoch")
    if not _is_whole(epoch):
        raise DamagedError(f"{MANIFEST} does not give the epoch")
    if folder.name.startswith("epoch-") and folder.name != name_of(epoch):
        raise DamagedError(f"it holds the state after epoch {shown(epoch)}")
    return known


def has_part(folder: Path, part: str) -> bool:
    """Whether a part was written into the checkpoint."""
    return part in _manifest(folder)["parts"]


def read(folder: Path, part: str, like: Tree, *, inside: str = "", by_rows: bool = False) -> Tree:
    """A part of a checkpoint, as a tree of numpy arrays with the structure of `like`.

    `inside` is the path of `like` in the tree that was written: it reads a few leaves of many.
    With `by_rows`, arrays may have fewer or more rows than those of `like`. Raises `RunError` if
    shapes or types differ from `like`, before anything is allocated.
    """
    described = _manifest(folder)["parts"].get(part)
    if described is None:
        raise DamagedError(f"it has no part {part!r}")
    paths, structure = jax.tree_util.tree_flatten_with_path(like)
    wanted = {inside + jax.tree_util.keystr(path): leaf for path, leaf in paths}
    for name, leaf in wanted.items():
        _require_fit(folder, name, described.get(name), leaf, by_rows)
    with _opened(folder, part) as archive:
        leaves = [_checked(archive, name, described[name]) for name in wanted]
    tree: Tree = jax.tree_util.tree_unflatten(structure, leaves)
    return tree


def _require_fit(folder: Path, name: str, known: Any, like: Any, by_rows: bool) -> None:
    """Raise `RunError` unless the array that a manifest describes has the shape of `like`."""
    wanted = [list(like.shape), np.dtype(like.dtype).name]
    there = None if known is None else [known["shape"], known["dtype"]]
    if there is not None and by_rows and len(there[0]) == len(wanted[0]) > 0:
        fits = there[0][1:] == wanted[0][1:] and there[1] == wanted[1]
        there = wanted if fits else there
    if there != wanted:
        is_there = "missing" if there is None else f"{there[1]}{there[0]}"
        raise RunError(
            f"{folder} does not fit config.toml: {name} is {is_there}, not {wanted[1]}{wanted[0]}; "
            "was the config changed, or the run exported?"
        )


def verify(folder: Path, *, optional: Collection[str] = ()) -> None:
    """Raise `DamagedError` unless every array is intact; `optional` parts may be missing."""
    facts(folder)
    for part, described in _manifest(folder)["parts"].items():
        if part not in optional or (folder / f"{part}.npz").exists():
            with _opened(folder, part) as archive:
                for name in described:
                    _checked(archive, name, described[name])


@contextlib.contextmanager
def _damage(file: str) -> Iterator[None]:
    """Turn any error while reading a file into `DamagedError`."""
    try:
        yield
    except (DamagedError, TooLargeError):
        raise
    except FileNotFoundError:
        raise DamagedError(f"it has no {file}") from None
    except Exception as error:  # MemoryError, too: Python's parser raises it for a long header
        reason = one_line(error) or type(error).__name__
        raise DamagedError(f"{file} cannot be read: {reason}") from error


@contextlib.contextmanager
def _opened(folder: Path, part: str) -> Iterator[zipfile.ZipFile]:
    file = f"{part}.npz"
    with (
        _damage(file),
        open_regular(folder / file) as stream,
        zipfile.ZipFile(stream) as archive,
    ):
        yield archive


def _checked(archive: zipfile.ZipFile, name: str, described: Mapping[str, Any]) -> np.ndarray:
    """An array, read only after its header agrees with the manifest and with its size on disk."""
    try:
        entry = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise DamagedError(f"the array {name} is missing") from None
    on_disk = os.fstat(archive.fp.fileno()).st_size if archive.fp else 0
    with archive.open(entry) as file:
        shape, dtype = _header(file)
        size = math.prod(shape) * dtype.itemsize
        # The archive may lie about the size of an entry.
        whole = entry.compress_type == zipfile.ZIP_STORED and size <= min(entry.file_size, on_disk)
        if not whole or [list(shape), dtype.name] != [described["shape"], described["dtype"]]:
            raise DamagedError(f"the array {name} was changed after it was written")
    with archive.open(entry) as file:
        try:
            array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
        except MemoryError as error:
            raise TooLargeError(f"There is not enough memory to read {name}.") from error
    if _describe(array) != described:
        raise DamagedError(f"the array {name} was changed after it was written")
    return array


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    return shape, dtype


def _write_part(path: Path, tree: Any, inside: str) -> dict[str, Any]:
    arrays = named_leaves(tree, inside)
    with path.open("xb") as file:
        np.savez(file, allow_pickle=False, **arrays)
        file.flush()
        os.fsync(file.fileno())
    return {name: _describe(array) for name, array in arrays.items()}


def _describe(array: np.ndarray) -> dict[str, Any]:
    checksum = zlib.crc32(np.ascontiguousarray(array).data) if array.size else 0
    return {"shape": list(array.shape), "dtype": array.dtype.name, CHECKSUM: checksum}


def _manifest(folder: Path) -> dict[str, Any]:
    with _damage(MANIFEST):
        manifest = parse_json(MANIFEST, read_text(folder / MANIFEST))
        checksum = manifest.pop(CHECKSUM)
        if checksum != _text_checksum(manifest):
            raise DamagedError(f"{MANIFEST} was changed after it was written")
        if manifest["format"] != FORMAT:
            raise DamagedError(f"its format is {manifest['format']}; this version reads {FORMAT}")
        arrays = [one for part in manifest["parts"].values() for one in part.values()]
        if not isinstance(manifest["facts"], dict) or not all(map(_is_description, arrays)):
            raise DamagedError(f"{MANIFEST} does not describe a checkpoint")
    known: dict[str, Any] = manifest
    return known


def _is_description(array: Any) -> bool:
    return all(map(_is_whole, array["shape"])) and isinstance(array["dtype"], str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _text_checksum(manifest: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(manifest, sort_keys=True).encode())
