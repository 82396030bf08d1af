"""Every numbered example runs as a user would run it and prints something."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))
SAYS = {
    "01_maximise": ["16 hit, worth 16", "each car for itself: 0 go, worth 0", "8 go, worth 8"],
    "05_pettingzoo": ["padded to 3 actions and observations of 2", "pairvdn: 1.00 a day"],
    "02_train_in_python": ["vdn, greedy: 5 of 11", "pairvdn, greedy: 11 of 11"],
    "04_new_environment": ["keeps the contract", "\nvdn: 0 of 12", "pairvdn: 12 of 12"],
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip()
    for line in SAYS.get(path.stem, []):
        assert line in found.stdout
