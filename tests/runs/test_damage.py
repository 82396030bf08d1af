"""Damaged checkpoints, full disks and folders that cannot be written."""

import errno
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from processes import arrays, assert_same_end, command, metrics_without_clock

import pairvdn
from pairvdn.cli import main
from pairvdn.config import load_preset
from pairvdn.runs import checkpoint as checkpoints
from pairvdn.runs import resume, train
from pairvdn.runs.errors import RunError

EPOCHS = 6
CONFIG = load_preset("wall/vdn").replace(
    {
        "epochs": EPOCHS,
        "learner.num_envs": 4,
        "learner.replay_capacity": 512,
        "evaluation.every": 2,
        "checkpoints.seconds": 0,
        "checkpoints.keep": EPOCHS,
        "checkpoints.keep_replay": True,
    }
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "finished"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pairvdn.runs.saving.LEAST_REST", 0)  # save after every epoch
        train(CONFIG, run)
    return run


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def truncate(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def flip_a_bit(path: Path) -> None:
    """In the middle of the file; of an archive, in the middle of its largest array."""
    data = bytearray(path.read_bytes())
    at = len(data) // 2
    if path.suffix == ".npz":  # some bytes between the arrays of an archive mean nothing
        with zipfile.ZipFile(path) as archive:
            largest = max(archive.infolist(), key=lambda member: member.file_size)
        at = data.index(b"\x93NUMPY", largest.header_offset) + largest.file_size // 2
    data[at] ^= 1
    path.write_bytes(bytes(data))


def remove(path: Path) -> None:
    path.unlink()


DAMAGES = [
    ("learner.npz", truncate),
    ("learner.npz", flip_a_bit),
    ("replay.npz", flip_a_bit),
    ("replay.npz", truncate),
    ("manifest.json", flip_a_bit),
    ("manifest.json", truncate),
    ("manifest.json", remove),
    ("learner.npz", remove),
    ("replay.npz", remove),
]


@pytest.mark.parametrize(("file", "damage"), DAMAGES)
def test_a_damaged_checkpoint_is_noticed(
    file: str, damage: Callable[[Path], None], run: Path
) -> None:
    newest = run / "checkpoints" / f"epoch-{EPOCHS:06d}"
    checkpoints.verify(newest)
    damage(newest / file)
    with pytest.raises(checkpoints.DamagedError):
        checkpoints.verify(newest)


@pytest.mark.parametrize("damage", [flip_a_bit, remove])
def test_the_checkpoint_before_a_damaged_one_is_used(
    damage: Callable[[Path], None], finished: Path, run: Path
) -> None:
    damage(run / "checkpoints" / f"epoch-{EPOCHS:06d}" / "learner.npz")
    said: list[str] = []
    epochs: list[int] = []
    assert resume(run, say=said.append, on_epoch=lambda report: epochs.append(report.epoch))
    assert any(f"epoch-{EPOCHS:06d} is damaged" in one for one in said)
    assert epochs == [EPOCHS]
    assert_same_end(run, finished, EPOCHS)


def test_nothing_is_lost_where_no_checkpoint_can_be_used(run: Path) -> None:
    shutil.rmtree(run / "checkpoints" / f"epoch-{EPOCHS:06d}")
    (run / "checkpoints" / f"epoch-{EPOCHS - 1:06d}" / "replay.npz").unlink()
    before = {path: path.read_bytes() for path in run.rglob("*.*") if path.is_file()}
    with pytest.raises(RunError, match="nothing was changed"):
        resume(run, say=lambda _: None)
    assert {path: path.read_bytes() for path in before} == before
    assert pairvdn.load(run).epoch == EPOCHS - 1


def test_what_belongs_to_another_config_is_not_loaded(run: Path) -> None:
    config = run / "config.toml"
    config.write_text(re.sub(r"hidden_sizes = \[\d+", "hidden_sizes = [7", config.read_text()))
    with pytest.raises(RunError, match=r"does not fit config\.toml"):
        pairvdn.load(run)


@pytest.mark.parametrize("file", ["seeds.json", "metrics.jsonl"])
def test_a_file_that_is_no_json_is_named(file: str, run: Path, capsys) -> None:
    (run / file).write_text("no json\n")
    assert main(["plot", str(run), "--out", str(run / "curves")]) == 2
    assert f"{file} cannot be used" in capsys.readouterr().err


def test_loading_warns_and_uses_the_one_before(run: Path) -> None:
    assert pairvdn.load(run).epoch == EPOCHS
    truncate(run / "checkpoints" / f"epoch-{EPOCHS:06d}" / "learner.npz")
    with pytest.warns(UserWarning, match=f"epoch-{EPOCHS:06d} is skipped"):
        assert pairvdn.load(run).epoch == EPOCHS - 1


def test_best_is_never_replaced_by_last(run: Path) -> None:
    best = pairvdn.load(run, "best")
    means = {
        line["epoch"]: line["evaluation"]["mean"]
        for line in metrics_without_clock(run)
        if "evaluation" in line
    }
    assert best.epoch == max(means, key=means.get)
    shutil.rmtree(run / "checkpoints" / "best")
    with pytest.raises(RunError, match="no best checkpoint"):
        pairvdn.load(run, "best")


def test_a_best_whose_successor_was_not_finished_is_found(run: Path) -> None:
    folder = run / "checkpoints"
    epoch = pairvdn.load(run, "best").epoch
    (folder / "best").rename(folder / ".old-best")
    (folder / ".new-best").mkdir()
    assert pairvdn.load(run, "best").epoch == epoch
    checkpoints.write(folder / "best", {}, {"epoch": 1})
    assert checkpoints.facts(folder / "best") == {"epoch": 1}
    assert not list(folder.glob(".*"))


def test_replays_are_kept_with_the_newest_two(run: Path) -> None:
    saved = sorted((run / "checkpoints").glob("epoch-*"))
    assert [path.name for path in saved] == [f"epoch-{n:06d}" for n in range(1, EPOCHS + 1)]
    with_replay = [path for path in saved if (path / "replay.npz").exists()]
    assert with_replay == saved[-2:]


def test_nothing_is_pickled(run: Path) -> None:
    for file in run.rglob("*.npz"):
        with np.load(file, allow_pickle=False) as stored:
            assert all(stored[name].dtype != object for name in stored)
    assert not list(run.rglob("*.pkl"))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_cannot_be_written_leaves_the_last_checkpoint(
    code: int, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    savez, calls = np.savez, []

    def fails_after_a_while(file, **leaves):
        calls.append(file)
        if len(calls) > 5:
            file.write(b"half of it")
            raise OSError(code, "injected", file.name)
        savez(file, **leaves)

    monkeypatch.setattr("pairvdn.runs.saving.LEAST_REST", 0)
    monkeypatch.setattr(np, "savez", fails_after_a_while)
    with pytest.raises(RunError, match=r"injected; the last good checkpoint is epoch-00000\d"):
        train(CONFIG, run)
    (*_, last) = sorted((run / "checkpoints").glob("epoch-*"))
    checkpoints.verify(last)
    assert arrays(run, last.name)
    assert not list((run / "checkpoints").glob(".*"))
    monkeypatch.undo()
    assert resume(run)
    assert_same_end(run, finished, EPOCHS)


def test_seeds_have_a_checkpoint_in_common_while_they_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = CONFIG.replace({"checkpoints.keep": 1})
    run, write, epochs = tmp_path / "run", checkpoints.write, []

    def fails_at_the_last_seed(folder: Path, parts, facts, **others):
        if folder.name != "best":
            epochs.append(facts["epoch"])
            if len(epochs) == 4:  # the second one of the second seed
                raise OSError(errno.ENOSPC, "injected", str(folder))
        write(folder, parts, facts, **others)

    monkeypatch.setattr("pairvdn.runs.saving.LEAST_REST", 0)
    monkeypatch.setattr(checkpoints, "write", fails_at_the_last_seed)
    with pytest.raises(RunError, match="injected"):
        train(config, run, num_seeds=2)
    assert epochs == [1, 1, 2, 2]
    monkeypatch.undo()
    said: list[str] = []
    assert resume(run, say=said.append)
    assert f"resuming after epoch 1 of {EPOCHS}" in said
    for seed in run.glob("seed-*"):
        assert [one.name for one in (seed / "checkpoints").glob("epoch-*")] == ["epoch-000006"]


def test_a_best_of_an_epoch_that_is_gone_does_not_stay(run: Path) -> None:
    manifest = run / "checkpoints" / "best" / "manifest.json"
    described = json.loads(manifest.read_text())
    described["facts"] = {"epoch": 6, "return": 1e9}
    manifest.write_text(json.dumps(described))
    shutil.rmtree(run / "checkpoints" / "epoch-000006")
    assert resume(run)
    reached = metrics_without_clock(run)[-1]["evaluation"]["mean"]
    facts = checkpoints.facts(manifest.parent)
    assert (facts["epoch"], facts["return"]) == (6, reached)


def test_a_path_below_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    for below in ("file", "file/run"):
        assert main(["train", "wall/vdn", "--out", str(tmp_path / below)]) in (1, 2)
        errors = capsys.readouterr().err
        assert errors.count("\n") == 1
        assert str(tmp_path / "file") in errors
        assert "Traceback" not in errors


def test_a_limit_on_file_sizes_is_a_clear_error(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = subprocess.run(
        [
            *("bash", "-c", 'ulimit -f 48; exec "$@"', "bash"),  # kilobytes; a replay needs more
            *command("train", "wall/vdn", "--out", run, "--epochs=2", "--checkpoints.seconds=0"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"pairvdn: Cannot write to {run}")
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((run / "checkpoints").glob("epoch-*"))
