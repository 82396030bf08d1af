"""What the command line asks of the compiler: a bounded cache, and a level of optimisation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pairvdn.cli.compilation import (
    ENABLED,
    FLAGS,
    FOLDER,
    LEAST_SECONDS,
    cache_folder,
    prune,
)

TINY = [
    *("--epochs=1", "--learner.num-envs=2", "--learner.rounds-per-epoch=1", "--quiet"),
    *("--learner.batch-size=4", "--learner.updates-per-round=1", "--method.hidden-sizes=4"),
    *("--evaluation.every=1", "--no-tensorboard"),
]


def train(folder: Path, **variables: str) -> None:
    ours = ("JAX_", "XDG_")
    usual = {key: text for key, text in os.environ.items() if not key.startswith(ours)}
    command = [sys.executable, "-m", "pairvdn", "train", "climbing/vdn", "--out", str(folder)]
    subprocess.run([*command, *TINY], env={**usual, **variables}, check=True)


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_a_second_command_reuses_what_the_first_has_compiled(tmp_path: Path) -> None:
    home = tmp_path / "home"
    # Every program is kept: whether one takes 0.1 s depends on what else the machine does.
    variables = {"XDG_CACHE_HOME": str(home), LEAST_SECONDS: "0"}
    train(tmp_path / "one", **variables)
    compiled = files(home / "pairvdn")
    assert compiled
    train(tmp_path / "two", **variables)
    assert files(home / "pairvdn") == compiled
    first, second = (
        tmp_path / run / "checkpoints/epoch-000001/learner.npz" for run in ("one", "two")
    )
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    "variable", [{ENABLED: "false"}, pytest.param({FOLDER: "elsewhere"}, marks=pytest.mark.slow)]
)
def test_the_users_variables_decide(
    variable: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    train(tmp_path / "run", XDG_CACHE_HOME=str(tmp_path / "home"), **variable)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("given", "used"),
    [
        (None, "--xla_backend_optimization_level=1"),
        ("--xla_dump_to=x", "--xla_dump_to=x --xla_backend_optimization_level=1"),
        ("--xla_backend_optimization_level=3", "--xla_backend_optimization_level=3"),
    ],
)
def test_the_user_can_choose_how_much_is_optimised(given: str | None, used: str) -> None:
    program = "import os; from pairvdn.cli import compilation as c; c.compile_quickly();"
    variables = {key: text for key, text in os.environ.items() if key != FLAGS}
    done = subprocess.run(
        [sys.executable, "-c", f"{program} print(os.environ['{FLAGS}'])"],
        env=variables if given is None else {**variables, FLAGS: given},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == used


def test_the_oldest_files_are_removed_first(tmp_path: Path) -> None:
    for age, name in enumerate(["new", "older", "oldest"]):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (1_000_000 - age, 1_000_000))
    prune(tmp_path, 250)
    assert files(tmp_path) == {"new", "older"}
    prune(tmp_path, 250)
    assert files(tmp_path) == {"new", "older"}
    prune(tmp_path, 0)
    assert files(tmp_path) == set()


def test_the_folder_is_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().parent == tmp_path / "pairvdn"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder().parent == tmp_path / ".cache" / "pairvdn"
