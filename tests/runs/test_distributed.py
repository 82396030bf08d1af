"""Processes connect and compare their settings; those that do not fit end with one line."""

import json
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from gate import first
from processes import command, free_port, start, started

from pairvdn.cli import main
from pairvdn.config.errors import ConfigError
from pairvdn.runs.devices.processes import SINGLE, Coordinator, differences

GAME = ("climbing/vdn", "--learner.num-envs=4", "--epochs=1", "--quiet")


def ended(process: subprocess.Popen[str], code: int) -> str:
    """The errors of a process that must end with this code and without a stack trace."""
    _, errors = process.communicate(timeout=120)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    assert "stack trace" not in errors
    return errors


def start_all(
    cache: Path, tmp_path: Path, own: Sequence[Sequence[object]]
) -> list[subprocess.Popen[str]]:
    """Start one process for each list of flags, all at one coordinator."""
    common = ("--coordinator", f"127.0.0.1:{free_port()}", "--num-processes", len(own))
    return [
        start(cache, "train", *GAME, "--out", tmp_path / "run", *common, "--process-id", i, *flags)
        for i, flags in enumerate(own)
    ]


def test_a_setting_of_any_process_that_differs_is_named_in_all(cache: Path, tmp_path: Path) -> None:
    own = ((), (), ("--learner.num-envs=8", "--method.hidden-sizes=3,5", "--seed=7"))
    for process in start_all(cache, tmp_path, own):
        errors = ended(process, 2)
        assert "learner.num_envs is 4 in process 0 and 8 in process 2" in errors
        assert "and [3, 5] in process 2" in errors
        assert "seed is 0 in process 0 and 7 in process 2" in errors
        assert "epochs" not in errors
    assert not (tmp_path / "run").exists()


def test_a_missing_process_is_one_line(cache: Path, tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    flags = ("--coordinator", address, "--num-processes", 2, "--wait", 2, "--process-id")
    began = time.monotonic()
    alone = [
        start(cache, "train", *GAME, "--out", tmp_path / "run", *flags, 0),
        # Nothing listens at the address of this one.
        start(cache, "train", *GAME, "--out", tmp_path / "run", *flags, 1, "--coordinator=[::1]:9"),
    ]
    for process in alone:
        (line,) = ended(process, 1).splitlines()
        assert "not all processes have connected at" in line
        assert "within 2 s" in line
    assert time.monotonic() - began < 60
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_port_in_use_is_one_line(cache: Path, tmp_path: Path) -> None:
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        flags = ("--coordinator", f"127.0.0.1:{port}", "--num-processes", 2, "--process-id", 0)
        process = start(
            cache, "train", *GAME, "--out", tmp_path / "run", *flags, "--wait", 5, devices=1
        )
        errors = ended(process, 1)
        assert errors.splitlines()[-1].startswith("pairvdn: ")
        assert str(port) in errors.splitlines()[-1]


def test_tasks_of_a_slurm_step_train_together(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variables are those that `srun` sets; JAX reads them."""
    monkeypatch.setenv("SLURM_JOB_ID", "4099")
    monkeypatch.setenv("SLURM_STEP_NODELIST", "localhost")
    monkeypatch.setenv("SLURM_NTASKS", "2")
    monkeypatch.setenv("JAX_COORDINATOR_PORT", str(free_port()))
    run = tmp_path / "run"
    both = []
    for task in "01":
        monkeypatch.setenv("SLURM_PROCID", task)
        monkeypatch.setenv("SLURM_LOCALID", task)
        flags = ("train", *GAME, "--out", run, "--distributed", "--no-tensorboard")
        both.append(started(cache, command(*flags), 1))
    for process in both:
        assert ended(process, 0) == ""
    manifest = json.loads((run / "checkpoints" / "epoch-000001" / "manifest.json").read_text())
    assert manifest["facts"]["place"] == "environments over 2 devices of 2 processes"


@pytest.mark.parametrize(
    ("flags", "complaint"),
    first(
        1,
        [
            (["--distributed"], "finds no cluster"),
            (["--distributed", "--coordinator", "x:1"], "leave --coordinator out"),
        ],
    ),
)
def test_flags_that_cannot_work_are_one_line(
    flags: list[str], complaint: str, cache: Path, tmp_path: Path
) -> None:
    errors = ended(start(cache, "train", *GAME, "--out", tmp_path / "run", *flags), 2)
    assert complaint in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("here", 0, 2), "HOST:PORT"),
        (("here:0", 0, 2), "HOST:PORT"),
        (("here:80", 0, 1), "at least 2"),
        (("here:80", 2, 2), "from 0 to 1"),
    ],
)
def test_a_coordinator_that_cannot_be(arguments: tuple[str, int, int], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        Coordinator(*arguments)


def test_settings_of_a_slurm_step_alone_start_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks may be runs of their own: without --distributed they are."""
    for name in ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID"):
        monkeypatch.setenv(name, "2")
    out = str(tmp_path / "run")
    assert main(["train", *GAME, "--out", out, "--devices", "all", "--no-tensorboard"]) == 0


def test_a_setting_that_one_process_lacks_differs() -> None:
    assert differences([{}, {"new": True}]) == [
        'new is "not set" in process 0 and true in process 1'
    ]
    assert differences([{"sizes": [2, 3], "seed": 1}] * 3) == []


def test_a_process_alone_has_its_own_text() -> None:
    assert SINGLE.texts("mine") == ["mine"]
