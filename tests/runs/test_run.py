"""Runs of one seed and of several, as the command line starts them."""

import json
import shutil
from pathlib import Path

import jax
import numpy as np
import pytest

import pairvdn
from pairvdn.acting import GreedyPolicy
from pairvdn.cli import main
from pairvdn.runs import read_metrics, run_folders
from pairvdn.runs.errors import FolderError

SMALL = ["--learner.num-envs=4", "--learner.replay-capacity=512", "--epochs=3"]


def test_several_seeds_are_ordinary_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", "qtran/vdn", "--seeds", "2", "--seed", "5", *SMALL]) == 0
    shown = capsys.readouterr().out
    assert "compiling" in shown
    assert "epoch 3/3" in shown
    folder = tmp_path / "runs" / "qtran-vdn-1"
    runs = run_folders(folder)
    assert [run.name for run in runs] == ["seed-5", "seed-6"]
    losses = [[line["loss"] for line in read_metrics(run)] for run in runs]
    assert [len(one) for one in losses] == [3, 3]
    assert losses[0] != losses[1]
    for run in runs:
        assert main(["resume", str(run)]) == 0
        assert "nothing to do" in capsys.readouterr().out
    assert main(["resume", str(folder)]) == 0
    assert "nothing to do" in capsys.readouterr().out
    # Stopped before the last seed was saved: all begin again, and they end as before.
    before = [(run / "metrics.jsonl").read_text() for run in runs]
    shutil.rmtree(runs[1] / "checkpoints" / "epoch-000003")
    assert main(["resume", str(folder)]) == 0
    assert "warning" in capsys.readouterr().err
    for run, text in zip(runs, before, strict=True):
        again = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        first = [json.loads(line) for line in text.splitlines()]
        for line in again + first:
            del line["clock"], line["crc32"]
        assert again == first


@pytest.mark.parametrize(
    ("line", "name", "kind"),
    [
        ("qtran/dcg", "path", "(exact)"),
        (
            "crossroads/pairvdn-learned --method.partners 2",
            "successor graphs",
            "(approximate, with an upper bound)",
        ),
    ],
)
def test_the_log_names_the_maximiser_and_approximate_ones_have_a_gap(
    tmp_path: Path, line: str, name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--out", str(tmp_path / "run"), *SMALL[:2], "--epochs=1"]
    assert main(["train", *line.split(), *flags]) == 0
    shown = capsys.readouterr().out
    assert f"best joint actions by {name}" in shown
    assert kind in shown
    (metrics,) = read_metrics(tmp_path / "run")
    assert ("gap" in metrics) == ("exact" not in kind)


def test_a_run_that_diverges_stops_and_says_what_to_try(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    flags = ["--optimiser.name=sgd", "--optimiser.learning-rate=1e6", "--out", str(run)]
    assert main(["train", "climbing/vdn", *flags, *SMALL]) == 1
    shown = capsys.readouterr().err
    assert "Learning diverged in epoch 1" in shown
    assert "smaller learning rate" in shown
    assert list((run / "checkpoints").glob("epoch-*"))
    assert main(["resume", str(run)]) == 1
    assert "Learning diverged in epoch 1" in capsys.readouterr().err


def test_benchmark_prints_speeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["benchmark", "qtran/vdn", "--seconds=0.1", *SMALL]) == 0
    shown = capsys.readouterr().out
    assert "env steps/s" in shown
    assert "updates/s" in shown


def test_a_loaded_run_acts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert main(["train", "climbing/pairvdn", "--out", str(run), "--epochs=4"]) == 0
    shown = capsys.readouterr().out
    assert str(run) in shown
    loaded = pairvdn.load(run)
    assert (loaded.epoch, loaded.config.env.name, loaded.action_repeat) == (4, "climbing", 1)
    _, timestep = loaded.env.reset(jax.random.PRNGKey(0))
    policy = GreedyPolicy(loaded.env, loaded.value)
    key = jax.random.PRNGKey(0)
    actions, _ = policy.act(key, policy.init(key), timestep)
    assert np.asarray(actions).tolist() == [0, 0]
    with pytest.raises(FolderError, match="not a run folder"):
        pairvdn.load(tmp_path)
