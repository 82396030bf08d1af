"""Environments of others are trained and evaluated from the command line."""

import json
from pathlib import Path

import pytest

from pairvdn.cli import main

TINY = (
    "--epochs=2",
    "--learner.num-envs=2",
    "--learner.rounds-per-epoch=2",
    "--learner.random-agent-steps=5",
    "--learner.replay-capacity=200",
    "--learner.batch-size=16",
    "--evaluation.every=2",
    "--evaluation.episodes=2",
    "--quiet",
)
SHORT = "--env.max-steps=20"
ORIGINALS = [
    "mpe2.simple_spread_v3 --method pairvdn",
    f"butterfly.knights_archers_zombies_v11 --method vdn --env.obs-method vector {SHORT}",
    f"sisl.pursuit_v5 --method pairvdn --env.max-cycles 20 --env.n-pursuers 4 {SHORT}",
    f"butterfly.pistonball_v6 --method vdn --env.continuous false --env.image-size 8,8 {SHORT}",
    f"butterfly.cooperative_pong_v6 --method qmix --env.render-mode rgb_array {SHORT}",
]


@pytest.mark.slow
@pytest.mark.parametrize("line", ORIGINALS, ids=lambda line: line.split()[0])
def test_train_and_evaluate(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert main(["train", *f"pettingzoo:{line}".split(), *TINY, "--out", str(run)]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(run), "--episodes", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["environment"] == f"pettingzoo:{line.split()[0]}"
    assert len(told["return"]["values"]) == 2
    assert len(told["random"]["values"]) == 30
