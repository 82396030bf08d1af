"""Numbers of a run in other programs' files."""

from pathlib import Path

import pytest

from pairvdn.config import load_preset
from pairvdn.config.errors import ConfigError
from pairvdn.runs.loggers import require_wandb, scalars, tensorboard, wandb

LINE = {
    "epoch": 3,
    "loss": 0.5,
    "diverged": False,
    "evaluation": {"mean": 2.0, "values": [1.0, 3.0]},
    "clock": {"seconds": 7.0},
}


def test_scalars() -> None:
    assert scalars(LINE) == {
        "epoch": 3.0,
        "loss": 0.5,
        "diverged": 0.0,
        "evaluation/return": 2.0,
        "clock/seconds": 7.0,
    }


def test_tensorboard_writes_a_file_for_each_seed(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    with tensorboard(tmp_path) as log:
        log(0, LINE)
        log(1, LINE)
    for seed in (0, 1):
        (events,) = (tmp_path / "tensorboard" / f"seed-{seed}").iterdir()
        assert b"evaluation/return" in events.read_bytes()


def test_wandb_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb(tmp_path, load_preset("wall/vdn")) as log:
        log(0, LINE)
    assert list((tmp_path / "wandb").glob("offline-run-*"))


def test_wandb_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pairvdn\[logging\]"):
        require_wandb()
