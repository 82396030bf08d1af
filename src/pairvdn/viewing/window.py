"""A window on the screen that shows pictures, one after the other, and hears keys."""

import os

import numpy as np
from jaxtyping import UInt8

from pairvdn.viewing import MissingPackageError

try:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # it would be printed amid results
    import pygame
except ImportError as error:
    raise MissingPackageError("A window needs pygame: pip install 'pairvdn[view]'") from error


_UNSEEN = ("dummy", "offscreen")  # SDL's drivers that show nothing


class NoScreenError(RuntimeError):
    """There is nothing to open a window on."""


class Window:
    """A pygame window, opened by the first picture and as large as it.

    Whoever closes it is done with it: it stays closed, and pictures are not shown any more.
    """

    def __init__(self, title: str, frames_per_second: float) -> None:
        self._title = title
        self._frames_per_second = frames_per_second
        self._surface: pygame.Surface | None = None
        self._clock = pygame.time.Clock()
        self._dismissed = False
        self._pressed: list[str] = []
        self._held: dict[str, None] = {}  # a set that keeps the order

    @property
    def is_dismissed(self) -> bool:
        """Whether the person who looks has closed it."""
        return self._dismissed

    @property
    def held(self) -> list[str]:
        """Names of the keys that are down, the last pressed last."""
        return list(self._held)

    def show(self, picture: UInt8[np.ndarray, "h w 3"]) -> float:
        """Show a picture, at most so many per second; the seconds since the one before it."""
        if self._dismissed:
            return 0.0
        surface = self._open(picture)
        # pygame's first axis is x.
        pygame.surfarray.blit_array(surface, picture.swapaxes(0, 1))
        pygame.display.flip()
        self._hear()
        return self._clock.tick(self._frames_per_second) / 1000

    def take_keys(self) -> list[str]:
        """Names of the keys that were pressed since this was asked last, in order."""
        pressed, self._pressed = self._pressed, []
        return pressed

    def close(self) -> None:
        """Close the window; the next picture would open it again, unless it was dismissed."""
        if self._surface is not None:
            pygame.display.quit()
            self._surface = None

    def _open(self, picture: UInt8[np.ndarray, "h w 3"]) -> pygame.Surface:
        if self._surface is None:
            try:
                pygame.display.init()
                self._require_screen()
                pygame.display.set_caption(self._title)
                height, width, _ = picture.shape
                self._surface = pygame.display.set_mode((width, height))
            except pygame.error as error:
                raise NoScreenError(f"No window can be opened here: {error}.") from error
        return self._surface

    @staticmethod
    def _require_screen() -> None:
        """Without a screen SDL takes a driver that shows nothing, even if nobody asked for it."""
        if pygame.display.get_driver() in _UNSEEN and "SDL_VIDEODRIVER" not in os.environ:
            pygame.display.quit()
            raise NoScreenError("No window can be opened here: there is no screen.")

    def _hear(self) -> None:
        """Take in what happened; the system takes a window for dead that never does."""
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                self._dismissed = True
            elif event.type == pygame.KEYDOWN:
                name = pygame.key.name(event.key)
                self._pressed.append(name)
                self._held[name] = None
            elif event.type == pygame.KEYUP:
                self._held.pop(pygame.key.name(event.key), None)
        if self._dismissed:
            self.close()
