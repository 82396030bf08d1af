"""One run on several devices: simulated ones in one process, and two processes."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import copies
import numpy as np
import pytest
from processes import (
    arrays,
    assert_same_end,
    finish,
    finish_two,
    free_port,
    metrics_without_clock,
    start,
    start_two,
    started,
    wait_for_lines,
)

from pairvdn.cli import main
from pairvdn.runs import load

SMALL = [
    f"--{key.replace('_', '-')}={','.join(map(str, value)) if isinstance(value, tuple) else value}"
    for key, value in copies.SMALL.items()
]
SAVED = ("--checkpoints.seconds=0", "--checkpoints.keep-replay")
GAME = ("climbing/pairvdn", *SMALL, "--evaluation.every=2", *SAVED)
COPIES = [sys.executable, str(Path(copies.__file__))]


def printed(process: subprocess.Popen[str]) -> dict[str, list[str]]:
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return json.loads(output.splitlines()[-1])


def test_four_devices_have_learned_the_same_bits() -> None:
    compiled = Path(os.environ["JAX_COMPILATION_CACHE_DIR"])  # by an earlier run of the tests
    told = printed(started(compiled, COPIES, 4))
    assert len(told["before"]) == len(told["after"]) == 4
    assert len(set(told["before"])) == len(set(told["after"])) == 1
    assert told["before"] != told["after"]


@pytest.mark.slow
def test_two_processes_have_learned_what_two_devices_of_one_have(cache: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    both = [started(cache, [*COPIES, address, str(index)], 1) for index in (0, 1)]
    told = [printed(process) for process in both]
    expected = printed(started(cache, COPIES, 2))
    assert [one["after"] for one in told] == [expected["after"][:1]] * 2


def cut_after(run: Path, epoch: int, copy: Path) -> Path:
    """A copy of a run as if it had been killed after this checkpoint."""
    shutil.copytree(run, copy)
    for saved in (copy / "checkpoints").glob("epoch-*"):
        if int(saved.name.removeprefix("epoch-")) > epoch:
            shutil.rmtree(saved)
    return copy


@pytest.fixture(scope="module")
def four(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on four devices, with every checkpoint."""
    run = tmp_path_factory.mktemp("runs") / "four"
    finish(cache, "train", *GAME, "--out", run, "--epochs=4", "--devices=all", devices=4)
    return run


@pytest.mark.slow
def test_resumed_on_as_many_devices_it_is_the_same_run(
    four: Path, cache: Path, tmp_path: Path
) -> None:
    copy = cut_after(four, 2, tmp_path / "copy")
    said = finish(cache, "resume", copy, "--devices=4", devices=4)
    assert "warning" not in said
    assert_same_end(copy, four, 4)


@pytest.mark.slow
def test_resumed_on_other_devices_it_goes_on_and_says_so(
    four: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = cut_after(four, 2, tmp_path / "copy")
    assert main(["resume", str(copy), "--quiet"]) == 0
    assert (
        "trained on environments over 4 devices and resumed on one device"
        in capsys.readouterr().err
    )
    for name in ("env_steps", "updates", "episodes"):
        expected = [line[name] for line in metrics_without_clock(four)]
        assert [line[name] for line in metrics_without_clock(copy)] == expected
    assert load(copy).epoch == 4
    # The checkpoint of one device has the same form as that of four.
    last = "epoch-000004"
    assert {name: leaf[:2] for name, leaf in arrays(copy, last).items()} == {
        name: leaf[:2] for name, leaf in arrays(four, last).items()
    }


@pytest.mark.slow
def test_seeds_on_devices_of_their_own(cache: Path, tmp_path: Path) -> None:
    """The random numbers are the same, so that uniformly random play is, whatever the layout."""
    one, four = tmp_path / "one", tmp_path / "four"
    flags = ("--seeds=4", "--epochs=3")
    finish(cache, "train", *GAME, *flags, "--out", one)
    finish(cache, "train", *GAME, *flags, "--out", four, "--devices=4", "--shard=seeds", devices=4)
    for seed in range(4):
        lines = zip(
            metrics_without_clock(four / f"seed-{seed}"),
            metrics_without_clock(one / f"seed-{seed}"),
            strict=True,
        )
        for line, expected in lines:
            for name in ("env_steps", "updates", "episodes", "mean_return"):
                assert line[name] == expected[name]
            assert line["loss"] == pytest.approx(expected["loss"], rel=1e-3)


@pytest.mark.slow
def test_two_processes_stopped_and_resumed_are_two_devices_of_one(
    cache: Path, tmp_path: Path
) -> None:
    undisturbed, run = tmp_path / "undisturbed", tmp_path / "run"
    flags = ("train", *GAME, "--epochs=40", "--keep=50", "--out")
    finish(cache, *flags, undisturbed, "--devices=2", devices=2)
    both = start_two(cache, *flags, run)
    wait_for_lines(both[0], run, 5)
    both[1].send_signal(signal.SIGTERM)  # only one of them is asked
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 128 + signal.SIGTERM, errors
        assert f"pairvdn resume {run}" in errors
    assert len(metrics_without_clock(run)) < 40
    finish_two(cache, "resume", run)
    assert_same_end(run, undisturbed, 40)


@pytest.mark.slow
def test_seeds_of_two_processes(cache: Path, tmp_path: Path) -> None:
    """Nothing is exchanged but what the first process writes down."""
    together, apart = tmp_path / "together", tmp_path / "apart"
    flags = ("train", *GAME, "--seeds=2", "--shard=seeds", "--epochs=2", "--devices=all", "--out")
    finish_two(cache, *flags, together)
    finish(cache, *flags, apart, devices=2)
    for seed in ("seed-0", "seed-1"):
        assert_same_end(together / seed, apart / seed, 2)


@pytest.mark.slow
def test_who_loses_the_other_process_ends(cache: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    both = start_two(cache, "train", *GAME, "--epochs=100000", "--out", run)
    wait_for_lines(both[0], run, 3)
    both[1].kill()
    _, errors = both[0].communicate(timeout=120)
    assert both[0].returncode != 0
    assert "process" in errors
    both[1].communicate()


def test_processes_with_other_settings_are_told_apart(cache: Path, tmp_path: Path) -> None:
    only = ((), ("--learner.num-envs=8", "--seed=3"))
    both = start_two(cache, "train", *GAME, "--out", tmp_path / "run", only=only)
    for process in both:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 2
        assert "learner.num_envs is 4 in process 0 and 8 in process 1" in errors
        assert "seed is 0 in process 0 and 3 in process 1" in errors
        assert "Traceback" not in errors
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_folder_that_is_taken_stops_both(four: Path, cache: Path) -> None:
    first, second = start_two(cache, "train", *GAME, "--out", four)
    _, errors = first.communicate(timeout=60)
    assert (first.returncode, "exists" in errors) == (2, True)
    _, errors = second.communicate(timeout=60)
    assert (second.returncode, "another process" in errors) == (1, True)


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--devices", "2"], "--devices 2: there are no more than 1 devices"),
        (["--devices", "0"], "--devices must be at least 1"),
        (["--devices", "many"], "--devices"),
        (["--shard", "seeds"], "--devices all"),
        (["--devices", "all", "--shard", "seeds"], "--seeds 2"),
        (["--process-id", "0"], "--coordinator, --num-processes must be given"),
        (["--coordinator", "x", "--process-id", "0", "--num-processes", "2"], "HOST:PORT"),
    ],
)
def test_what_cannot_be_is_one_line(
    flags: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *GAME, "--out", str(tmp_path / "run"), *flags]) == 2
    errors = capsys.readouterr().err
    assert complaint in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["climbing/vdn", "--learner.num-envs=6"], "num_envs must be a multiple"),
        (["climbing/vdn", "--shard=seeds", "--seeds=3"], "--seeds must be a multiple of the 4"),
        (["box-jump/vdn-paper"], "single environment cannot be sharded over 4"),
        (["pettingzoo:mpe2.simple_spread_v3", "--method", "vdn"], "is stepped on the host"),
    ],
)
def test_what_cannot_be_divided_is_one_line(
    arguments: list[str], complaint: str, cache: Path, tmp_path: Path
) -> None:
    process = start(
        cache, "train", *arguments, "--devices=all", "--out", tmp_path / "run", devices=4
    )
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert complaint in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "run").exists()


def curves(run: Path, seeds: int) -> np.ndarray:
    """Returns while training: [seeds, epochs]."""
    lines = [metrics_without_clock(run / f"seed-{seed}") for seed in range(seeds)]
    return np.array([[line["mean_return"] for line in one] for one in lines])


@pytest.mark.slow
@pytest.mark.parametrize("how", ["four devices", "two processes"])
def test_several_devices_learn_as_one_does(how: str, cache: Path, tmp_path: Path) -> None:
    """A game that is learned while exploration falls: curves of 8 seeds differ by chance alone."""
    seeds = 8
    falling = ("--exploration.end=0.05", "--epochs=10", "--evaluation.every=10")
    flags = ("train", "climbing/pairvdn", *falling, f"--seeds={seeds}", "--method.hidden-sizes=16")
    finish(cache, *flags, "--out", tmp_path / "one")
    if how == "four devices":
        finish(cache, *flags, "--out", tmp_path / "several", "--devices=4", devices=4)
    else:
        finish_two(cache, *flags, "--out", tmp_path / "several")
    one, several = curves(tmp_path / "one", seeds), curves(tmp_path / "several", seeds)
    error = np.sqrt((one.var(axis=0, ddof=1) + several.var(axis=0, ddof=1)) / seeds)
    difference = several.mean(axis=0) - one.mean(axis=0)
    assert one.mean(axis=0)[-1] - one.mean(axis=0)[0] > 10  # from -3.8 at random to 11 at best
    assert (np.abs(difference) < 4.5 * error).all(), (difference / error).round(1)
    assert (several != one).any()  # other random numbers, not the same run
    for run in (tmp_path / "one", tmp_path / "several"):
        last = [metrics_without_clock(run / f"seed-{seed}")[-1] for seed in range(seeds)]
        assert [line["evaluation"]["mean"] for line in last] == [11.0] * seeds
