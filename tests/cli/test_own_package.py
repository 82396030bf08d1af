"""A user's package by `module:Name`: commands take its runs, and ask before they import it."""

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from small_studies import to_toml as study_toml

from pairvdn.cli import main
from pairvdn.config import load_preset, registry
from pairvdn.config.toml import to_toml
from pairvdn.runs.errors import FolderError
from pairvdn.runs.folder import read_config

PACKAGE = Path(__file__).parents[2] / "examples" / "own_package"
TINY = (
    "--epochs=4",
    "--evaluation.every=1",
    "--evaluation.episodes=2",
    "--checkpoints.seconds=0",
    "--learner.num-envs=2",
    "--learner.rounds-per-epoch=1",
    "--learner.agent-steps-per-round=2",
    "--learner.updates-per-round=1",
    "--learner.random-agent-steps=4",
    "--checkpoints.keep-replay",
    "--learner.replay-capacity=64",
    "--learner.batch-size=4",
    "--env.num-agents=4",
    "--method.width=8",
)


def command(folder: Path, *arguments: object) -> str:
    """Run the command line as a user does in this folder, in a process of its own."""
    return finished([sys.executable, "-m", "pairvdn", *map(str, arguments)], folder)


END = "-- end of a command --"
SEVERAL = f"""
import json, sys
from pairvdn.cli import main
for line in json.loads(sys.argv[1]):
    if code := main(line):
        sys.exit(code)
    print({END!r})
"""


def commands(folder: Path, *lines: str) -> list[str]:
    """Run several of them in one process, which starts once; what each has printed."""
    told = json.dumps([line.split() for line in lines])
    return finished([sys.executable, "-P", "-c", SEVERAL, told], folder).split(END)[:-1]


def finished(words: list[str], folder: Path) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_its_environment_keeps_the_contract() -> None:
    program = "from doors.door import Door; from pairvdn.envs import check_env; check_env(Door())"
    subprocess.run([sys.executable, "-c", program], cwd=PACKAGE, check=True)


@pytest.fixture
def refused(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Run a command in the workspace that must refuse; returns its one line."""
    monkeypatch.chdir(workspace)

    def run(*arguments: str) -> str:
        capsys.readouterr()
        assert main(arguments) == 2
        says = capsys.readouterr().err
        assert says.count("\n") == 1
        assert "doors" not in sys.modules
        return says

    return run


def _metrics(run: Path) -> list[dict]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    changing = ("clock", "crc32")
    return [{key: value for key, value in line.items() if key not in changing} for line in lines]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the repository with the package in it, and a finished run."""
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(PACKAGE / "doors", folder / "doors")
    command(
        folder, "train", "doors.door:Door", "--method", "doors.line:Line", *TINY, "--out", "run"
    )
    return folder


def test_the_run_has_the_names_and_arguments(workspace: Path) -> None:
    config = (workspace / "run" / "config.toml").read_text()
    assert 'name = "doors.door:Door"\nnum_agents = 4\nmax_steps = 4\n' in config
    assert 'name = "doors.line:Line"\nwidth = 8\n' in config


def test_resume_ends_as_the_run_that_was_never_stopped(
    workspace: Path, refused: Callable[..., str]
) -> None:
    run, stopped = workspace / "run", workspace / "stopped"
    shutil.copytree(run, stopped)
    shutil.rmtree(stopped / "checkpoints" / "epoch-000004")
    assert "--trust" in refused("resume", "stopped")
    assert not (stopped / "checkpoints" / "epoch-000004").exists()
    command(workspace, "resume", "stopped", "--trust")
    assert _metrics(stopped) == _metrics(run)


def test_evaluate_and_compare(workspace: Path, refused: Callable[..., str]) -> None:
    says = refused("evaluate", "run")
    assert "env.name = 'doors.door:Door' runs code of the module 'doors.door'" in says
    assert "--trust" in refused("compare", "run")
    evaluated, compared = commands(
        workspace,
        "evaluate run --episodes=2 --json --trust",
        "compare run --episodes=2 --trust",
    )
    found = json.loads(evaluated)
    assert (found["environment"], found["method"]) == ("doors.door:Door", "doors.line:Line")
    assert "doors.line:Line" in compared


def test_watch_and_export(workspace: Path, refused: Callable[..., str]) -> None:
    for name in ("watch run --out page.html", "export run small", "plot run --out curve"):
        assert "--trust" in refused(*name.split())
    assert {one.name for one in workspace.iterdir()} & {"page.html", "small", "curve.png"} == set()
    commands(
        workspace, "watch run --episodes=1 --out page.html --trust", "export run small --trust"
    )
    assert "place in the row" in (workspace / "page.html").read_text()
    assert "--trust" in refused("evaluate", "small")


def test_a_config_file_names_the_same_classes(workspace: Path, refused: Callable[..., str]) -> None:
    file = "run/config.toml"
    assert "--trust" in refused("train", file, "--out", "again")
    command(workspace, "train", file, "--epochs=1", "--out", "again", "--trust")
    assert (workspace / "again" / "metrics.jsonl").exists()


def test_a_study_of_the_classes(workspace: Path, refused: Callable[..., str]) -> None:
    """In the lists of tasks and methods; workers find the modules too."""
    study = {
        "methods": ["doors.line:Line", "vdn"],
        "column": "return",
        "tasks": {"door": {"env": {"name": "doors.door:Door"}}},
        "fields": {"epochs": 1, "learner": {"num_envs": 2, "replay_capacity": 1024}},
        "evaluation": {"episodes": 2},
    }
    (workspace / "doors.toml").write_text(study_toml(study))
    for action in ("run", "table", "list"):
        assert "'doors.door'" in refused("study", action, "doors.toml")
    _, table = commands(
        workspace,
        "study run doors.toml --trust --workers=2 --quiet",
        "study table doors.toml --trust",
    )
    methods = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| `")]
    assert methods == ["`doors.line-Line`", "`vdn`"]
    assert "–" not in table


def test_installed_names_need_no_trust(tmp_path: Path) -> None:
    """An installed package is found by its entry points, from any folder."""
    site = tmp_path / "site"
    shutil.copytree(PACKAGE / "doors", site / "doors")
    metadata = site / "doors-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: doors\nVersion: 0.1.0\n")
    groups = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = [
        line
        for group, names in groups.items()
        for line in (f"[{group}]", *(f"{name} = {place}" for name, place in names.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    script = (
        f"import sys; sys.path.append({str(site)!r}); from pairvdn.cli import main;"
        "from pairvdn.config import load_preset, preset_names; names = preset_names();"
        "assert {'door/line', 'door/vdn', 'aloha/line'} <= set(names), names;"
        "assert 'door/pairvdn-sorted' not in names;"
        "assert load_preset('aloha/line').learner == load_preset('aloha/vdn').learner;"
        f"assert main(['train', 'door/line', *{TINY!r}, '--epochs=1', '--out', 'run']) == 0;"
        "assert main(['evaluate', 'run', '--episodes=2']) == 0;"
        "assert main(['list', 'door']) == 0"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Each agent opens its door or waits" in done.stdout


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A folder with code that leaves a mark when it is imported, and a run `team` beside it."""
    (tmp_path / "team").mkdir()
    for name in ("team/payload.py", "team/__init__.py", "payload.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'mark')!r}, 'w').close()\n")
    return tmp_path


def _name(folder: Path, section: str, name: str) -> None:
    """Write a config that is sound but for one name."""
    keys = load_preset("wall/vdn").to_dict()
    (folder / "team" / "config.toml").write_text(to_toml({**keys, section: {"name": name}}))


def test_a_strangers_run_executes_nothing(stranger: Path) -> None:
    """As a user opens it: `python -m` alone would find modules in the current folder."""
    _name(stranger, "env", "pettingzoo:team.payload")
    done = subprocess.run(
        [sys.executable, "-m", "pairvdn", "evaluate", "team"],
        cwd=stranger,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "'team.payload'" in done.stderr
    assert "--trust" in done.stderr
    assert not (stranger / "mark").exists()


@pytest.mark.parametrize(
    ("section", "name"),
    [
        ("env", "pettingzoo:team.payload"),
        ("env", "pettingzoo:antigravity.x"),
        ("env", "pettingzoo:not_installed.x"),
        ("env", "team.payload:Env"),
        ("env", "test.__main__:x"),
        ("method", "team.payload:Value"),
        ("learner", "team.payload:learner"),
        ("optimiser", "payload:sgd"),
        ("exploration", "payload:epsilon"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "resume", "compare", "watch", "export", "plot"])
def test_no_name_in_a_config_is_imported(
    command: str,
    section: str,
    name: str,
    stranger: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Even where the modules could be found."""
    _name(stranger, section, name)
    monkeypatch.chdir(stranger)
    monkeypatch.syspath_prepend(str(stranger))
    modules = set(sys.modules)
    assert main([command, "team", *(["out"] if command == "export" else [])]) == 2
    says = capsys.readouterr().err
    assert "--trust" in says
    assert "pip install" not in says
    assert not (stranger / "mark").exists()
    assert not {"team", "payload", "antigravity", "test.__main__"} & (set(sys.modules) - modules)


def test_a_study_compares_configs_without_importing_their_names(
    stranger: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody else's run lies where the study would put its own."""
    study = {"tasks": ["wall"], "methods": ["vdn"], "fields": {"epochs": 1}}
    (stranger / "own.toml").write_text(study_toml(study))
    _name(stranger, "env", "payload:Env")
    (stranger / "out" / "wall" / "vdn").mkdir(parents=True)
    (stranger / "team").rename(stranger / "out" / "wall" / "vdn" / "seed-0")
    monkeypatch.chdir(stranger)
    monkeypatch.syspath_prepend(str(stranger))
    assert main(["study", "run", "own.toml", "--out", "out", "--quiet"]) == 1
    assert "was trained with other settings (epochs, env)" in capsys.readouterr().err
    assert not (stranger / "mark").exists()


def test_entry_points_beside_a_run_are_not_installed(
    stranger: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python finds metadata in any folder on its path, which may be the current one."""
    metadata = stranger / "team-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: team\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[pairvdn.envs]\nteam = team.payload:Env\n")
    _name(stranger, "env", "team")
    monkeypatch.chdir(stranger)
    monkeypatch.syspath_prepend(str(stranger))
    registry._registered.cache_clear()
    assert "team" in {entry.name for entry in entry_points(group="pairvdn.envs")}
    assert main(["evaluate", "team"]) == 2
    assert "There is no env 'team'" in capsys.readouterr().err
    assert not (stranger / "mark").exists()
    registry._registered.cache_clear()


def test_no_installation_is_suggested_for_a_name_in_a_folder(stranger: Path) -> None:
    _name(stranger, "env", "pettingzoo:not_installed.x")
    with pytest.raises(FolderError, match="There is no module 'not_installed'") as caught:
        read_config(stranger / "team", trust=True)
    assert "pip" not in str(caught.value)
