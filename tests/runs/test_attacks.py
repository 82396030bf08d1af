"""Run folders of strangers and of broken disks: one line, no harm, no good file lost."""

import io
import json
import os
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import numpy as np
import pytest
from attacked_runs import EPOCHS, newest
from processes import metrics_without_clock

import pairvdn
from pairvdn.cli import main
from pairvdn.runs import checkpoint, resume
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.runs.folder import VALUE_INSIDE, RunFolder


@pytest.fixture
def run(attacked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(attacked, tmp_path / "run"))


# Checkpoints in their order


def test_checkpoints_are_ordered_by_number(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    epochs = [999_998, 999_999, 1_000_000, 1_000_001]
    for epoch in epochs:
        checkpoint.write(folder.checkpoint_at(epoch), {}, {"epoch": epoch})
    assert folder.saved_epochs() == epochs
    folder.prune(3)
    assert folder.saved_epochs() == epochs[1:]
    folder.forget_after(1_000_000)
    assert folder.saved_epochs() == [999_999, 1_000_000]
    aside = folder.checkpoints / "aside-epoch-1000001"
    assert aside.is_dir()
    assert folder.trained_epochs() == 1_000_000
    folder.prune(2)
    assert aside.is_dir()  # that epoch was not trained again
    checkpoint.write(folder.checkpoint_at(1_000_001), {}, {"epoch": 1_000_001})
    folder.prune(2)
    assert not aside.exists()
    assert folder.saved_epochs() == [1_000_000, 1_000_001]


def test_the_newest_of_a_million_epochs_is_loaded(run: Path) -> None:
    folder, value = RunFolder(run), eqx.filter(pairvdn.load(run).value, eqx.is_array)
    epochs = [999_999, 1_000_000, 10_000_000]
    for epoch in epochs:
        parts = {"learner": value}
        checkpoint.write(folder.checkpoint_at(epoch), parts, {"epoch": epoch}, inside=VALUE_INSIDE)
    for epoch in reversed(epochs):
        assert pairvdn.load(run).epoch == epoch
        shutil.rmtree(folder.checkpoint_at(epoch))


def test_a_long_run_keeps_its_newest_replays(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for epoch in (999_998, 999_999, 1_000_000, 1_000_001):
        checkpoint.write(folder.checkpoint_at(epoch), {"replay": [np.zeros(2)]}, {"epoch": epoch})
    folder.prune(3)
    replays = sorted(path.parent.name for path in folder.checkpoints.rglob("replay.npz"))
    assert replays == ["epoch-1000000", "epoch-1000001"]


def test_names_that_no_run_writes_are_left_alone(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    names = ["epoch-7", "epoch-0000007", "epoch-x", "epoch-000001 (copy)", f"epoch-{'9' * 99}"]
    for name in names:
        (folder.checkpoints / name).mkdir(parents=True)
    checkpoint.write(folder.checkpoint_at(7), {}, {"epoch": 7})
    folder.prune(1)
    folder.forget_after(0)
    assert {path.name for path in folder.checkpoints.iterdir()} == {*names, "aside-epoch-000007"}


# Damaged arrays and manifests


def header(shape: tuple[int, ...], dtype: str = "<f4") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": dtype, "fortran_order": False, "shape": shape}
    )
    return file.getvalue()


def rewritten(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the first array of an archive."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    first = next(iter(members))
    members[first] = change(members[first])
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


ARRAYS = {
    "a trillion numbers": lambda data: header((10**12,)) + data[-8:],
    "more than there are": lambda data: header((10**400,)) + data[-8:],
    "a negative shape": lambda data: header((-1,)) + data[-8:],
    "an object": lambda data: header((1,), "|O") + b"cos\nsystem\n(S'x'\ntR.",
    "an unfinished header": lambda data: data[:10] + b"{'descr': '<f4', (((" + data[30:],
    "a header that exhausts Python's parser": lambda data: (
        b"\x93NUMPY\x01\x00" + (9000).to_bytes(2, "little") + b"-" * 8999 + b"1"
    ),
    "no such version": lambda data: data[:6] + b"\x09\x00" + data[8:],
    "nothing": lambda data: b"",
    "text": lambda data: b"not an array",
}


@pytest.mark.parametrize("case", ARRAYS)
def test_a_damaged_array_means_the_checkpoint_before(case: str, run: Path) -> None:
    rewritten(newest(run) / "learner.npz", ARRAYS[case])
    check_damaged(run)


@pytest.mark.parametrize("file", ["learner.npz", "replay.npz"])
def test_every_flipped_byte_is_noticed_or_means_nothing(file: str, run: Path) -> None:
    """The bytes of the first headers and of the directory, where flips gave tracebacks."""
    path = newest(run) / file
    data = path.read_bytes()
    verified = 0
    for at in [*range(0, 260, 3), *range(len(data) - 200, len(data), 3)]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :])
        try:
            checkpoint.verify(newest(run))
        except checkpoint.DamagedError:
            verified += 1
    assert verified > 40


MANIFESTS = {
    "parts is a number": {"parts": 5},
    "a part is a list": {"parts": {"learner": []}},
    "an array is a number": {"parts": {"learner": {"a": 5}}},
    "a shape is a text": {"parts": {"learner": {"a": {"shape": "x", "dtype": "f4"}}}},
    "no facts": {"facts": None},
    "facts are a list": {"facts": [1]},
    "no epoch": {"facts": {"seconds": 1.0}},
    "a strange epoch": {"facts": {"epoch": "six", "seconds": 1.0}},
    "no seconds": {"facts": {"epoch": EPOCHS}},
    "strange seconds": {"facts": {"epoch": EPOCHS, "seconds": [1]}},
    "seconds that no float holds": {"facts": {"epoch": EPOCHS, "seconds": 10**400}},
    "endless seconds": {"facts": {"epoch": EPOCHS, "seconds": float("inf")}},
    "the epoch of another": {"facts": {"epoch": EPOCHS - 2, "seconds": 1.0}},
    "another format": {"format": "x"},
}


def craft(manifest: Path, changes: dict) -> None:
    plain = json.loads(manifest.read_text())
    del plain["crc32"]
    plain |= changes
    checksum = zlib.crc32(json.dumps(plain, sort_keys=True).encode())
    manifest.write_text(json.dumps({**plain, "crc32": checksum}))


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_crafted_manifest_means_the_checkpoint_before(case: str, run: Path) -> None:
    craft(newest(run) / "manifest.json", MANIFESTS[case])
    check_damaged(run, loads="seconds" not in case)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"crc32": ' + "9" * 5000 + "}", "5", "[]", "\ud800", ""]
)
def test_a_manifest_of_anything_means_the_checkpoint_before(text: str, run: Path) -> None:
    (newest(run) / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    check_damaged(run)


def test_pipes_in_the_place_of_files_do_not_hang(run: Path) -> None:
    for name in ("manifest.json", "learner.npz"):
        path = newest(run) / name
        path.unlink()
        os.mkfifo(path)
        with pytest.raises(checkpoint.DamagedError, match="not a regular file"):
            checkpoint.verify(newest(run))


def test_a_shape_that_the_config_does_not_have_is_refused_before_it_is_read(run: Path) -> None:
    described = json.loads((newest(run) / "manifest.json").read_text())["parts"]
    for array in described["learner"].values():
        array["shape"] = [10**12]
    craft(newest(run) / "manifest.json", {"parts": described})
    for command in (lambda: pairvdn.load(run), lambda: resume(run, epochs=EPOCHS + 1)):
        with pytest.raises(RunError, match=r"does not fit config\.toml"):
            command()


def test_a_checkpoint_under_the_name_of_another_is_not_used(run: Path) -> None:
    shutil.rmtree(newest(run))
    shutil.copytree(newest(run).with_name("epoch-000002"), newest(run))
    with pytest.warns(UserWarning, match="holds the state after epoch 2"):
        assert pairvdn.load(run).epoch == EPOCHS - 1
    said: list[str] = []
    assert resume(run, say=said.append)  # it has not finished
    assert any("holds the state after epoch 2" in line for line in said)


def test_a_run_longer_than_its_config_is_not_finished_and_keeps_its_replays(run: Path) -> None:
    config = run / "config.toml"
    text = config.read_text().replace("keep_replay = true", "keep_replay = false")
    config.write_text(text.replace(f"epochs = {EPOCHS}\n", f"epochs = {EPOCHS - 1}\n"))
    before = sorted(run.rglob("replay.npz"))
    assert before
    with pytest.raises(FolderError, match=f"epochs = {EPOCHS - 1}, but {EPOCHS} are already"):
        resume(run, changed=True)
    assert sorted(run.rglob("replay.npz")) == before


def check_damaged(run: Path, *, loads: bool = True) -> None:
    """Loading and resuming use the checkpoint before, until the damaged one is replaced."""
    if loads:
        with pytest.warns(UserWarning, match="is skipped"):
            assert pairvdn.load(run).epoch == EPOCHS - 1
    said: list[str] = []
    assert resume(run, say=said.append, epochs=EPOCHS + 1)
    assert any(line.startswith("warning") and "is damaged" in line for line in said)
    assert len(metrics_without_clock(run)) == EPOCHS + 1
    assert not list((run / "checkpoints").glob("aside-*"))
    checkpoint.verify(run / "checkpoints" / f"epoch-{EPOCHS + 1:06d}")


# The best checkpoint


def test_a_damaged_best_is_kept_aside_with_a_warning(run: Path) -> None:
    (run / "checkpoints" / "best" / "learner.npz").write_bytes(b"damaged")
    said: list[str] = []
    assert resume(run, say=said.append, epochs=EPOCHS + 1)
    assert any("best checkpoint" in line and "aside-best" in line for line in said)
    assert (run / "checkpoints" / "aside-best" / "learner.npz").read_bytes() == b"damaged"
    assert pairvdn.load(run, "best").epoch == EPOCHS + 1


def test_compare_says_that_a_best_is_damaged(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "checkpoints" / "best" / "manifest.json").write_text("{}")
    with pytest.warns(UserWarning, match="best is skipped: it is damaged"):
        assert main(["compare", str(run), "--episodes=1"]) == 0
    assert " - " in capsys.readouterr().out


# Opening a folder runs no code


@pytest.mark.parametrize(
    "name", ["pettingzoo:antigravity.x", "antigravity:x", "pettingzoo:test.__main__.x", "this:x"]
)
def test_opening_a_folder_imports_nothing_and_suggests_nothing(
    name: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = run / "config.toml"
    config.write_text(config.read_text().replace('name = "climbing"', f'name = "{name}"'))
    for command in ("evaluate", "resume", "plot", "watch"):
        assert main([command, str(run)]) == 2
        errors = capsys.readouterr().err
        assert "--trust" in errors
        assert "pip install" not in errors
    assert "antigravity" not in sys.modules
    assert "this" not in sys.modules
