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

import numpy as np
import pytest
from processes import metrics_without_clock
from small_runs import GAME, shared_folder

import pairvdn
from pairvdn.cli import main
from pairvdn.config import load_preset
from pairvdn.runs import checkpoint, read_metrics, resume, train
from pairvdn.runs.errors import FolderError, RunError
from pairvdn.runs.files import is_unchanged, signed, to_json
from pairvdn.runs.folder import RunFolder, seeds_of
from pairvdn.runs.metrics import parse_metrics, to_line

EPOCHS = 4
CONFIG = load_preset("climbing/vdn").replace(
    {**GAME, "epochs": EPOCHS, "checkpoints.seconds": 0, "checkpoints.keep_replay": True}
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with every checkpoint. Tests must not change it."""

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pairvdn.runs.saving.LEAST_REST", 0)
            train(CONFIG, folder)

    return shared_folder("attacked", make, tmp_path_factory)


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


def newest(run: Path) -> Path:
    return run / "checkpoints" / f"epoch-{EPOCHS:06d}"


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
    assert (folder.checkpoints / "aside-epoch-1000001").is_dir()


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
    check_damaged(run, loads=case not in ("no seconds", "strange seconds"))


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
    said: list[str] = []
    assert resume(run, say=said.append, epochs=EPOCHS + 1)
    assert any("holds the state after epoch 2" in line for line in said)


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


# Text files


METRICS = {
    "a byte that is no text": lambda data: data[:20] + b"\xff" + data[20:],
    "a number": lambda data: b"5\n" + data,
    "an empty object": lambda data: b"{}\n" + data,
    "deep nesting": lambda data: b"[" * 100_000 + b"\n" + data,
    "a flipped digit": lambda data: data.replace(b'"env_steps": ', b'"env_steps": 1', 1),
    "a line twice": lambda data: data.split(b"\n")[0] + b"\n" + data,
    "a large number": lambda data: b'{"epoch": ' + b"9" * 5000 + b"}\n" + data,
    "a mean that is a text": lambda data: (
        b'{"epoch": 0, "env_steps": 1, "updates": 1, "diverged": false, '
        b'"clock": {"seconds": 1}, "evaluation": {"mean": "x", "values": [1]}}\n'
    ),
}


@pytest.mark.parametrize("case", METRICS)
def test_damaged_metrics_are_one_line(
    case: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = run / "metrics.jsonl"
    file.write_bytes(METRICS[case](file.read_bytes()))
    for command in (["plot", str(run), "--out", str(tmp_path / "c")], ["evaluate", str(run)]):
        assert main(command) == 2
        errors = capsys.readouterr().err
        assert str(file) in errors
        assert errors.count("\n") == 1
    with pytest.raises(FolderError, match=r"metrics\.jsonl"):
        resume(run, epochs=EPOCHS + 1)


@pytest.mark.parametrize("name", ["metrics.jsonl", "seeds.json", "config.toml"])
def test_a_named_pipe_does_not_hang(
    name: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / name).unlink(missing_ok=True)
    os.mkfifo(run / name)
    assert main(["plot", str(run), "--out", str(run / "curves")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    ["5", "{}", "[]", "[1.5]", "[-1]", "[0, 0]", '["0"]', "[true]", "[" * 9999, "[4294967296]"],
)
def test_seeds_of_anything_are_one_line(text: str, run: Path, capsys) -> None:
    (run / "seeds.json").write_text(text)
    assert main(["evaluate", str(run)]) == 2
    errors = capsys.readouterr().err
    assert "seeds.json" in errors
    assert errors.count("\n") == 1


def test_a_flipped_digit_in_the_seeds_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    train(CONFIG.replace({"epochs": 1}), folder, num_seeds=2)
    assert seeds_of(folder) == [0, 1]
    file = folder / "seeds.json"
    file.write_text(file.read_text().replace("[0, 1]", "[0, 7]"))
    with pytest.raises(FolderError, match="was changed after it was written"):
        resume(folder, epochs=2)
    assert not (folder / "seed-7").exists()


def test_numbers_that_json_does_not_have_are_null_and_come_back_as_nan() -> None:
    usual = {"epoch": 1, "env_steps": 1, "updates": 1, "diverged": True, "clock": {"seconds": 1}}
    line = to_line({**usual, "loss": float("inf"), "evaluation": {"mean": np.nan, "values": [1.0]}})
    json.loads(line, parse_constant=pytest.fail)
    (record,) = parse_metrics(line)
    assert np.isnan([record["loss"], record["evaluation"]["mean"]]).all()


def test_a_checksum_is_of_the_whole_text() -> None:
    for indent in (None, 2):
        text = signed(to_json({"a": 1, "b": [0.5]}, indent=indent))
        assert json.loads(text)["b"] == [0.5]
        assert is_unchanged(text)
        assert not is_unchanged(text.replace("0.5", "0.6"))


def test_metrics_of_every_epoch_are_read_back(run: Path) -> None:
    assert [line["epoch"] for line in read_metrics(run)] == list(range(1, EPOCHS + 1))


# Symbolic links


@pytest.mark.parametrize("name", ["lock", "metrics.jsonl", "checkpoints", "evaluations", "wandb"])
def test_nothing_is_written_through_a_link(
    name: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "secret"
    original = run / name
    if original.exists() and name != "lock":
        original.rename(secret)
    else:
        original.unlink(missing_ok=True)
        secret.write_text("precious")
    original.symlink_to(secret)
    before = contents(secret)
    assert main(["resume", str(run), f"--epochs={EPOCHS + 1}", "--quiet"]) == 2
    errors = capsys.readouterr().err
    assert f"{original} is a symbolic link" in errors
    assert errors.count("\n") == 1
    assert contents(secret) == before


def test_an_evaluation_does_not_leave_its_folder(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    shutil.rmtree(run / "evaluations")
    (run / "evaluations").symlink_to(tmp_path / "elsewhere")
    assert main(["evaluate", str(run), "--episodes=1"]) == 2
    assert "is a symbolic link" in capsys.readouterr().err
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_link_to_a_checkpoint_or_a_seed_is_refused(run: Path, tmp_path: Path) -> None:
    newest(run).rename(tmp_path / "moved")
    newest(run).symlink_to(tmp_path / "moved")
    with pytest.raises(FolderError, match="is a symbolic link"):
        resume(run, epochs=EPOCHS + 1)
    folder = tmp_path / "folder"
    train(CONFIG.replace({"epochs": 1}), folder, num_seeds=2)
    (folder / "seed-1").rename(tmp_path / "seed")
    (folder / "seed-1").symlink_to(tmp_path / "seed")
    with pytest.raises(FolderError, match="seed-1 is a symbolic link"):
        resume(folder, epochs=2)


def test_a_finished_run_removes_nothing_behind_a_link(run: Path, tmp_path: Path) -> None:
    config = run / "config.toml"
    config.write_text(config.read_text().replace("keep_replay = true", "keep_replay = false"))
    newest(run).rename(tmp_path / "moved")
    newest(run).symlink_to(tmp_path / "moved")
    with pytest.raises(FolderError, match="is a symbolic link"):
        resume(run)
    assert (tmp_path / "moved" / "replay.npz").exists()


def test_a_run_folder_itself_may_be_a_link(run: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(run)
    assert resume(tmp_path / "link", epochs=EPOCHS + 1)


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return {str(file): file.read_bytes() for file in files}


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
