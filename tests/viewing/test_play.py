"""A person plays: keys follow from the names of actions, and reach the game."""

import numpy as np
import pygame
import pytest

from pairvdn import envs
from pairvdn.acting import RandomPolicy
from pairvdn.evaluation.game import Game
from pairvdn.viewing.play import Seat, keyboard, legend, play

BOX_ACTIONS = ("nothing", "left", "right", "jump")


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    pygame.display.quit()


def post(kind: int, key: int) -> None:
    pygame.event.post(pygame.event.Event(kind, key=key))


def test_arrows_and_letters_move_and_jump() -> None:
    keys = keyboard(BOX_ACTIONS)
    for key, action in {"left": 1, "a": 1, "right": 2, "d": 2, "up": 3, "w": 3, "space": 3}.items():
        assert keys.action([key]) == action
    assert keys.resting == 0
    assert keys.action(["left", "x"]) == 1
    assert keys.action(["left", "up"]) == 3  # the last one counts
    assert keys.action([]) is None


def test_an_action_with_another_name_has_a_digit() -> None:
    keys = keyboard(("a", "stay", "up"))
    assert keys.actions == {"1": 0, ".": 1, "up": 2, "w": 2}
    assert keyboard(("0", "1")).actions == {"0": 0, "1": 1}


@pytest.mark.parametrize("name", envs.names())
def test_every_action_of_every_environment_has_a_key(name: str) -> None:
    env = envs.make(name)
    keys = keyboard(env.action_names)
    assert set(keys.actions.values()) == set(range(env.num_actions))
    parts = legend(env.action_names, keys, in_turns=True)
    assert [part.partition(":")[0] for part in parts] == [*env.action_names, "again", "quit"]


@pytest.fixture(scope="module")
def boxes() -> envs.Environment:
    return envs.make("box-jump", num_boxes=2, max_steps=12)


def test_in_real_time_a_held_key_is_held_and_a_tapped_one_counts_once(boxes) -> None:
    game = Game(boxes, RandomPolicy(), agent=1, action_repeat=2, seed=0)
    playing = play(game, BOX_ACTIONS, title="test")
    next(playing)
    post(pygame.KEYDOWN, pygame.K_RIGHT)
    next(playing)  # the first choice was made before anything was heard
    assert int(game.actions[1]) == 0
    done = []
    for step in range(8):
        if step == 2:
            post(pygame.KEYDOWN, pygame.K_SPACE)
            post(pygame.KEYUP, pygame.K_SPACE)
        if step == 5:
            post(pygame.KEYUP, pygame.K_RIGHT)
        next(playing)
        done.append(int(game.actions[1]))
    assert done[1] == 2
    assert done.count(3) == 2  # one agent step of two steps
    assert done[-1] == 0
    playing.close()


def test_in_turns_nothing_moves_until_a_key_is_pressed() -> None:
    game = Game(envs.make("gather", max_steps=2), RandomPolicy(), seed=0)
    names = game.env.action_names
    playing = play(game, names, title="test")
    for _ in range(3):
        next(playing)
    assert game.steps == 0
    post(pygame.KEYDOWN, pygame.K_w)
    for _ in range(3):
        next(playing)
    assert (game.steps, int(game.actions[0])) == (1, names.index("up"))
    post(pygame.KEYDOWN, pygame.K_PERIOD)
    for _ in range(3):
        next(playing)
    assert (game.steps, int(game.actions[0]), game.has_ended) == (2, names.index("stay"), True)
    post(pygame.KEYDOWN, pygame.K_w)
    for _ in range(3):
        next(playing)
    assert game.steps == 2
    post(pygame.KEYDOWN, pygame.K_r)
    for _ in range(2):
        next(playing)
    assert (game.steps, game.has_ended) == (0, False)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert list(playing) == []


def test_the_window_shows_the_scene_the_ring_and_the_keys(boxes) -> None:
    seats = [
        Seat(Game(boxes, RandomPolicy(), agent=agent, seed=0), BOX_ACTIONS) for agent in (0, 1)
    ]
    first, second = (seat.picture() for seat in seats)
    assert first.shape == second.shape
    assert (first != second).any()
    playing = play(seats[0].game, BOX_ACTIONS, title="test")
    next(playing)
    surface = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    np.testing.assert_array_equal(surface, first)
    playing.close()
