"""Storage of the runs of a study: a folder, or any URL of fsspec (s3://, gs://, memory://).

A run always trains in a local folder. For a URL that folder is a copy, fetched before the run
resumes and sent after each checkpoint.
"""

import abc
import contextlib
import dataclasses
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pairvdn.config.errors import ConfigError, one_line
from pairvdn.runs.checkpoint import MANIFEST
from pairvdn.runs.errors import RunError
from pairvdn.runs.files import open_own, read_text, write_text
from pairvdn.runs.metrics import MOST_BYTES


@dataclasses.dataclass(frozen=True)
class Workplace:
    """A local folder to train in; `keep` sends its files to the storage."""

    folder: Path
    keep: Callable[[], None]


class Storage(abc.ABC):
    """Runs by name, and small files by path. It can be sent to another process."""

    @abc.abstractmethod
    def read_text(self, path: str) -> str | None:
        """The text of a small file; None if it does not exist."""

    @abc.abstractmethod
    def write_text(self, path: str, text: str) -> None:
        """Write a small file."""

    @abc.abstractmethod
    def remove(self, path: str) -> None:
        """Remove a folder with everything in it, if it exists."""

    @abc.abstractmethod
    def workplace(self, name: str) -> contextlib.AbstractContextManager[Workplace]:
        """A local folder with the stored files of a run, if there are any."""

    @abc.abstractmethod
    def require_shared(self) -> None:
        """Raise `ConfigError` if other processes cannot read this storage."""

    @abc.abstractmethod
    def locked(self, path: str) -> contextlib.AbstractContextManager[None]:
        """Lock a small file against other processes, if the storage has locks."""


@dataclasses.dataclass(frozen=True)
class Folder(Storage):
    """A folder that every process sees; runs are trained in place."""

    root: Path

    def __str__(self) -> str:
        return str(self.root)

    def read_text(self, path: str) -> str | None:
        """The text of a small file; None if it does not exist."""
        try:
            return read_text(self.root / path, MOST_BYTES)  # it may be one of metrics
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write_text(self, path: str, text: str) -> None:
        """Write a small file."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        write_text(self.root / path, text)

    def remove(self, path: str) -> None:
        """Remove a folder with everything in it, if it exists."""
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.root / path)

    @contextlib.contextmanager
    def workplace(self, name: str) -> Iterator[Workplace]:
        """The folder itself."""
        yield Workplace(self.root / name, lambda: None)

    def require_shared(self) -> None:
        """Do nothing: processes of this machine share it; on a cluster, all nodes must mount it."""

    @contextlib.contextmanager
    def locked(self, path: str) -> Iterator[None]:
        """Wait for the lock of a file and hold it; the kernel drops the lock of a dead process."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = target.with_name(f".{target.name}.lock")
        with open_own(lock, os.O_WRONLY | os.O_CREAT, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


@dataclasses.dataclass(frozen=True)
class Remote(Storage):
    """A URL of fsspec. Runs train in temporary copies."""

    url: str

    def __post_init__(self) -> None:
        self._opened()  # so that a wrong URL fails before training

    def __str__(self) -> str:
        return self.url

    def _opened(self) -> tuple[Any, str]:
        """The file system and the path in it; fsspec caches file systems."""
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise ConfigError(
                f"{self.url} needs the package fsspec: pip install 'pairvdn[ray]'."
            ) from error
        try:
            files, root = url_to_fs(self.url)
        except (ValueError, ImportError, OSError) as error:
            raise ConfigError(f"{self.url} cannot be opened: {one_line(error)}") from error
        return files, root.rstrip("/")

    def read_text(self, path: str) -> str | None:
        """The text of a small file; None if it does not exist."""
        files, root = self._opened()
        files.invalidate_cache()  # other processes write there too
        try:
            text: str = files.cat_file(f"{root}/{path}").decode()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(f"{self.url}/{path} cannot be read: {one_line(error)}") from error
        return text

    def write_text(self, path: str, text: str) -> None:
        """Write a small file."""
        files, root = self._opened()
        _make_parent(files, f"{root}/{path}")
        files.pipe_file(f"{root}/{path}", text.encode())

    def remove(self, path: str) -> None:
        """Remove a folder with everything in it, if it exists."""
        files, root = self._opened()
        files.invalidate_cache()
        with contextlib.suppress(FileNotFoundError):
            files.rm(f"{root}/{path}", recursive=True)

    @contextlib.contextmanager
    def workplace(self, name: str) -> Iterator[Workplace]:
        """A temporary copy."""
        files, root = self._opened()
        with tempfile.TemporaryDirectory(prefix="pairvdn-") as folder:
            mirror = _Mirror(files, f"{root}/{name}", Path(folder))
            mirror.fetch()
            yield Workplace(mirror.folder, mirror.keep)

    def require_shared(self) -> None:
        """Raise `ConfigError` for the memory of this process."""
        if self.url.startswith("memory:"):
            raise ConfigError(
                "memory:// is lost with its process, so other processes and Ray cannot use it: "
                "leave out --workers and --ray, or choose another --out."
            )

    def locked(self, path: str) -> contextlib.AbstractContextManager[None]:
        """Object stores have no locks."""
        return contextlib.nullcontext()


class _Mirror:
    """A local folder and its remote copy; sends only changed files."""

    def __init__(self, files: Any, root: str, folder: Path) -> None:
        self.folder = folder
        self._files, self._root = files, root
        self._same: dict[str, tuple[int, int]] = {}  # name -> time and size of unchanged files

    def fetch(self) -> None:
        """Copy all remote files into the folder."""
        self._files.invalidate_cache()
        for path in self._files.find(self._root):
            name = path.removeprefix(self._root).lstrip("/")
            local = self.folder / name
            local.parent.mkdir(parents=True, exist_ok=True)
            self._files.get_file(path, str(local))
            self._same[name] = _stamp(local)

    def keep(self) -> None:
        """Make the copy equal to the folder; it holds a complete checkpoint at any moment.

        Metrics are sent before the checkpoint that needs them and a manifest after its arrays;
        old files are removed last.
        """
        here = {name: self.folder / name for name in self._names()}
        for name in sorted(here, key=_send_order):
            stamp = _stamp(here[name])
            if self._same.get(name) != stamp:
                _make_parent(self._files, f"{self._root}/{name}")
                self._files.put_file(str(here[name]), f"{self._root}/{name}")
                self._same[name] = stamp
        for name in self._same.keys() - here.keys():
            self._files.rm_file(f"{self._root}/{name}")
            del self._same[name]

    def _names(self) -> Iterator[str]:
        """Files of the run, without the lock and half-written files."""
        for path in self.folder.rglob("*"):
            parts = path.relative_to(self.folder).parts
            hidden = any(part.startswith(".") for part in parts)
            if path.is_file() and not hidden and path.name != "lock":
                yield "/".join(parts)


def _send_order(name: str) -> tuple[bool, bool, bool, str]:
    """Config and metrics, then the best checkpoint, then the others; manifests after arrays."""
    in_checkpoints = "checkpoints/" in name
    return in_checkpoints, "checkpoints/best/" not in name, name.endswith(MANIFEST), name


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _make_parent(files: Any, path: str) -> None:
    """Create the parent folder; file systems without folders ignore this."""
    files.makedirs(path.rpartition("/")[0], exist_ok=True)


def storage(location: str) -> Storage:
    """The storage at a URL or in a folder."""
    return Remote(location) if "://" in location else Folder(Path(location).resolve())
