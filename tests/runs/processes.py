"""Runs in processes of their own, and what is compared of them."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

# Small enough to compile in seconds and to take some milliseconds an epoch.
TINY = (
    "--learner.num-envs=4",
    "--learner.replay-capacity=512",
    "--evaluation.every=10",
    "--checkpoints.seconds=0",
    "--checkpoints.keep-replay",  # so that replays can be compared, too
    "--quiet",
)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "pairvdn", *map(str, arguments)]


def start(cache: Path, *arguments: object, devices: int = 1) -> subprocess.Popen[str]:
    """Start the command line; what one process has compiled, the next one finds."""
    return started(cache, command(*arguments), devices)


def started(cache: Path, command: list[str], devices: int) -> subprocess.Popen[str]:
    """Start a command that sees so many devices; those beyond one are simulated."""
    environment = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    if devices > 1:
        simulated = f"--xla_force_host_platform_device_count={devices}"
        environment["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {simulated}"
    return subprocess.Popen(
        command,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(cache: Path, *arguments: object, devices: int = 1) -> str:
    """Run the command line; what it said besides its results."""
    process = start(cache, *arguments, devices=devices)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return errors


def free_port() -> int:
    with socket.create_server(("", 0)) as server:
        return int(server.getsockname()[1])


def start_two(
    cache: Path, *arguments: object, only: tuple[Sequence[object], Sequence[object]] = ((), ())
) -> list[subprocess.Popen[str]]:
    """Start two processes that train together, with the same arguments and some of their own."""
    together = ("--coordinator", f"127.0.0.1:{free_port()}", "--num-processes", 2)
    return [
        start(cache, *arguments, *only[index], *together, "--process-id", index) for index in (0, 1)
    ]


def finish_two(cache: Path, *arguments: object) -> None:
    for process in start_two(cache, *arguments):
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
        del line["clock"], line["crc32"]  # which is of the whole line
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
    for checkpoint, at_least in ((f"epoch-{epochs:06d}", 10), ("best", 1)):
        expected = arrays(other, checkpoint)
        assert len(expected) > at_least
        assert arrays(run, checkpoint) == expected
