"""Help and lists of the command line."""

import subprocess
import sys

import pytest

from pairvdn import envs, values
from pairvdn.cli import COMMANDS, main
from pairvdn.config import preset_names


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


def test_keywords_of_an_external_environment_are_flags(capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", "pettingzoo:small_zoo.Ladder", "--method", "dcg", "--help"])
    shown = capsys.readouterr().out
    for flag in ("--env.has-state", "--env.team-reward", "--method.name", "--method.graph"):
        assert flag in shown


@pytest.mark.parametrize("command", ["train", "train wall/pairvdn", "resume", "list", "benchmark"])
def test_help_of_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == 0
    assert f"usage: pairvdn {command.split()[0]}" in capsys.readouterr().out


def test_every_field_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", "box-jump/pairvdn", "--help"])
    shown = capsys.readouterr().out
    for flag in ("--epochs", "--env.num-boxes", "--method.hidden-sizes", "--learner.n-step"):
        assert flag in shown


def test_help_says_what_a_flag_means_its_choices_and_its_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["train", "wall/pairvdn", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "--learner.loss {squared,huber} penalty of a temporal-difference error; default: squared"
        in shown
    )
    assert "--exploration.epochs N|X|none length of the schedule in epochs, or as a share" in shown
    assert "--method.hidden-sizes N,..." in shown
    assert "--env.num-agents N number of agents" in shown
    assert "default: 32,32" in shown
    assert "--learner.name TEXT learner, one of paper, parallel, pqn, or your own" in shown


def test_help_has_the_defaults_of_a_variant(capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", "box-jump/vdn", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "--env.max-steps N steps after which an episode is truncated; default: 400" in shown
    assert "--env.jump-force X force of the action jump; default: 250.0" in shown


def test_list_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    shown = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    presets = ("box-jump/METHOD", "box-jump/best", "box-jump/METHOD-paper")
    for name in (*envs.names(), "pettingzoo:MODULE.ENV", *values.names(), *presets):
        assert name in shown
    assert len(shown) < 100  # a line for each recipe, not for each of its methods
    assert main(["list", "methods"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(values.names())


def test_list_of_one_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "box-jump"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    ours = {name for name in preset_names() if name.startswith("box-jump/")}
    assert set(lines) == {"box-jump", "pretrained:box-jump", *ours}
    assert lines["box-jump/best"].startswith("The recipe of `pretrained:box-jump`")
    assert lines["box-jump/vdn-paper"].startswith("The paper's hyper-parameters")


@pytest.mark.parametrize("what", ["schedules", "optimisers", "explorations", "pretrained"])
def test_every_line_of_a_list_says_something(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", what]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(len(line.split(maxsplit=1)) == 2 for line in lines)


def test_the_nearest_of_many_presets_are_three(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "nothing"]) == 2
    says = capsys.readouterr().err.partition("the nearest are ")[2]
    assert len([name for name in preset_names() if f"{name}," in says or f"{name}." in says]) == 3
