"""evaluate, compare and plot as a user calls them."""

import builtins
import csv
import io
import json
import shutil
import sys
from pathlib import Path

import pytest
from small_runs import small_run

from pairvdn.cli import main
from pairvdn.runs import read_metrics
from pairvdn.runs.analysis.compare import compare
from pairvdn.runs.analysis.evaluate import Settings


@pytest.fixture(scope="module")
def vdn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("vdn", tmp_path_factory)


@pytest.fixture(scope="module")
def iql(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("iql", tmp_path_factory)


def test_evaluate_prints_one_json_object(vdn: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["evaluate", str(vdn / "seed-0"), "--json", "--episodes", "3"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == [
        *("run", "environment", "method", "checkpoint", "episodes", "max_steps", "seed"),
        *("return", "random", "interval_over", "extra"),
    ]
    for row, count in (("return", 3), ("random", 30)):
        assert list(printed[row]) == ["mean", "sd", "low", "high", "values"]
        assert len(printed[row]["values"]) == count
    assert printed["interval_over"] == "episodes"
    assert (printed["environment"], printed["method"]) == ("climbing", "vdn")
    assert (printed["checkpoint"], printed["seed"]) == ("last", 0)


def test_evaluate_says_the_same_twice(vdn: Path, capsys: pytest.CaptureFixture) -> None:
    texts = []
    for _ in range(2):
        assert main(["evaluate", str(vdn), "--json"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["interval_over"] == "seeds"


def test_evaluate_prints_a_table(vdn: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["evaluate", str(vdn), "--checkpoint", "best"]) == 0
    text = capsys.readouterr().out
    assert "best checkpoint" in text
    assert "interval over seeds" in text
    assert "0 of 3 diverged" in text


def test_compare_prints_every_run(vdn: Path, iql: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["compare", str(vdn), str(iql), "--episodes", "2"]) == 0
    text = capsys.readouterr().out
    assert "P(> vdn)" in text
    assert "0 of 3" in text
    assert "0 of 2" in text
    assert [line.split()[0] for line in text.splitlines()[4:]] == ["vdn", "iql", "random"]


def test_compare_prints_csv(vdn: Path, iql: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["compare", str(vdn), str(iql), "--episodes", "2", "--csv"]) == 0
    first, second = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (first["task"], first["method"], first["seeds"]) == ("climbing", "vdn", "3")
    assert second["method"] == "iql"
    (row, _), _ = compare([vdn, iql], Settings(episodes=2))
    shown = [float(first[f"mean{end}"]) for end in ("", "_low", "_high")]
    assert shown == list(row.mean)
    assert float(first["best_checkpoint"]) == row.best_checkpoint.value


def test_export_for_marl_eval(
    vdn: Path, iql: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    out = tmp_path / "results.json"
    assert main(["export", str(vdn), str(iql), str(out), "--marl-eval"]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    methods = json.loads(out.read_text())["climbing"]["climbing"]
    assert {method: list(runs) for method, runs in methods.items()} == {
        "vdn": ["run_1", "run_2", "run_3"],
        "iql": ["run_1", "run_2"],
    }
    lines = [line for line in read_metrics(vdn / "seed-1") if "evaluation" in line]
    run = methods["vdn"]["run_2"]
    assert list(run) == ["step_1", "step_2", "absolute_metrics"]
    for k, line in enumerate(lines, 1):
        assert run[f"step_{k}"] == {
            "step_count": line["env_steps"],
            "return": line["evaluation"]["values"],
        }
    assert len(run["absolute_metrics"]["return"]) == 10 * len(lines[0]["evaluation"]["values"])


def test_plot_writes_png_and_svg(
    vdn: Path, iql: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    assert main(["plot", str(vdn), str(iql), "--out", str(tmp_path / "new" / "figure")]) == 0
    png, svg, bars, bars_svg = (Path(line) for line in capsys.readouterr().out.split())
    assert bars.name == "figure-bars.png"
    for one in (png, bars):
        assert one.read_bytes().startswith(b"\x89PNG")
    for word in ("climbing", "vdn", "iql", "random", "95 % bootstrap interval over training"):
        assert word in svg.read_text()
    for word in ("climbing", "vdn", "iql", "dots: training seeds"):
        assert word in bars_svg.read_text()


def test_a_missing_extra_says_what_to_install(
    vdn: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    whole_import = builtins.__import__

    def without_matplotlib(name: str, *arguments: object, **rest: object) -> object:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return whole_import(name, *arguments, **rest)

    for module in ("style", "figures", "curves"):
        monkeypatch.delitem(sys.modules, f"pairvdn.viewing.{module}", raising=False)
    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    assert main(["plot", str(vdn)]) == 1
    assert "pip install 'pairvdn[view]'" in capsys.readouterr().err


BAD = [
    (["evaluate"], "RUN"),
    (["evaluate", "nowhere"], "no folder"),
    (["evaluate", "RUN", "--episodes", "0"], "episodes must be from 1"),
    (["evaluate", "RUN", "--episodes", "many"], "--episodes must be a whole number"),
    (["evaluate", "RUN", "--episodes", "1.5"], "--episodes must be a whole number"),
    (["evaluate", "RUN", "--seed", "-1"], "seed must be from 0"),
    (["evaluate", "RUN", "--max-steps", "0"], "max-steps must be from 1"),
    (["evaluate", "RUN", "--max-steps", "9"], "max_steps"),  # a game of one step has no such thing
    (["evaluate", "RUN", "--checkpoint", "first"], "'last', 'best'"),
    (["evaluate", "RUN", "--episode", "3"], "did you mean '--episodes'"),
    (["evaluate", "RUN", "RUN"], "too many"),
    (["export", "RUN", "RUN", "OUT"], "export copies one run, not 2"),
    (["export", "EMPTY", "OUT.json", "--marl-eval"], "no evaluation yet"),
    (["compare"], "RUN"),
    (["compare", "RUN", "nowhere"], "no folder"),
    (["compare", "RUN", "--seed", "x"], "--seed must be a whole number"),
    (["plot"], "RUN"),
    (["plot", "nowhere"], "no folder"),
    (["plot", "RUN", "--output", "x"], "did you mean '--out'"),
    (["plot", "EMPTY"], "no evaluation yet"),
    (["plot", "FILE"], "not a run folder"),
    (["demo", "--epochs", "0"], "epochs must be at least 1"),
    (["demo", "--epochs", "x"], "--epochs must be a whole number"),
    (["demo", "--out", "RUN"], "exists"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=lambda one: " ".join(one)[:40])
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str],
    message: str,
    vdn: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(vdn / "seed-0", "RUN")
    shutil.copytree(vdn / "seed-0", "EMPTY")
    Path("EMPTY/metrics.jsonl").write_text("")
    Path("FILE").write_text("")
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert message in line


@pytest.mark.parametrize("command", ["evaluate", "compare", "play", "plot", "demo"])
def test_help_tells_what_a_command_does(command: str, capsys: pytest.CaptureFixture) -> None:
    assert main([command, "--help"]) == 0
    assert f"usage: pairvdn {command}" in capsys.readouterr().out
