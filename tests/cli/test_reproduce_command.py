"""`pairvdn reproduce` and `pairvdn demo`, small."""

import json
from pathlib import Path

import pytest
from reproduce_tiny import TINY

from pairvdn.cli import demo, main


@pytest.mark.slow
@pytest.mark.parametrize("what", ["table1", "grouping", "curves"])
def test_what_is_trained(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr("pairvdn.cli.reproduce.QUICK", TINY)
    assert main(["reproduce", what, "--quick", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert TINY.note in text
    files = [Path(line) for line in text.splitlines() if line.startswith(str(tmp_path))]
    assert {file.stem.removesuffix("-bars") for file in files} == {what}
    assert all(file.stat().st_size > 0 for file in files)


@pytest.mark.parametrize("what", ["observations", "environments"])
def test_what_needs_no_training(what: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["reproduce", what, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert str(tmp_path / f"{what}.png") in printed
    assert (tmp_path / f"{what}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_demo_trains_compares_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(demo, "LONG", 410)
    out = tmp_path / "demo"
    assert main(["demo", "--out", str(out), "--epochs", "1", "--episodes", "2"]) == 0
    text = capsys.readouterr().out
    for row in ("random", "untrained network", "trained, last (epoch 1)", "trained, best"):
        assert row in text
    assert "t=400" in text
    assert (out / "curve.png").exists()
    assert (out / "tower.gif").read_bytes().startswith(b"GIF8")
    assert json.loads((out / "metrics.jsonl").read_text())["epoch"] == 0
