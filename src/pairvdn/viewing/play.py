"""A person plays one of the agents, with the keyboard, in a window.

An environment with a clock runs in real time: the keys that are down, or were pressed since the
last agent step, choose the person's action. Any other environment waits for a key.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pairvdn.envs import HasClock, seconds_per_step
from pairvdn.evaluation.game import Game
from pairvdn.viewing.pairs import Pair, contributions, pairs_of
from pairvdn.viewing.player import QUIT
from pairvdn.viewing.raster import draw
from pairvdn.viewing.stage import Picture, caption, flowing
from pairvdn.viewing.window import Window

AGAIN = "r"
_WIDTH, _MOST_HEIGHT = 960, 600  # pixels of the scene
_IDLE_FRAMES_PER_SECOND = 30.0  # while the game waits for a key
# The names of keys are those of pygame.
KEYS_OF: Mapping[str, tuple[str, ...]] = {
    "left": ("left", "a"),
    "right": ("right", "d"),
    "up": ("up", "w"),
    "down": ("down", "s"),
    "jump": ("up", "w", "space"),
    "catch": ("space",),
    "send": ("space",),
}
# Actions that are taken without a key; with REST_KEY if the environment waits.
RESTING = ("nothing", "stay", "idle")
REST_KEY = "."
MOST_DIGITS = 9


class Keyboard(NamedTuple):
    """The action of each key, and the action without a key, if there is one."""

    actions: Mapping[str, int]
    resting: int | None

    def action(self, keys: Sequence[str]) -> int | None:
        """The action of the last key that has one."""
        return next((self.actions[key] for key in reversed(keys) if key in self.actions), None)


def keyboard(action_names: Sequence[str]) -> Keyboard:
    """Keys for every action: by its name, or else a digit: its name, or its number from 1."""
    resting = next((k for k, name in enumerate(action_names) if name in RESTING), None)
    actions: dict[str, int] = {}
    for action, name in enumerate(action_names):
        own = (REST_KEY,) if action == resting else KEYS_OF.get(name, ())
        digit = (str(action + 1),) if action < MOST_DIGITS else ()
        for key in own or ((name,) if re.fullmatch("[0-9]", name) else digit):
            actions.setdefault(key, action)
    return Keyboard(actions, resting)


def legend(action_names: Sequence[str], keys: Keyboard, *, in_turns: bool) -> list[str]:
    """A few words on every key."""
    parts = []
    for action, name in enumerate(action_names):
        own = [key for key, chosen in keys.actions.items() if chosen == action]
        if action == keys.resting and not in_turns:
            own = ["no key"]
        if own:
            parts.append(f"{name}: {' or '.join(own)}")
    return [*parts, "again: r", "quit: q"]


class Seat:
    """The person's view of a game: its picture, and the action that the keys choose."""

    def __init__(self, game: Game, action_names: Sequence[str]) -> None:
        self.game = game
        self._action_names = action_names
        self._keys = keyboard(action_names)
        self._in_turns = not isinstance(game.env, HasClock) or self._keys.resting is None
        self.legend = legend(action_names, self._keys, in_turns=self._in_turns)
        self._large = 1e-9  # the largest contribution of a pair so far

    @property
    def frames_per_second(self) -> float:
        """The rate of the environment's steps, or enough to notice keys quickly."""
        return _IDLE_FRAMES_PER_SECOND if self._in_turns else 1 / seconds_per_step(self.game.env)

    def action(self, pressed: Sequence[str], held: Sequence[str]) -> int | None:
        """The person's action; None to wait."""
        if self._in_turns:
            return self._keys.action(pressed)
        chosen = self._keys.action([*held, *pressed])
        return self._keys.resting if chosen is None else chosen

    def picture(self) -> Picture:
        """The scene with a ring around the person's agent, the score, and the keys."""
        scene = self.game.scene
        left, bottom, right, top = map(float, scene.bounds)
        scale = min(_WIDTH / (right - left), _MOST_HEIGHT / (top - bottom))
        height = round(scale * (top - bottom))
        drawn = draw(
            scene, height=height, width=_WIDTH, pairs=self._pairs(), ringed=self.game.agent
        )
        above = caption(f"You are agent {self.game.agent}, in the ring. {self._score()}", _WIDTH)
        return np.concatenate([above, drawn, flowing(self.legend, _WIDTH)])

    def _pairs(self) -> list[Pair]:
        game = self.game
        if game.explanation is None or game.actions is None:
            return []
        actions = np.asarray(game.actions)
        sizes = np.nan_to_num(np.abs(contributions(game.explanation, actions)))
        self._large = max(self._large, float(sizes.max(initial=0.0)))
        return pairs_of(game.explanation, actions, self._large)

    def _score(self) -> str:
        game = self.game
        parts = [f"Step {game.steps} of {game.env.max_steps}", f"return {game.total:.2f}"]
        if game.actions is not None:
            parts.append(f"you did: {self._action_names[int(game.actions[game.agent])]}")
        if game.has_ended:
            parts.append("the episode has ended")
        return ", ".join(parts) + "."


def play(game: Game, action_names: Sequence[str], *, title: str) -> Iterator[Game]:
    """Play until the window is closed; yields the game after each picture."""
    seat = Seat(game, action_names)
    window = Window(title, seat.frames_per_second)
    pressed: list[str] = []  # since the last agent step
    action: int | None = None
    try:
        while True:
            window.show(seat.picture())
            keys = window.take_keys()
            if window.is_dismissed or QUIT.intersection(keys):
                return
            yield game
            pressed += keys
            if AGAIN in keys:
                game.restart()
                pressed = []
            if game.has_ended:
                continue
            if game.is_choosing:
                action = seat.action(pressed, window.held)
                pressed = []
            if action is not None:
                game.step(action)
    finally:
        window.close()
