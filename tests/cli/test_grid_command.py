"""`pairvdn grid`, and `reproduce` with its machinery."""

import io
import json
import sys
from pathlib import Path

import pytest
from reproduce_tiny import TINY
from small_grids import cells_of, small_grid

from pairvdn.cli import main
from pairvdn.cli.cells_table import cells_progress
from pairvdn.runs.epochs import Report
from pairvdn.studies import Standing


def to_toml(table: dict, name: str = "") -> str:
    """As TOML, which can nearly be written as JSON."""
    plain = [f"{key} = {json.dumps(v)}" for key, v in table.items() if not isinstance(v, dict)]
    tables = [
        to_toml(one, f"{name}.{key}".strip("."))
        for key, one in table.items()
        if isinstance(one, dict)
    ]
    return "\n".join([f"[{name}]" if name else "", *plain, *tables])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(to_toml(small_grid(vary={"learner.batch_size": [8, 10_000]})))
    return path


def test_the_cells_are_listed(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(file.parent)
    assert main(["grid", str(file), "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "climbing/vdn/learner.batch_size=8/seed-0",
        "climbing/vdn/learner.batch_size=10000/seed-0",
        f"2 cells, into {file.parent}/runs/study",
    ]
    assert not (file.parent / "runs").exists()


def test_failures_are_listed_at_the_end_with_their_reason(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grid", str(file), "--out", str(tmp_path / "out")]) == 1
    shown = capsys.readouterr()
    assert "climbing/vdn/learner.batch_size=8/seed-0: finished" in shown.out
    reason = "learner: replay_capacity must be at least 10000, one batch, not 256."
    (line,) = shown.err.splitlines()
    assert line == f"climbing/vdn/learner.batch_size=10000/seed-0: failed: {reason}"
    run = tmp_path / "out/climbing/vdn/learner.batch_size=8/seed-0"
    assert main(["resume", str(run)]) == 0  # a cell is an ordinary run


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--workers", "0"], "--workers must be at least 1"),
        (["--out", "memory://x", "--workers", "2"], "memory:// is lost"),
        (["--out", "nowhere://x"], "cannot be opened"),
        (["--ray", "auto", "--workers", "2"], "--workers goes with --ray local"),
        (["--tune"], "has no table [tune]"),
        (["--worker", "2"], "did you mean '--workers'"),
    ],
)
def test_bad_flags(
    flags: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grid", str(file), *flags]) == 2
    assert message in capsys.readouterr().err


def test_ray_is_optional(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    assert main(["grid", str(file), "--ray", "local"]) == 2
    assert "pip install 'pairvdn[ray]'" in capsys.readouterr().err
    assert main(["grid", str(file), "--dry-run"]) == 0


def test_a_wrong_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "g.toml"
    file.write_text(to_toml(small_grid(fields={"learner": {"num_env": 4}})))
    assert main(["grid", str(file)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pairvdn: {file}: ")
    assert "did you mean 'num_envs'?" in line


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
    with cells_progress(cells, quiet=False, stream=stream) as tell:
        tell(cells[0].name, Standing("finished before"))
        tell(cells[4].name, Standing("running"))
        report = Report(3, 4, [line | {"evaluation": {"mean": 7.0}}], seconds_left=90.0)
        tell(cells[4].name, report)
        tell(cells[4].name, "warning: a warning")
        tell(cells[5].name, Standing("failed", "no luck"))
    shown = stream.getvalue()
    assert f"{cells[4].name}: warning: a warning" in shown
    last = shown[shown.rindex("cell ") :]
    assert [name.name for name in cells if name.name in last] == [
        cells[place].name for place in (1, 4, 5)
    ]
    for text in ("3/4", "5,000", "2.5", "7", "0:01:30", "1 running, 1 failed, 3 waiting"):
        assert text in last


def test_only_table1_can_be_trained_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "curves", "--workers", "2"]) == 2
    assert "--workers and --ray are for table1" in capsys.readouterr().err


@pytest.mark.slow
def test_table1_is_trained_as_a_grid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The numbers are those of a table that was made here."""
    monkeypatch.setattr("pairvdn.cli.reproduce.QUICK", TINY)
    command = ["reproduce", "table1", "--quick", "--out"]
    assert main([*command, str(tmp_path / "grid"), "--workers", "2"]) == 0
    told = capsys.readouterr().err
    assert "runs/box-jump-16-rotation/vdn: finished" in told
    assert told.count("finished before: ") == 2
    assert main([*command, str(tmp_path / "here"), "--quiet"]) == 0
    tables = [(tmp_path / name / "table1.json").read_text() for name in ("grid", "here")]
    assert tables[0] == tables[1]
