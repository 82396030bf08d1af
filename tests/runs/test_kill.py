"""Runs that are killed or asked to stop end with the same bits as one that never was."""

import json
import random
import signal
import time
from pathlib import Path

import pytest
from gate import first
from processes import TINY, assert_same_end, finish, lines_of, start, wait_for_lines

from pairvdn.cli import main

EPOCHS = 300


@pytest.fixture(scope="module")
def undisturbed(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "undisturbed"
    finish(cache, "train", "wall/pairvdn", "--out", run, f"--epochs={EPOCHS}", *TINY)
    assert lines_of(run) == EPOCHS
    return run


def kill_at_a_random_moment(process, run: Path, generator: random.Random) -> bool:
    """Whether it was killed: it may have finished before."""
    while not (run / "config.toml").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    before = lines_of(run)
    # Sometimes while it starts or compiles, mostly somewhere in training.
    if generator.random() < 0.2:
        time.sleep(generator.uniform(0.0, 2.0))
    else:
        target = min(EPOCHS - 5, before + generator.randrange(1, 40))
        while lines_of(run) < target and process.poll() is None:
            time.sleep(0.001)
        time.sleep(generator.uniform(0.0, 0.05))
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("kills", first(1, [2, 20]))
def test_killed_and_resumed_is_the_same_run(
    kills: int, undisturbed: Path, cache: Path, tmp_path: Path
) -> None:
    generator = random.Random(kills)
    killed, round_ = 0, 0
    while killed < kills:
        round_ += 1
        run = tmp_path / f"run-{round_}"
        flags = (f"--epochs={EPOCHS}", *TINY)
        process = start(cache, "train", "wall/pairvdn", "--out", run, *flags)
        while killed < kills and kill_at_a_random_moment(process, run, generator):
            killed += 1
            process = start(cache, "resume", run, "--quiet")
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        assert_same_end(run, undisturbed, EPOCHS)


@pytest.mark.slow
def test_killed_before_the_first_checkpoint_starts_over(
    undisturbed: Path, cache: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    flags = (f"--epochs={EPOCHS}", *TINY, "--checkpoints.seconds=1000")
    process = start(cache, "train", "wall/pairvdn", "--out", run, *flags)
    wait_for_lines(process, run, 5)
    process.kill()
    process.communicate()
    assert not list((run / "checkpoints").glob("epoch-*"))
    finish(cache, "resume", run, "--quiet")
    assert_same_end(run, undisturbed, EPOCHS)


@pytest.mark.parametrize(
    ("signum", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)],
)
def test_asked_to_stop_it_saves_and_says_how_to_resume(
    signum: int, code: int, undisturbed: Path, cache: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    flags = (f"--epochs={EPOCHS}", *TINY, "--checkpoints.seconds=1000")
    process = start(cache, "train", "wall/pairvdn", "--out", run, *flags)
    wait_for_lines(process, run, 5)
    process.send_signal(signum)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert f"pairvdn resume {run}" in errors
    assert "Traceback" not in errors
    (saved,) = (run / "checkpoints").glob("epoch-*")
    assert int(saved.name.removeprefix("epoch-")) == lines_of(run) >= 5
    finish(cache, "resume", run, "--quiet")
    assert_same_end(run, undisturbed, EPOCHS)


def test_a_second_process_refuses_and_a_dead_one_does_not_matter(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    process = start(cache, "train", "wall/pairvdn", "--out", run, "--epochs=100000", *TINY)
    wait_for_lines(process, run, 1)
    assert main(["resume", str(run)]) == 1
    assert f"process {process.pid}" in capsys.readouterr().err
    assert main(["train", "wall/pairvdn", "--out", str(run)]) == 2
    assert "pairvdn resume" in capsys.readouterr().err
    process.kill()
    process.communicate()
    text = (run / "config.toml").read_text()
    last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["epoch"]
    (run / "config.toml").write_text(text.replace("epochs = 100000", f"epochs = {last + 3}"))
    assert main(["resume", str(run)]) == 2  # fewer epochs change the schedules
    assert "epochs was 100000 and is" in capsys.readouterr().err
    assert main(["resume", str(run), "--changed"]) == 0
    assert lines_of(run) == last + 3
