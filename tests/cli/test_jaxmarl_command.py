"""JaxMARL's environments from the command line: train, resume and evaluate as with our own."""

import json
import sys

import pytest

from pairvdn.cli import main

pytest.importorskip("jaxmarl", reason="needs pip install 'pairvdn[jaxmarl]'")

SMALL = [
    "--epochs=2",
    "--evaluation.episodes=2",
    "--checkpoints.seconds=0",
    "--learner.num-envs=2",
    "--learner.rounds-per-epoch=1",
    "--learner.updates-per-round=1",
    "--learner.batch-size=4",
    "--checkpoints.keep-replay",
    "--learner.replay-capacity=256",
    "--method.hidden-sizes=4",
]


def _metrics(run):
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    changing = ("clock", "crc32")
    return [{key: value for key, value in line.items() if key not in changing} for line in lines]


def test_train_resume_and_evaluate(tmp_path, capsys):
    run = tmp_path / "run"
    name, env = "jaxmarl:switch_riddle", ["--env.num-agents=4", "--env.reward-all-live=2.5"]
    assert main(["train", name, "--method=vdn", *env, *SMALL, "--out", str(run)]) == 0
    first = _metrics(run)
    assert len(first) == 2
    # With its end lost, the run goes on from the first epoch and ends as it did before.
    (run / "checkpoints" / "epoch-000002" / "manifest.json").unlink()
    capsys.readouterr()
    assert main(["resume", str(run)]) == 0
    assert _metrics(run) == first
    capsys.readouterr()
    assert main(["evaluate", str(run), "--episodes=2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["environment"] == name


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["jaxmarl:MPE_simple_spred_v3"], "did you mean 'MPE_simple_spread_v3'"),
        (["jaxmarl:MPE_simple_spread_v3", "--env.num-agent=4"], "did you mean 'num_agents'"),
        (["jaxmarl:hanabi"], "give max_steps"),
        (["jaxmarl:switch_riddle", "--method=pairvdn-sorted"], "positions"),
    ],
)
def test_a_wrong_name_or_argument_is_one_line(arguments, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["train", *arguments]) == 2
    shown = capsys.readouterr().err
    assert says in shown
    assert shown.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_a_missing_package_is_named_with_the_command(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jaxmarl", None)
    assert main(["train", "jaxmarl:MPE_simple_spread_v3", "--method", "pairvdn"]) == 2
    shown = capsys.readouterr().err
    assert "pip install 'pairvdn[jaxmarl]'" in shown
    assert shown.count("\n") == 1
