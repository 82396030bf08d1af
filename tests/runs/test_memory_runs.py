"""Runs with memory and without replay: killed and resumed, evaluated, exported, recorded."""

from pathlib import Path

import pytest
from gate import first
from processes import assert_same_end, finish, start, wait_for_lines

from pairvdn.cli import main
from pairvdn.runs import load

EPOCHS = 40
GRU = (
    "--method.encoder=gru",
    "--method.encoder-size=8",
    "--method.hidden-sizes=8",
    "--method.inputs=observation,action,identifier",
    "--learner.num-envs=4",
    "--learner.rounds-per-epoch=2",
    "--learner.batch-size=24",
    "--evaluation.every=20",
    "--evaluation.episodes=4",
    "--checkpoints.seconds=0",
    "--quiet",
)
SCHEDULES = {
    "pqn": (*GRU, "--learner.burn-in=2"),
    "parallel": (
        *GRU,
        "--learner.name=parallel",
        "--learner.agent-steps-per-round=12",
        "--learner.sequence-length=6",
        "--learner.burn-in=2",
        "--learner.updates-per-round=2",
        "--learner.random-agent-steps=10",
        "--learner.replay-capacity=600",
    ),
}


@pytest.mark.parametrize("schedule", first(1, SCHEDULES))
def test_killed_and_resumed_is_the_same_run(schedule: str, cache: Path, tmp_path: Path) -> None:
    arguments = ("train", "t-maze/pairvdn", f"--epochs={EPOCHS}", *SCHEDULES[schedule])
    undisturbed, run = tmp_path / "undisturbed", tmp_path / "run"
    finish(cache, *arguments, "--out", undisturbed)
    process = start(cache, *arguments, "--out", run)
    wait_for_lines(process, run, 3)
    process.kill()
    process.communicate()
    finish(cache, "resume", run, "--quiet")
    assert_same_end(run, undisturbed, EPOCHS)


def test_a_run_without_replay_is_small_and_every_command_opens_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    assert main(["train", "t-maze/vdn", "--out", str(run), "--epochs=2", *SCHEDULES["pqn"]]) == 0
    size = sum(file.stat().st_size for file in (run / "checkpoints").rglob("*") if file.is_file())
    assert size < 300_000
    assert load(run).value.encoder.has_memory
    exported = tmp_path / "exported"
    assert main(["export", str(run), str(exported)]) == 0
    for folder in (run, exported):
        assert main(["evaluate", str(folder), "--episodes=3"]) == 0
    assert main(["watch", str(run), "--out", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").stat().st_size > 10_000
    capsys.readouterr()


def test_seeds_side_by_side_have_a_memory_each(tmp_path: Path) -> None:
    run = tmp_path / "run"
    flags = ("--epochs=2", "--seeds=2", *SCHEDULES["parallel"])
    assert main(["train", "t-maze/iql", "--out", str(run), *flags]) == 0
    assert len(list(run.glob("seed-*"))) == 2
