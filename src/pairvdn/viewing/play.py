"""A person plays one of the agents, with the keyboard, in a window.

Where the environment has a clock, time passes by itself, and the person does what the keys say that
are down, or were since the last choice. Elsewhere nothing moves until a key is pressed.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from pairvdn.envs import HasClock, seconds_per_step
from pairvdn.evaluation.game import Game
from pairvdn.viewing.captions import caption, flowing
from pairvdn.viewing.keys import keyboard, legend
from pairvdn.viewing.pairs import Pair, contributions, pairs_of
from pairvdn.viewing.player import QUIT
from pairvdn.viewing.raster import draw
from pairvdn.viewing.stage import Picture
from pairvdn.viewing.window import Window

AGAIN = "r"
_WIDTH, _MOST_HEIGHT = 960, 600  # pixels of the scene
_IDLE_FRAMES_PER_SECOND = 30.0  # while nothing moves by itself


class Seat:
    """Where the person sits: what there is to see, and what the keys say."""

    def __init__(self, game: Game, action_names: Sequence[str]) -> None:
        self.game = game
        self._action_names = action_names
        self._keys = keyboard(action_names)
        self._in_turns = not isinstance(game.env, HasClock) or self._keys.resting is None
        self.legend = legend(action_names, self._keys, in_turns=self._in_turns)
        self._large = 1e-9  # the largest contribution of a pair so far

    @property
    def frames_per_second(self) -> float:
        """As many as the environment has steps, or enough to hear keys soon."""
        return _IDLE_FRAMES_PER_SECOND if self._in_turns else 1 / seconds_per_step(self.game.env)

    def action(self, pressed: Sequence[str], held: Sequence[str]) -> int | None:
        """What the person does now; None is to wait."""
        if self._in_turns:
            return self._keys.action(pressed)
        chosen = self._keys.action([*held, *pressed])
        return self._keys.resting if chosen is None else chosen

    def picture(self) -> Picture:
        """The scene with a ring around the person's agent, how it stands, and the keys."""
        scene = self.game.scene
        left, bottom, right, top = map(float, scene.bounds)
        scale = min(_WIDTH / (right - left), _MOST_HEIGHT / (top - bottom))
        height = round(scale * (top - bottom))
        drawn = draw(
            scene, height=height, width=_WIDTH, pairs=self._pairs(), ringed=self.game.agent
        )
        above = caption(f"You are agent {self.game.agent}, in the ring. {self._standing()}", _WIDTH)
        return np.concatenate([above, drawn, flowing(self.legend, _WIDTH)])

    def _pairs(self) -> list[Pair]:
        game = self.game
        if game.explanation is None or game.actions is None:
            return []
        actions = np.asarray(game.actions)
        sizes = np.nan_to_num(np.abs(contributions(game.explanation, actions)))
        self._large = max(self._large, float(sizes.max(initial=0.0)))
        return pairs_of(game.explanation, actions, self._large)

    def _standing(self) -> str:
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
    pressed: list[str] = []  # since the last choice
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
