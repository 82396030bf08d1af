"""Help, lists and the way of a run through the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pairvdn import envs, values
from pairvdn.cli import COMMANDS, main
from pairvdn.experiment import preset_names, read_metrics, run_folders


def test_help_is_quick_because_nothing_is_imported() -> None:
    script = (
        "import sys; from pairvdn.cli import main; main(['--help']); print('jax' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("False\n")
    for name in COMMANDS:
        assert f"  {name} " in done.stdout


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("pairvdn 0.")


@pytest.mark.parametrize("command", ["train", "train wall/pairvdn", "resume", "list", "benchmark"])
def test_help_of_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == 0
    assert f"usage: pairvdn {command.split()[0]}" in capsys.readouterr().out


def test_every_field_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", "box-jump/pairvdn", "--help"])
    shown = capsys.readouterr().out
    for flag in ("--epochs", "--env.num-boxes", "--method.hidden-sizes", "--learner.n-step"):
        assert flag in shown


def test_list_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    shown = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    for name in (*envs.names(), *values.names(), *preset_names()):
        assert name in shown
    assert main(["list", "methods"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(values.names())


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
    # A seed whose end is lost takes the others with it, and they end as before.
    before = [(run / "metrics.jsonl").read_text() for run in runs]
    (runs[1] / "checkpoints" / "epoch-000003" / "manifest.json").unlink()
    assert main(["resume", str(folder)]) == 0
    assert "warning" in capsys.readouterr().err
    for run, text in zip(runs, before, strict=True):
        again = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        first = [json.loads(line) for line in text.splitlines()]
        for line in again + first:
            del line["clock"]
        assert again == first


def test_a_run_that_diverges_stops_and_says_what_to_try(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    flags = ["--optimiser.name=sgd", "--optimiser.learning-rate=1e6", "--out", str(run)]
    assert main(["train", "climbing/vdn", *flags, *SMALL]) == 1
    shown = capsys.readouterr().err
    assert "Learning diverged in epoch 0" in shown
    assert "smaller learning rate" in shown
    assert list((run / "checkpoints").glob("epoch-*"))
    assert main(["resume", str(run)]) == 1
    assert "Learning diverged in epoch 0" in capsys.readouterr().err


def test_benchmark_prints_speeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["benchmark", "qtran/vdn", "--seconds=0.1", *SMALL]) == 0
    shown = capsys.readouterr().out
    assert "env steps/s" in shown
    assert "updates/s" in shown
