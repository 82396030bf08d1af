"""`pairvdn study`, small, through the real command line."""

import io
import json
import sys
from pathlib import Path

import pytest
from small_studies import cells_of, small_keys, to_toml

from pairvdn.cli import main
from pairvdn.cli.study_progress import cells_progress
from pairvdn.runs.epochs import Report
from pairvdn.studies import Status

FIGURES = {
    "bars": {"kind": "bars", "path": "return", "label": "return"},
    "curves": {"kind": "curves"},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    keys = small_keys(vary={"learner.batch_size": [8, 10_000]}, figures=FIGURES)
    path.write_text(to_toml(keys | {"evaluation": {"episodes": 2}}))
    return path


def test_the_runs_are_listed(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(file.parent)
    assert main(["study", "run", str(file), "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "climbing/vdn/learner.batch_size=8/seed-0",
        "climbing/vdn/learner.batch_size=10000/seed-0",
        f"2 runs, into {file.parent}/runs/own",
    ]
    assert not (file.parent / "runs").exists()


def test_a_study_from_its_file_to_tables_and_figures(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    place = ["--out", str(out)]
    good, bad = (f"climbing/vdn/learner.batch_size={size}" for size in (8, 10_000))

    assert main(["study", "run", str(file), *place]) == 1
    shown = capsys.readouterr()
    assert f"{good}/seed-0: finished" in shown.out
    assert f"| `{good}` | 1 |" in shown.out
    reason = "learner: replay_capacity must be at least 10000, one batch, not 256."
    assert shown.err.splitlines() == [f"{bad}/seed-0: failed: {reason}"]
    assert main(["resume", str(out / good / "seed-0")]) == 0  # a cell is an ordinary run
    assert main(["evaluate", str(out / good), "--episodes", "2"]) == 0  # and so is a row
    capsys.readouterr()

    assert main(["study", "list", str(file), *place]) == 0
    states = {
        line.split()[0]: line.split()[-1]
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("climbing")
    }
    assert states == {good: "done", bad: "-"}

    assert main(["study", "table", str(file), *place, "--json"]) == 0
    raw = json.loads(capsys.readouterr().out)
    assert raw == json.loads((out / "results.json").read_text())
    assert main(["study", "table", str(file), *place, "--csv"]) == 0
    assert repr(raw["rows"][good]["return"]["mean"]) in capsys.readouterr().out

    assert main(["study", "figure", str(file), *place]) == 0
    drawn = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert [path.name for path in drawn] == [
        f"own-{name}.{suffix}" for name in FIGURES for suffix in ("png", "svg")
    ]
    assert all(path.stat().st_size for path in drawn)


def test_trials_come_first_and_their_best_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, place = tmp_path / "own.toml", ["--out", str(tmp_path / "out")]
    tune = {"seeds": 1, "space": {"optimiser": {"learning_rate": [1e-3, 1e-2]}}}
    keys = small_keys(tune=tune, evaluation={"episodes": 2}, column="return")
    file.write_text(to_toml(keys))
    trials = [f"tune/climbing/vdn/trial-{number}" for number in (0, 1)]

    assert main(["study", "run", str(file), *place, "--dry-run"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[:3] == [*trials, "climbing/vdn/seed-0"]
    assert shown[3].startswith("3 runs, into")

    assert main(["study", "tune", str(file), *place]) == 0
    shown = capsys.readouterr().out.splitlines()
    tuned = next(line for line in shown if line.startswith("tuned: climbing/vdn: "))
    rate = tuned.rpartition("optimiser.learning_rate = ")[2]
    assert rate in ("0.001", "0.01")
    ranking = shown[shown.index(f"climbing/vdn: optimiser.learning_rate = {rate}") :]
    ranked = [line.split() for line in ranking if "trial-" in line]
    assert sorted(line[0] for line in ranked) == trials
    assert ranked[0][-1] == rate
    assert main(["study", "list", str(file), *place]) == 0
    assert "tuned" in capsys.readouterr().out

    assert main(["study", "run", str(file), *place]) == 0
    shown = capsys.readouterr().out
    assert f"{trials[0]}: finished before" in shown
    assert f"]<br>{rate} |" in shown
    assert main(["study", "list", str(file), *place]) == 0
    assert "done" in capsys.readouterr().out


def test_a_changed_study_says_so_and_is_not_mixed_with_the_real_one(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["study", "run", str(file), "--out", str(tmp_path / "out"), "--only"]
    command += ["climbing/vdn/learner.batch_size=8"]
    quick = ["--set", "epochs=1", "method.hidden_sizes=4,4", "--seeds", "2", "--episodes", "3"]
    assert main([*command, *quick]) == 0
    note = "epochs = 1, method.hidden_sizes = [4, 4], seeds = 2, [evaluation] episodes = 3"
    assert f"**This study was changed on the command line: {note}.**" in capsys.readouterr().out
    assert main(command) == 2
    assert "has results of other settings" in capsys.readouterr().err
    assert main(["study", "list", str(file), "--out", str(tmp_path / "out")]) == 0
    assert "done" in capsys.readouterr().out
    (tmp_path / "out" / "results.json").rename(tmp_path / "dcg-factors.json")
    assert main(["study", "list", str(file), "--out", str(tmp_path / "out")]) == 0
    assert "trained with other settings" in capsys.readouterr().out
    page = tmp_path / "page.md"
    page.write_text("<!-- table:dcg-factors -->\n<!-- /table -->\n")
    assert main(["study", "table", "--write", str(page), "--results", str(tmp_path)]) == 2
    assert "Pages show unchanged studies only" in capsys.readouterr().err


def test_pages_are_filled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n<!-- table:mine -->\n<!-- /table -->\n")
    assert main(["study", "table", "--write", str(page), "--results", str(tmp_path)]) == 2
    assert "There is no study 'mine'" in capsys.readouterr().err
    page.write_text("# Page\n\n<!-- table:dcg-factors -->\n<!-- /table -->\n")
    assert main(["study", "table", "--write", str(page)]) == 2
    assert "--write needs --results FOLDER" in capsys.readouterr().err
    assert main(["study", "table", "--write", str(page), "--results", str(tmp_path)]) == 2
    assert "There are no results in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "FILE", "--workers", "0"], "--workers must be at least 1"),
        (["run", "FILE", "--out", "memory://x", "--workers", "2"], "memory:// is lost"),
        (["run", "FILE", "--out", "nowhere://x"], "cannot be opened"),
        (["run", "FILE", "--ray", "auto", "--workers", "2"], "--workers needs --ray local"),
        (["run", "FILE", "--worker", "2"], "did you mean '--workers'"),
        (["run", "FILE", "--only", "climbing/vnd"], "did you mean 'climbing/vdn"),
        (["run", "FILE", "--set", "epochs"], "--set needs FIELD=VALUE"),
        (["run", "FILE", "--set", "epoch=1"], "did you mean 'epochs'"),
        (["run", "main"], "main sums up other studies; name one of paper-table, box-jump"),
        (["run", "paper-tabel"], "did you mean 'paper-table'"),
        (["rum", "FILE"], "did you mean 'run'"),
        (["table"], "Name a study"),
        (["table", "FILE", "--out", "nothing-here"], "There are no results in"),
        (["figure", "FILE", "--only", "bar"], "did you mean 'bars'"),
        (
            ["figure", "FILE", "--only", "bars", "--out", "nothing-here"],
            "figure bars needs results",
        ),
        (["figure", "paper-table", "--only", "grouping", "--out", "x"], "train them with"),
        (["figure", "FILE", "--out", "memory://x"], "--to must name a folder"),
        (["tune", "FILE"], "has no table [tune]"),
        ([], "see pairvdn study --help"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(file) if one == "FILE" else one for one in arguments]
    assert main(["study", *given]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_ray_is_optional(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    assert main(["study", "run", str(file), "--ray", "local"]) == 2
    assert "pip install 'pairvdn[ray]'" in capsys.readouterr().err
    assert main(["study", "run", str(file), "--dry-run"]) == 0


def test_a_wrong_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "g.toml"
    file.write_text(to_toml(small_keys(fields={"learner": {"num_env": 4}})))
    assert main(["study", "run", str(file)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pairvdn: {file}: ")
    assert "did you mean 'num_envs'?" in line


def test_the_shipped_studies_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if "paper" in line.split()[0]] == [
        "paper-best",
        "paper-curves",
        "paper-table",
    ]
    assert main(["study", "--help"]) == 0
    assert "retries failed ones" in capsys.readouterr().out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("LINES", "9")  # room for three rows
    cells = cells_of(seeds=6)
    clock = {"env_steps_per_second": 5e3, "updates_per_second": 1e3, "seconds": 1.0}
    line = {"episodes": 1, "mean_return": 2.5, "loss": 0.5, "epsilon": 1.0, "clock": clock}
    stream = Terminal()
    with cells_progress(cells, quiet=False, stream=stream) as on_event:
        on_event(cells[0].name, Status("finished before"))
        on_event(cells[4].name, Status("running"))
        report = Report(3, 4, [line | {"evaluation": {"mean": 7.0}}], seconds_left=90.0)
        on_event(cells[4].name, report)
        on_event(cells[4].name, "warning: a warning")
        on_event(cells[5].name, Status("failed", "no luck"))
    shown = stream.getvalue()
    assert f"{cells[4].name}: warning: a warning" in shown
    last = shown[shown.rindex("cell ") :]
    assert [name.name for name in cells if name.name in last] == [
        cells[place].name for place in (1, 4, 5)
    ]
    for text in ("3/4", "5,000", "2.5", "7", "0:01:30", "1 running, 1 failed, 3 waiting"):
        assert text in last
