"""Recorded episodes in a window, to pause, step through and speed up."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from pairvdn.viewing.stage import Picture, Stage, caption, flowing
from pairvdn.viewing.window import Window

LEGEND = ("space: play or pause", "left, right, home, end: step", "up, down: speed", "q: quit")
QUIT = frozenset({"q", "escape"})
_FRAMES_PER_SECOND = 40.0
_SLOWEST, _FASTEST = 1 / 8, 8.0


class Playback(NamedTuple):
    """The position in an episode, and the speed of playing."""

    length: int
    step: float = 0.0  # its integer part is shown
    playing: bool = True
    speed: float = 1.0

    def later(self, steps: float) -> "Playback":
        """The playback after the time of `steps` steps at normal speed."""
        if not self.playing:
            return self
        step = min(self.step + self.speed * steps, self.length)
        return self._replace(step=step, playing=step < self.length)

    def pressed(self, key: str) -> "Playback":
        """The playback after a key was pressed."""
        return _KEYS[key](self) if key in _KEYS else self

    def _toggled(self) -> "Playback":
        at_end = self.step >= self.length
        return self._replace(playing=not self.playing, step=0.0 if at_end else self.step)

    def _stepped(self, steps: int) -> "Playback":
        step = min(max(int(self.step) + steps, 0), self.length)
        return self._replace(step=float(step), playing=False)

    def _sped(self, factor: float) -> "Playback":
        return self._replace(speed=min(max(factor * self.speed, _SLOWEST), _FASTEST))


_KEYS: dict[str, Callable[[Playback], Playback]] = {
    "space": Playback._toggled,
    "left": lambda now: now._stepped(-1),
    "right": lambda now: now._stepped(1),
    "home": lambda now: now._stepped(-now.length),
    "end": lambda now: now._stepped(now.length),
    "up": lambda now: now._sped(2.0),
    "down": lambda now: now._sped(0.5),
}


def show(stage: Stage, *, title: str, seconds_per_step: float) -> Iterator[Playback]:
    """Show episodes until the window is closed; yields the playback after each picture."""
    window = Window(title, _FRAMES_PER_SECOND)
    playback = Playback(stage.length)
    drawn, picture = -1, stage.picture(0)
    try:
        while True:
            if int(playback.step) != drawn:
                drawn = int(playback.step)
                picture = stage.picture(drawn)
            passed = window.show(_with_legend(picture, playback))
            keys = window.take_keys()
            if window.is_dismissed or QUIT.intersection(keys):
                return
            yield playback
            playback = playback.later(passed / seconds_per_step)
            for key in keys:
                playback = playback.pressed(key)
    finally:
        window.close()


def _with_legend(picture: Picture, playback: Playback) -> Picture:
    state = "playing" if playback.playing else "paused"
    width = picture.shape[1]
    # The state has its own line, so that the size of the window never changes.
    below = [caption(f"{state}, speed x{playback.speed:g}", width), flowing(LEGEND, width)]
    return np.concatenate([picture, *below])
