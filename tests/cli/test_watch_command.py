"""`pairvdn watch` as a user calls it."""

import shutil
import webbrowser
from pathlib import Path

import pytest
from small_runs import small_run

from pairvdn.cli import main
from pairvdn.runs.folder import run_path


@pytest.fixture(scope="module")
def vdn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("vdn", tmp_path_factory)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that were given to the browser, of which there is one."""
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: addresses.append(address) or True)
    return addresses


def test_out_writes_one_file_and_opens_nothing(
    vdn: Path, tmp_path: Path, opened: list[str], capsys: pytest.CaptureFixture
) -> None:
    out = tmp_path / "new" / "page.html"
    assert main(["watch", str(vdn / "seed-0"), "--episodes", "2", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert [path.name for path in out.parent.iterdir()] == ["page.html"]
    assert '"method":"vdn"' in out.read_text()
    assert opened == []


def test_two_runs_and_the_browser(
    vdn: Path,
    tmp_path_factory: pytest.TempPathFactory,
    opened: list[str],
    capsys: pytest.CaptureFixture,
) -> None:
    iql = small_run("iql", tmp_path_factory) / "seed-0"
    assert main(["watch", str(vdn / "seed-1"), "--against", str(iql), "--checkpoint", "best"]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert opened == [path.as_uri()]
    text = path.read_text()
    assert f'"name":"{vdn.name}/seed-1"' in text
    assert '"method":"iql"' in text
    assert '"checkpoint":"best"' in text


def test_without_a_browser_it_says_where_the_page_is(
    vdn: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert main(["watch", str(vdn / "seed-0")]) == 0
    path, said = capsys.readouterr().out.splitlines()
    assert Path(path).exists()
    assert said == "There is no browser to open it with."


def test_what_cannot_be_watched(vdn: Path, tmp_path: Path, opened: list[str]) -> None:
    (tmp_path / "file").write_text("")
    for arguments, code in [
        ([str(vdn)], 2),  # several runs
        ([str(vdn / "seed-0"), "--max-steps", "9"], 2),  # a game of one step
        ([str(vdn / "seed-0"), "--out", str(tmp_path / "file" / "page.html")], 1),
    ]:
        assert main(["watch", *arguments]) == code
    assert opened == []


def test_runs_of_another_environment_are_named(
    vdn: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture
) -> None:
    boxes = small_run("boxes", tmp_path_factory)
    assert main(["watch", str(boxes), "--against", str(vdn / "seed-0")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "do not play the same environment" in line
    assert "num_boxes 2" in line
    assert "climbing" in line


def test_a_recording_of_endless_episodes_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They may come from the config of a stranger; a whole recording is held in memory."""
    run = Path(shutil.copytree(run_path("pretrained:box-jump"), tmp_path / "run"))
    config = run / "config.toml"
    env = '[env]\nname = "box-jump"\n'
    assert env in config.read_text()
    config.write_text(config.read_text().replace(env, f"{env}max_steps = 1000000\n"))
    assert main(["watch", str(run), "--out", str(tmp_path / "page.html")]) == 2
    assert "max-steps must be from 1 to 20000, not 1000000" in capsys.readouterr().err
