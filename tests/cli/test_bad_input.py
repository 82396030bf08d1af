"""Bad input to the command line: exit code 2, one helpful line, no traceback, nothing written."""

import subprocess
import sys
from pathlib import Path

import pytest

from pairvdn.cli import main

# (arguments, what the line must say); RUN stands for a path that does not exist.
CASES = [
    # no such command
    ("trian wall/vdn", "did you mean 'train'"),
    ("--epochs 3", "there is no command"),
    ("fly", "known are"),
    # which preset
    ("train", "Name a preset"),
    ("train --epochs 2", "Name a preset"),
    ("train --quiet", "Name a preset"),
    ("train wal/vdn", "did you mean 'wall/vdn'"),
    ("train wall/vnd", "did you mean 'wall/vdn'"),
    ("train wall", "There is no preset 'wall'"),
    ("train box-jump/vdn-papr", "did you mean 'box-jump/vdn-paper'"),
    ("train nonsense.toml", "nonsense.toml cannot be read: No such file or directory."),
    ("study run nonsense.toml", "nonsense.toml cannot be read: No such file or directory."),
    ("plot RUN --ylim 3", "--ylim must be two rising numbers"),
    ("plot RUN --ylim 3,1", "--ylim must be two rising numbers"),
    ("plot RUN --formats exe", "--formats has no 'exe'; known are"),
    ("plot RUN --x days", "invalid choice"),
    ("plot RUN --smooth 0", "--smooth must be at least 1"),
    ("train nothing", "There is no preset 'nothing'; the nearest are "),
    ("train wall/vdn wall/iql", "one argument too many"),
    # unknown flags
    ("train wall/vdn --epohcs 2", "did you mean '--epochs'"),
    ("train wall/vdn --env.num-agnets 2", "did you mean '--env.num-agents'"),
    ("train wall/vdn --env.num_agnets=2", "did you mean '--env.num-agents'"),
    ("train wall/vdn --env.num-boxes 2", "There is no flag --env.num-boxes"),
    ("train wall/vdn --method.order index", "There is no flag --method.order"),
    ("train climbing/vdn --env.num-agents 2", "There is no flag --env.num-agents"),
    ("train box-jump/vdn-paper --learner.num-envs 2", "There is no flag --learner.num-envs"),
    ("train wall/vdn --epoch 2", "did you mean '--epochs'"),
    ("train wall/vdn -e 2", "There is no flag -e"),
    # wrong types
    ("train wall/vdn --epochs", "expected one argument"),
    ("train wall/vdn --epochs two", "--epochs must be a whole number"),
    ("train wall/vdn --epochs 2.5", "--epochs must be a whole number"),
    ("train wall/vdn --seed x", "--seed must be a whole number"),
    ("train wall/vdn --learner.double-q maybe", "true or false"),
    ("train wall/vdn --learner.discount high", "must be a number"),
    ("train wall/vdn --method.hidden-sizes wide", "must be a list"),
    ("train wall/vdn --method.hidden-sizes 64,x", "must be a list"),
    ("train wall/vdn --seeds many", "--seeds must be a whole number"),
    ("train wall/vdn --optimiser.learning-rate nan", "must be a number"),
    # out of range
    ("train wall/vdn --epochs 0", "at least 1"),
    ("train wall/vdn --seed -1", "at least 0"),
    ("train wall/vdn --seed 4294967296", "below"),
    ("train wall/vdn --seeds 0", "--seeds must be at least 1"),
    ("train wall/vdn --keep 0", "at least 1"),
    ("train wall/vdn --evaluation.every 0", "at least 1"),
    ("train wall/vdn --evaluation.episodes 0", "episodes must be from 1 to 100000"),
    ("train wall/vdn --checkpoints.seconds -1", "at least 0"),
    ("train wall/vdn --env.num-agents 1", "at least 2"),
    ("train wall/vdn --learner.discount 2", "from 0 to 1"),
    ("train wall/vdn --learner.replay-capacity 10", "replay_capacity must be at least"),
    ("train wall/vdn --learner.loss cubic", "loss must be one of"),
    ("train wall/vdn --method.activation tanh", "activation must be one of"),
    ("train wall/vdn --method.hidden-sizes 0", "Layer sizes must be at least 1"),
    ("train wall/vdn --optimiser.learning-rate 0", "greater than 0"),
    ("train wall/vdn --exploration.start 1.5", "from 0 to 1"),
    ("train box-jump/vdn --env.variant table2", "variant must be one of"),
    ("train box-jump/vdn --env.num-boxes 0", "at least 1"),
    ("train box-jump/dqn --env.num-boxes 16", "joint actions"),
    # absurd sizes
    ("train wall/vdn --learner.replay-capacity 2000000000", "learner.replay_capacity = 2000000000"),
    ("train predator-prey/dcg --learner.replay-capacity 100000000", "GiB of memory"),
    ("train simple-spread/vdn --env.num-agents 2147483647", "num_agents must be at most 1000"),
    ("train box-jump/vdn --seeds 10000", "for 10000 seeds (seeds = 10000)"),
    ("train box-jump/vdn-paper --epochs 4611686018427387904", "A run may have at most"),
    ("train wall/vdn --method.hidden-sizes 2000000000", "most of it for the networks"),
    ("train wall/vdn --learner.updates-per-round 2000000000", "the updates of a round"),
    ("train wall/vdn --learner.n-step 2147483647", "n_step must be from 1 to 1000000"),
    ("train wall/vdn --seeds 10001", "seeds must be from 1 to 10000"),
    ("train wall/vdn --seed 4294967295 --seeds 2", "seed + seeds must be at most 2**32"),
    (
        "train wall/vdn --epochs 1 --learner.name pqn --learner.agent-steps-per-round 10000000",
        "agent_steps_per_round must be from 1 to 1000000, not 10000000",
    ),
    (
        "train box-jump/vdn --epochs 1 --learner.name pqn --learner.rounds-per-epoch 1 "
        "--learner.agent-steps-per-round 1000000 --learner.num-envs 256",
        "the steps of a round (learner.agent_steps_per_round = 1000000",
    ),
    ("train jaxmarl:MPE_simple_spread_v3 --env.num-agents 100000", "num_agents must be from 0"),
    ("study run box-jump --seeds 2147483648", "seeds must be from 1 to 10000"),
    ("train wall/vdn --learner.replay-capacity 4294967296", "must be at most 2147483647"),
    ("train box-jump/vdn --training-env.max_steps=4294967296", "must be at most 2147483647"),
    # numbers and names that are hardly any
    (f"train wall/vdn --epochs {'9' * 5000}", "--epochs must be a whole number, not '999"),
    (f"train wall/vdn --epochs 0x{'f' * 5000}", "--epochs must be at most"),
    (f"train wall/vdn --optimiser.learning-rate {10**400}", "must be a number, not '1000"),
    (f"train wall/vdn --method.hidden-sizes {'[' * 2000}", "must be a list"),
    ("train pettingzoo:.x --method vdn", "needs a name"),
    ("train pettingzoo:a..b --method vdn", "needs a name"),
    ("train own_parts:Rude", "env 'own_parts:Rude' cannot be made: KeyError: 'no such key' (own_"),
    ("train own_parts:BadReset", "cannot be traced by JAX: KeyError: 'reset'"),
    ("train own_parts:BadShape", "observation after step must be float32[2, 1]"),
    # unknown names
    ("train wall/vdn --method.name vnd", "did you mean 'vdn'"),
    ("train wall/vdn --env.name wal", "did you mean 'wall'"),
    ("train wall/vdn --learner.name serial", "known are paper, parallel"),
    ("train wall/vdn --optimiser.name adm", "did you mean 'adam'"),
    ("train wall/vdn --exploration.name", "There is no exploration"),
    ("train wall/vdn --method.name pairvdn-sorted", "needs the positions"),
    # classes and functions of one's own
    (
        "train nowhere.door:Door",
        "There is no module 'nowhere' for the environment nowhere.door:Door",
    ),
    ("train own_parts:Dor", "own_parts has no 'Dor'; did you mean 'Door'"),
    ("train own_parts:NUMBER", "own_parts:NUMBER must be a class or function, not int"),
    ("train own_parts:Other", "own_parts:Other must be a subclass of Environment"),
    ("train own_parts:nothing", "own_parts:nothing must return Environment, not NoneType"),
    (
        "train own_parts:Door",
        "env 'own_parts:Door' needs num_agents; give it with --env.num-agents",
    ),
    ("train own_parts:Door --env.num-agnets 2", "did you mean '--env.num-agents'"),
    ("train own_parts:Door --env.num-agents 1", "num_agents must be at least 2"),
    ("train own_broken:Door", "own_broken cannot be imported: RuntimeError: broken on purpose"),
    ("train wall/vdn --method own_parts:Other", "must be a subclass of Value"),
    ("train wall/vdn --method own_parts:", "write your own as module.path:Name"),
    (
        "train wall/vdn --optimiser.name own_parts:nothing",
        "must return GradientTransformation, not NoneType",
    ),
    ("train wall/vdn --learner.name own_parts:Dor", "own_parts has no 'Dor'"),
    ("train wall/own_parts:Other", "must be a subclass of Value"),
    # environments of other libraries
    ("train pettingzoo:nowhere.env_v0 --method vdn", "pip install nowhere"),
    ("train pettingzoo:small_zoo.Lader --method vdn", "did you mean 'Ladder'"),
    ("train petingzoo:small_zoo.Ladder", "is not a prefix; try pettingzoo:MODULE.ENV"),
    ("train pettingzoo:small_zoo.Ladder --method vnd", "did you mean 'vdn'"),
    ("train pettingzoo:small_zoo.Ladder --env.dyes 2", "did you mean '--env.dies'"),
    ("train pettingzoo:small_zoo.Ladder --env.dies never", "--env.dies must be"),
    ("train pettingzoo:small_zoo.Ladder --env.max-steps 0", "at least 1"),
    ("train pettingzoo:small_zoo.Ladder --env.image-size 3", "two numbers"),
    ("train pettingzoo:small_zoo.Ladder --method pairvdn-nearest", "needs the positions"),
    ("train pettingzoo:small_zoo.Ladder --learner.replay-capacity 2_000_000_000", "GiB"),
    ("train pettingzoo:small_zoo.Continuous --method vdn", "only Discrete actions"),
    ("train pettingzoo:sisl.multiwalker_v9 --method vdn", "only Discrete actions"),
    ("train pettingzoo:sisl.pursuit_v5 --env.n-persuers 3", "unexpected keyword argument"),
    # resume
    ("resume", "required: RUN"),
    ("resume RUN", "There is no folder"),
    ("resume RUN RUN", "one argument too many"),
    ("resume RUN --epochs 3", "There is no folder"),
    ("resume RUN --epochs 0", "--epochs must be at least 1"),
    ("resume RUN --epohcs 3", "did you mean '--epochs'"),
    ("resume .", "is not a run folder"),
    # watch
    ("watch", "required: RUN"),
    ("watch RUN", "There is no folder"),
    ("watch .", "is not a run folder"),
    ("watch RUN RUN", "one argument too many"),
    ("watch RUN --agianst RUN", "did you mean '--against'"),
    ("watch RUN --against", "expected one argument"),
    ("watch RUN --episodes 0", "episodes must be from 1 to 100"),
    ("watch RUN --episodes 101", "episodes must be from 1 to 100"),
    ("watch RUN --episodes some", "--episodes must be a whole number"),
    ("watch RUN --every 2", "--every belongs to a film"),
    ("watch RUN --gif film.gif --every 0", "--every must be at least 1"),
    ("watch RUN --max-steps 0", "max-steps must be from 1 to 1000000"),
    ("watch RUN --max-steps 20001", "max-steps must be from 1 to 20000"),
    ("watch RUN --seed -1", "seed must be from 0"),
    ("watch RUN --checkpoint first", "'last', 'best'"),
    ("watch RUN --out .", "is a folder"),
    # demo, list and benchmark
    ("demo --episodes 0", "--episodes must be at least 1"),
    ("demo --epochs none", "--epochs must be a whole number"),
    ("list everything", "There is no list 'everything'"),
    ("list box-jmp", "did you mean 'box-jump'"),
    ("list --json", "There is no flag --json"),
    ("list presets methods", "one argument too many"),
    ("benchmark wal/vdn", "did you mean 'wall/vdn'"),
    ("benchmark --seconds 0", "--seconds must be above 0"),
    ("benchmark --seconds long", "--seconds must be a number"),
    ("benchmark wall/vdn --epohcs 2", "did you mean '--epochs'"),
    ("benchmark wall/vdn --learner.replay-capacity 2000000000", "GiB of memory"),
    # play, and the films of watch
    ("play", "required: ENVIRONMENT"),
    ("play gathr", "did you mean 'gather'"),
    ("play gather/vdn", "There is no env 'gather/vdn'"),
    ("play gather climbing", "one argument too many"),
    ("play gather --agent 5", "agent must be from 0 to 4, not 5"),
    ("play gather --agent first", "--agent must be a whole number"),
    ("play gather --seed -1", "seed must be from 0"),
    ("play gather --max-steps 0", "max_steps must be at least 1"),
    ("play climbing --max-steps 9", "has no argument 'max_steps'"),
    ("play gather --run RUN", "There is no folder"),
    ("play gather --runs RUN", "did you mean '--run'"),
    ("play gather --checkpoint first", "invalid choice"),
    ("watch RUN --gif", "expected one argument"),
    ("watch RUN --mp5 film.mp4", "did you mean '--mp4'"),
    ("watch RUN --window yes", "one argument too many"),
]


@pytest.mark.parametrize(("line", "says"), CASES)
def test_one_line_and_exit_code_2(
    line: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 2
    shown = capsys.readouterr()
    assert says in shown.err
    assert shown.err.startswith("pairvdn: ")
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_real_process_exits_with_it(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("pairvdn")
    done = subprocess.run(
        [script, "train", "wall/vdn", "--epohcs", "2"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "pairvdn: There is no flag --epohcs; did you mean '--epochs'?\n"
