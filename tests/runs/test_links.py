"""Symbolic links in run folders: nothing is written, removed or copied through them."""

import os
import shutil
from pathlib import Path

import pytest
from attacked_runs import CONFIG, EPOCHS, newest

from pairvdn.cli import main
from pairvdn.runs import resume, train
from pairvdn.runs.analysis.evaluate import Settings, evaluate
from pairvdn.runs.errors import FolderError
from pairvdn.runs.export import export
from pairvdn.runs.folder import RunFolder, seeds_text


@pytest.fixture
def run(attacked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(attacked, tmp_path / "run"))


@pytest.mark.parametrize(
    "name", ["lock", "metrics.jsonl", "checkpoints", "evaluations", "wandb", "tensorboard/seed-0"]
)
def test_nothing_is_written_through_a_link(
    name: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "secret"
    original = run / name
    original.parent.mkdir(exist_ok=True)
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


def test_an_evaluation_does_not_follow_a_link_to_a_seed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    RunFolder(folder / "seed-0").create(CONFIG)
    RunFolder(folder).write_config(CONFIG)
    (folder / "seeds.json").write_text(seeds_text([0]))
    (folder / "seed-0").rename(tmp_path / "elsewhere")
    (folder / "seed-0").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FolderError, match="seed-0 is a symbolic link"):
        evaluate(folder, Settings(episodes=1))


@pytest.mark.parametrize("kind", ["link", "pipe", "nothing"])
def test_an_export_copies_no_file_from_elsewhere(kind: str, run: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("precious")
    versions = run / "versions.json"
    versions.unlink()
    if kind == "link":
        versions.symlink_to(tmp_path / "secret")
    elif kind == "pipe":
        os.mkfifo(versions)
    with pytest.raises(FolderError, match=r"versions\.json"):
        export(run, tmp_path / "small")
    assert not (tmp_path / "small").exists()


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
