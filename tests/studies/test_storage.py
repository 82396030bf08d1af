"""What is kept elsewhere comes back as it was, and is whole at any moment."""

import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from pairvdn.config.errors import ConfigError
from pairvdn.studies.storage import Folder, Remote, Storage, storage


@pytest.fixture(params=["folder", "memory", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return storage(
        {
            "folder": str(tmp_path / "kept"),
            "memory": f"memory://{uuid.uuid4()}",
            "file": f"file://{tmp_path}/kept",
        }[request.param]
    )


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_what_is_kept_is_there_again(place: Storage) -> None:
    assert place.read_text("a/run/config.toml") is None
    with place.workplace("a/run") as work:
        assert not work.folder.exists() or not files(work.folder)
        write(work.folder, config="1", checkpoints__one__array="2")
        work.keep()
    assert place.read_text("a/run/config") == "1"
    with place.workplace("a/run") as work:
        assert files(work.folder) == {"config": "1", "checkpoints/one/array": "2"}
        (work.folder / "checkpoints/one/array").unlink()
        write(work.folder, config="3", checkpoints__two__array="4")
        work.keep()
    with place.workplace("a/run") as work:
        assert files(work.folder) == {"config": "3", "checkpoints/two/array": "4"}
    with place.workplace("a/other") as work:
        assert not work.folder.exists() or not files(work.folder)


def test_small_files(place: Storage) -> None:
    place.write_text("a/b/best.toml", "epochs = 3\n")
    place.write_text("a/b/best.toml", "epochs = 4\n")
    assert place.read_text("a/b/best.toml") == "epochs = 4\n"


def test_a_whole_checkpoint_is_there_at_any_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics before the checkpoint that needs them, a manifest after its arrays, removal last."""
    place = Remote(f"memory://{uuid.uuid4()}")
    done: list[str] = []
    opened, _ = place._opened()
    for name in ("put_file", "rm_file"):
        original = getattr(opened, name)

        def noting(*arguments: str, _original=original, **others: object) -> object:
            done.append(arguments[-1].partition("/run/")[2])
            return _original(*arguments, **others)

        monkeypatch.setattr(opened, name, noting)
    with place.workplace("run") as work:
        write(work.folder, metrics="1", lock="me", **{".new-x": "half"})
        for epoch in ("epoch-000001", "best"):
            write(work.folder / "checkpoints" / epoch, **{"manifest.json": "1", "replay.npz": "1"})
        work.keep()
        assert done == [
            "metrics",
            "checkpoints/best/replay.npz",
            "checkpoints/best/manifest.json",
            "checkpoints/epoch-000001/replay.npz",
            "checkpoints/epoch-000001/manifest.json",
        ]
        done.clear()
        (work.folder / "checkpoints/epoch-000001").rename(work.folder / "checkpoints/epoch-000002")
        write(work.folder, metrics="12")
        work.keep()
        assert done[:1] == ["metrics"]
        assert [one.startswith("checkpoints/epoch-000002") for one in done[1:3]] == [True, True]
        assert {one.partition("/")[2] for one in done[3:]} == {
            "epoch-000001/replay.npz",
            "epoch-000001/manifest.json",
        }


def test_which_places_there_are(tmp_path: Path) -> None:
    here = storage(str(tmp_path))
    assert here == Folder(tmp_path.resolve())
    here.require_shared()
    storage(f"file://{tmp_path}").require_shared()
    with pytest.raises(ConfigError, match="memory:// is lost with its process"):
        storage("memory://x").require_shared()
    with pytest.raises(ConfigError, match="nowhere://x cannot be opened"):
        storage("nowhere://x")


def test_a_lock_keeps_other_processes_waiting(tmp_path: Path) -> None:
    here = Folder(tmp_path)
    other = (
        "import sys; from pathlib import Path; from pairvdn.studies.storage import Folder\n"
        "with Folder(Path(sys.argv[1])).locked('x.json'): print('held', flush=True)"
    )
    with here.locked("x.json"):
        process = subprocess.Popen(
            [sys.executable, "-c", other, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=6)
    assert process.communicate(timeout=60)[0] == "held\n"
