"""Checkpoints: trees of arrays on disk, written atomically and verified when read.

A checkpoint is a folder: for each part a `.npz` of named leaves (no pickle), and `manifest.json`
with the shape, type and checksum of every leaf, and facts such as the epoch.
"""

import contextlib
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

FORMAT = 1
MANIFEST = "manifest.json"

Tree = TypeVar("Tree")


class DamagedError(Exception):
    """A checkpoint that is incomplete, or was changed after it was written."""


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
    _remove(new)
    try:
        new.mkdir(parents=True)  # a copy of a run may lack folders that were empty
        described = {
            name: _write_part(new / f"{name}.npz", tree, inside) for name, tree in parts.items()
        }
        manifest = {"format": FORMAT, "facts": dict(facts), "parts": described}
        _write_text(new / MANIFEST, json.dumps({**manifest, "crc32": _text_checksum(manifest)}))
        _sync_folder(new)
        if folder.exists():
            _remove(_aside(folder))
            folder.rename(_aside(folder))
        new.rename(folder)
        _sync_folder(folder.parent)
    finally:
        _remove(new)
    _remove(_aside(folder))


def existing(folder: Path) -> Path:
    """The folder, or its renamed predecessor if the replacement was interrupted."""
    return folder if folder.exists() or not _aside(folder).exists() else _aside(folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".old-{folder.name}")


def facts(folder: Path) -> dict[str, Any]:
    """The facts of a checkpoint."""
    known: dict[str, Any] = _manifest(folder)["facts"]
    return known


def read(folder: Path, part: str, like: Tree, *, inside: str = "") -> Tree:
    """A part of a checkpoint, as a tree of numpy arrays with the structure of `like`.

    `inside` is the path of `like` in the tree that was written: it reads a few leaves of many.
    """
    described = _manifest(folder)["parts"].get(part)
    if described is None:
        raise DamagedError(f"it has no part {part!r}")
    paths, structure = jax.tree_util.tree_flatten_with_path(like)
    with _opened(folder, part) as stored:
        names = [inside + jax.tree_util.keystr(path) for path, _ in paths]
        leaves = [_checked(stored, name, described) for name in names]
    tree: Tree = jax.tree_util.tree_unflatten(structure, leaves)
    return tree


def verify(folder: Path, *, optional: Collection[str] = ()) -> None:
    """Raise `DamagedError` unless every array is intact; `optional` parts may be missing."""
    for part, described in _manifest(folder)["parts"].items():
        if part not in optional or (folder / f"{part}.npz").exists():
            with _opened(folder, part) as stored:
                for name in described:
                    _checked(stored, name, described)


@contextlib.contextmanager
def _opened(folder: Path, part: str) -> Iterator[Any]:
    try:
        with (
            (folder / f"{part}.npz").open("rb") as file,
            np.load(file, allow_pickle=False) as stored,
        ):
            yield stored
    except FileNotFoundError:
        raise DamagedError(f"it has no {part}.npz") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DamagedError(f"{part}.npz cannot be read: {error}") from error


def _checked(stored: Any, name: str, described: Mapping[str, Any]) -> np.ndarray:
    if name not in described or name not in stored:
        raise DamagedError(f"the array {name} is missing")
    array: np.ndarray = stored[name]
    if _describe(array) != described[name]:
        raise DamagedError(f"the array {name} was changed after it was written")
    return array


def _write_part(path: Path, tree: Any, inside: str) -> dict[str, Any]:
    arrays = named_leaves(tree, inside)
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
        file.flush()
        os.fsync(file.fileno())
    return {name: _describe(array) for name, array in arrays.items()}


def _describe(array: np.ndarray) -> dict[str, Any]:
    checksum = zlib.crc32(np.ascontiguousarray(array).data) if array.size else 0
    return {"shape": list(array.shape), "dtype": array.dtype.name, "crc32": checksum}


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        checksum = manifest.pop("crc32")
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise DamagedError(f"{MANIFEST} cannot be read: {error}") from error
    if checksum != _text_checksum(manifest):
        raise DamagedError(f"{MANIFEST} was changed after it was written")
    if manifest["format"] != FORMAT:
        raise DamagedError(f"its format is {manifest['format']}; this version reads {FORMAT}")
    known: dict[str, Any] = manifest
    return known


def _text_checksum(manifest: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(manifest, sort_keys=True).encode())


def write_text(path: Path, text: str) -> None:
    """Replace a small file atomically."""
    new = path.with_name(f".new-{path.name}")
    _write_text(new, text)
    new.replace(path)
    _sync_folder(path.parent)


def _write_text(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, not only the contents of its files."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
