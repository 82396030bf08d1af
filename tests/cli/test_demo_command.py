"""`pairvdn demo`, small."""

import json
from pathlib import Path

import pytest

from pairvdn.cli import demo, main


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
    assert json.loads((out / "metrics.jsonl").read_text())["epoch"] == 1
