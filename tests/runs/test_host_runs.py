"""Runs whose environments are stepped on the host: trained, stopped, continued, evaluated."""

import json
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from processes import arrays, metrics_without_clock
from small_runs import shared_folder

import pairvdn
from pairvdn.cli import main
from pairvdn.config import load_preset
from pairvdn.envs import HostEnvironment
from pairvdn.evaluation import record_greedy
from pairvdn.runs import resume, train
from pairvdn.runs.errors import Interrupted

CONFIG = load_preset("pettingzoo:small_zoo.Ladder").replace(
    {
        "epochs": 2,
        "env.dies": 2,
        "method.name": "vdn",
        "method.hidden_sizes": (4,),
        "learner.num_envs": 2,
        "learner.rounds_per_epoch": 2,
        "learner.updates_per_round": 1,
        "learner.random_agent_steps": 4,
        "learner.replay_capacity": 64,
        "learner.batch_size": 4,
        "evaluation.every": 1,
        "evaluation.episodes": 3,
        "checkpoints.seconds": 0.0,
    }
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of a run; tests must not change it."""
    return shared_folder(
        "ladder", lambda folder: train(CONFIG, folder, num_seeds=2), tmp_path_factory
    )


def test_seeds_one_after_the_other_are_ordinary_runs(runs: Path, tmp_path: Path) -> None:
    said: list[str] = []
    train(CONFIG, tmp_path / "one", seed=1, say=said.append)
    assert not any("one after the other" in line for line in said)
    one, among = tmp_path / "one", runs / "seed-1"
    assert metrics_without_clock(one) == metrics_without_clock(among)
    assert arrays(one, "epoch-000002") == arrays(among, "epoch-000002")


def test_what_is_written_down(runs: Path) -> None:
    last = metrics_without_clock(runs / "seed-0")[-1]
    # 4 random decisions, 2 that are always pending, 2 x 5 an epoch; in 2 environments.
    assert last["env_steps"] == 2 * (4 + 2 + 2 * 10)
    assert last["updates"] == 4
    # Every episode of the ladder pays 1 + 2 to one agent and 10 + 20 + 30 + 40 to the other.
    assert last["mean_return"] == 103
    assert last["evaluation"]["values"] == [103.0] * 3


def test_load_and_evaluate(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loaded = pairvdn.load(runs / "seed-0", trust=True)
    assert isinstance(loaded.env, HostEnvironment)
    with pytest.raises(ValueError, match="use `record_on_host`"):
        record_greedy(loaded.env, loaded.value, seed=0)
    told = []
    for _ in range(2):
        assert (
            main(["evaluate", str(runs / "seed-0"), "--episodes", "20", "--json", "--trust"]) == 0
        )
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]
    assert told[0]["return"]["values"] == [103.0] * 20
    assert told[0]["random"]["values"] == [103.0] * 30
    # A shorter episode: 1 + 2 and 10 + 20 + 30.
    assert main(["evaluate", str(runs), "--max-steps", "3", "--json", "--trust"]) == 0
    short = json.loads(capsys.readouterr().out)
    assert short["return"]["mean"] == 63
    assert short["interval_over"] == "seeds"


def test_watch(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ladder cannot render, so its agents are dots; two seeds play from the same starts."""
    page, film = tmp_path / "page.html", tmp_path / "film.gif"
    both = [str(runs / "seed-0"), "--against", str(runs / "seed-1"), "--trust"]
    assert main(["watch", *both, "--out", str(page), "--gif", str(film)]) == 0
    assert "ladder" in page.read_text()
    assert film.read_bytes().startswith(b"GIF")
    assert main(["watch", *both, "--episodes", "101"]) == 2
    assert "episodes must be from 1 to 100" in capsys.readouterr().err


def test_compare_and_plot(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(runs), "--episodes", "2", "--trust"]) == 0
    assert "pettingzoo:small_zoo.Ladder" in capsys.readouterr().out
    assert main(["plot", str(runs), "--out", str(tmp_path / "curves"), "--trust"]) == 0
    assert (tmp_path / "curves.png").exists()


def test_a_stopped_run_goes_on_with_new_episodes_and_says_so(tmp_path: Path) -> None:
    run, config = tmp_path / "run", CONFIG.replace({"epochs": 3})

    def stop(report) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match="stopped after epoch 1 of 3"):
        train(config, run, on_epoch=stop)
    said: list[str] = []
    assert resume(run, say=said.append, trust=True)
    assert any(line.startswith("warning") and "episodes restart" in line for line in said)
    assert len(metrics_without_clock(run)) == 3
    assert not resume(run, trust=True)
    with np.load(run / "checkpoints/epoch-000003/learner.npz") as stored:
        assert all(np.isfinite(stored[name]).all() for name in stored)


@pytest.mark.slow  # as one seed does, above
def test_several_seeds_that_were_stopped_go_on_where_they_were(tmp_path: Path) -> None:
    def stop(report) -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted, match=f"resume {tmp_path}"):
        train(CONFIG, tmp_path, num_seeds=2, on_epoch=stop)
    assert len(metrics_without_clock(tmp_path / "seed-0")) == 1
    said: list[str] = []
    assert resume(tmp_path, say=said.append, trust=True)
    assert any("one after the other" in line for line in said)
    assert [len(metrics_without_clock(tmp_path / f"seed-{seed}")) for seed in (0, 1)] == [2, 2]


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("step", "failed in step 3: ZeroDivisionError: a rung broke (small_zoo.py, line "),
        ("reset", "failed in reset: KeyError: 'worn out' (small_zoo.py, line "),
        ("shape", "failed in step 3: ValueError: "),
    ],
)
def test_an_environment_that_breaks_is_named_with_the_step(
    fault: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "pettingzoo:small_zoo.Faulty"
    flags = ["--method=vdn", f"--env.fault={fault}", "--out", str(tmp_path / "run"), "--quiet"]
    assert main(["train", name, *flags]) == 1
    errors = capsys.readouterr().err
    assert f"{name} {says}" in errors
    assert errors.count("\n") == 1


def test_a_finished_run_is_extended(runs: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(runs, tmp_path / "runs"))
    said: list[str] = []
    assert resume(run, epochs=3, trust=True, say=said.append)
    assert sum("refilling it" in line for line in said) == 2  # one seed after the other
    for seed in (0, 1):
        lines = metrics_without_clock(run / f"seed-{seed}")
        assert [line["epoch"] for line in lines] == [1, 2, 3]
        assert lines[-1]["updates"] == 6
