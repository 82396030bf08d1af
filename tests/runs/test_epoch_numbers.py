"""Epochs count from 1 in metrics, also in those of runs that version 0.1 began."""

import json
from pathlib import Path

import pytest

from pairvdn.runs.folder import RunFolder, read_metrics


@pytest.mark.parametrize("first", [0, 1])
def test_lines_are_read_and_cut_by_their_epoch(first: int, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for epoch in range(first, first + 4):
        folder.append({"epoch": epoch, "env_steps": 10 * (epoch - first + 1)})
    assert [line["epoch"] for line in read_metrics(tmp_path)] == [1, 2, 3, 4]
    folder.cut(3)
    written = [json.loads(line) for line in folder.metrics.read_text().splitlines()]
    assert written == [{"epoch": epoch, "env_steps": 10 * epoch} for epoch in (1, 2, 3)]
