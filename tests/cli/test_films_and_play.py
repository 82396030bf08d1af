"""Films and windows of `pairvdn watch`, and `pairvdn play`, as a user calls them."""

from pathlib import Path

import pygame
import pytest
from PIL import Image
from small_runs import small_run

from pairvdn.cli import main


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("boxes", tmp_path_factory)


@pytest.fixture(scope="module")
def vdn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("vdn", tmp_path_factory) / "seed-0"


@pytest.fixture
def closing_window(monkeypatch: pytest.MonkeyPatch):
    """A window that somebody closes soon."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    yield
    pygame.display.quit()


def test_films_are_written_instead_of_the_page(
    boxes: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    gif, mp4 = tmp_path / "new" / "film.gif", tmp_path / "film.mp4"
    assert main(["watch", str(boxes), "--gif", str(gif), "--mp4", str(mp4)]) == 0
    assert capsys.readouterr().out == f"{gif}\n{mp4}\n"
    assert gif.read_bytes().startswith(b"GIF8")
    assert mp4.read_bytes()[4:8] == b"ftyp"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["film.mp4", "new"]


def test_a_film_may_have_fewer_pictures(boxes: Path, tmp_path: Path) -> None:
    gif = tmp_path / "film.gif"
    assert main(["watch", str(boxes), "--gif", str(gif), "--every", "4"]) == 0
    with Image.open(gif) as film:
        assert film.n_frames == 3  # of steps 0, 4 and 8


def test_two_runs_in_one_film_and_the_page_too(vdn: Path, tmp_path: Path) -> None:
    gif, page = tmp_path / "film.gif", tmp_path / "page.html"
    arguments = ["--against", str(vdn.with_name("seed-1")), "--gif", str(gif), "--out", str(page)]
    assert main(["watch", str(vdn), *arguments]) == 0
    assert gif.exists()
    assert page.exists()


def test_a_film_that_cannot_be_written(
    vdn: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["watch", str(vdn), "--gif", str(tmp_path / "file" / "film.gif")]) == 1
    assert "film.gif cannot be written" in capsys.readouterr().err


@pytest.mark.usefixtures("closing_window")
def test_an_episode_in_a_window(vdn: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["watch", str(vdn), "--window"]) == 0
    assert capsys.readouterr().out == ""
    assert not pygame.display.get_init()


@pytest.mark.usefixtures("closing_window")
def test_a_trained_run_plays_the_others(vdn: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["play", "climbing", "--run", str(vdn), "--agent", "1"]) == 0
    text = capsys.readouterr().out
    assert f"{vdn} (vdn, epoch" in text
    assert "plays the others" in text
    assert "quit: q" in text


@pytest.mark.usefixtures("closing_window")
def test_without_a_run_the_others_act_at_random_and_it_says_so(
    capsys: pytest.CaptureFixture,
) -> None:
    assert main(["play", "gather", "--max-steps", "5"]) == 0
    text = capsys.readouterr().out
    assert "The others act at random" in text
    assert "up: up or w" in text


@pytest.mark.parametrize("command", ["play", "watch"])
def test_without_a_screen_it_says_so(
    command: str, vdn: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no-such-driver")
    given = {"play": ["climbing"], "watch": [str(vdn), "--window"]}[command]
    assert main([command, *given]) == 1
    assert "No window can be opened here" in capsys.readouterr().err


def test_a_run_of_another_environment_or_without_such_an_agent(
    vdn: Path, capsys: pytest.CaptureFixture
) -> None:
    assert main(["play", "box-jump", "--run", str(vdn)]) == 2
    assert "plays climbing, not box-jump" in capsys.readouterr().err
    assert main(["play", "climbing", "--run", str(vdn), "--agent", "2"]) == 2
    assert "agent must be from 0 to 1, not 2" in capsys.readouterr().err
