"""Runs in processes of their own, and what is compared of them."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

# Small enough to compile in seconds and to take some milliseconds an epoch.
TINY = (
    "--learner.num-envs=4",
    "--learner.replay-capacity=512",
    "--evaluation.every=10",
    "--checkpoints.seconds=0",
    "--quiet",
)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "pairvdn", *map(str, arguments)]


def start(cache: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start the command line; what one process has compiled, the next one finds."""
    environment = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    return subprocess.Popen(
        command(*arguments),
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(cache: Path, *arguments: object) -> None:
    process = start(cache, *arguments)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors


def lines_of(run: Path) -> int:
    file = run / "metrics.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def wait_for_lines(process: subprocess.Popen[str], run: Path, count: int) -> None:
    """Wait until so many epochs are written down."""
    while lines_of(run) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def metrics_without_clock(run: Path) -> list[dict]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        del line["clock"]
    return lines


def arrays(run: Path, checkpoint: str) -> dict[str, tuple]:
    """Every array of a checkpoint: its shape, type and bits."""
    found = {}
    for part in sorted((run / "checkpoints" / checkpoint).glob("*.npz")):
        with np.load(part, allow_pickle=False) as stored:
            for name in stored:
                leaf = stored[name]
                found[part.name + name] = (leaf.shape, leaf.dtype, leaf.tobytes())
    return found


def assert_same_end(run: Path, other: Path, epochs: int) -> None:
    assert metrics_without_clock(run) == metrics_without_clock(other)
    for checkpoint in (f"epoch-{epochs:06d}", "best"):
        expected = arrays(other, checkpoint)
        assert len(expected) > 10
        assert arrays(run, checkpoint) == expected
