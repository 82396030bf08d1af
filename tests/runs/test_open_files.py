"""Many seeds keep many files open; limits are those of a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = """
import resource, sys
from pairvdn.cli import main

resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
sys.exit(main("train wall/vdn --seeds 60 --epochs 1 --quiet --out run".split()))
"""


@pytest.mark.parametrize(("soft", "hard", "code"), [(100, 1000, 0), (100, 100, 2)])
def test_the_limit_is_raised_or_the_seeds_are_refused_before_anything_is_written(
    soft: int, hard: int, code: int, tmp_path: Path
) -> None:
    program = TRAIN.format(soft=soft, hard=hard)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert (tmp_path / "run").exists() == (code == 0)
    if code:
        (line,) = done.stderr.splitlines()
        assert "60 seeds need 248 open files, and this process may have 100" in line
