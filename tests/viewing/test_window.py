"""Windows without a screen: keys are real events, posted as the system would."""

import numpy as np
import pygame
import pytest

from pairvdn.envs import make
from pairvdn.evaluation import record_random
from pairvdn.viewing.player import Playback, show
from pairvdn.viewing.stage import Shown, Stage
from pairvdn.viewing.window import NoScreenError, Window

PICTURE = np.full((20, 30, 3), 7, np.uint8)


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    pygame.display.quit()


def press(*keys: int) -> None:
    for key in keys:
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))
        pygame.event.post(pygame.event.Event(pygame.KEYUP, key=key))


def test_keys_are_heard_in_order() -> None:
    window = Window("test", 1000.0)
    window.show(PICTURE)
    press(pygame.K_SPACE, pygame.K_a)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_LEFT))
    window.show(PICTURE)
    assert window.take_keys() == ["space", "a", "left"]
    assert window.take_keys() == []
    assert window.held == ["left"]
    window.close()


def test_a_window_that_is_dismissed_stays_closed() -> None:
    window = Window("test", 1000.0)
    window.show(PICTURE)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(PICTURE)
    assert window.is_dismissed
    assert not pygame.display.get_init()
    assert window.show(PICTURE) == 0.0
    assert not pygame.display.get_init()


def test_where_there_is_no_screen_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no-such-driver")
    with pytest.raises(NoScreenError, match="No window can be opened here"):
        Window("test", 10.0).show(PICTURE)


@pytest.mark.parametrize(
    ("keys", "step", "playing", "speed"),
    [
        ("", 3.0, True, 1.0),
        ("space", 3.0, False, 1.0),
        ("space space", 3.0, True, 1.0),
        ("right right", 5.0, False, 1.0),
        ("left", 2.0, False, 1.0),
        ("home left", 0.0, False, 1.0),
        ("end right", 9.0, False, 1.0),
        ("end space", 0.0, True, 1.0),
        ("up up", 3.0, True, 4.0),
        ("down", 3.0, True, 0.5),
        ("up up up up up", 3.0, True, 8.0),
        ("x", 3.0, True, 1.0),
    ],
)
def test_what_keys_do(keys: str, step: float, playing: bool, speed: float) -> None:
    playback = Playback(9, step=3.0)
    for key in keys.split():
        playback = playback.pressed(key)
    assert playback == Playback(9, step, playing, speed)


def test_time_passes_at_the_chosen_speed_and_stops_at_the_end() -> None:
    assert Playback(9).later(2.5).step == 2.5
    assert Playback(9, speed=2.0).later(2.5).step == 5.0
    assert Playback(9, playing=False).later(2.5).step == 0.0
    assert Playback(9).later(20.0) == Playback(9, step=9.0, playing=False)


def test_an_episode_is_stepped_through_in_a_window() -> None:
    (recording,) = record_random(make("climbing"), seed=0)
    stage = Stage([Shown(recording, "random")], width=80)
    showing = show(stage, title="test", seconds_per_step=1e6)
    assert int(next(showing).step) == 0
    press(pygame.K_RIGHT)
    at = [next(showing).step for _ in range(3)]
    assert at[-1] == 1.0
    surface = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    np.testing.assert_array_equal(surface[: len(stage.picture(1))], stage.picture(1))
    press(pygame.K_q)
    assert list(showing) == []
    assert not pygame.display.get_init()
