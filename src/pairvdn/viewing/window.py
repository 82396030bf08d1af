"""A window that shows pictures and receives keys."""

import os

import numpy as np
from jaxtyping import UInt8

from pairvdn.viewing import MissingPackageError

try:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # keeps output clean
    import pygame
except ImportError as error:
    raise MissingPackageError("A window needs pygame: pip install 'pairvdn[view]'") from error


_INVISIBLE = ("dummy", "offscreen")  # SDL's drivers that show nothing


class NoScreenError(RuntimeError):
    """No window can be opened, because there is no screen."""


class Window:
    """A pygame window, opened by the first picture in its size.

    After the user closes it, it stays closed and ignores pictures.
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
        """Whether the user has closed it."""
        return self._dismissed

    @property
    def held(self) -> list[str]:
        """Names of the keys that are down, the last pressed last."""
        return list(self._held)

    def show(self, picture: UInt8[np.ndarray, "h w 3"]) -> float:
        """Show a picture, at the frame rate; returns the seconds since the last one."""
        if self._dismissed:
            return 0.0
        surface = self._open(picture)
        # pygame's first axis is x.
        pygame.surfarray.blit_array(surface, picture.swapaxes(0, 1))
        pygame.display.flip()
        self._handle_events()
        return self._clock.tick(self._frames_per_second) / 1000

    def take_keys(self) -> list[str]:
        """Names of the keys pressed since the last call, in order."""
        pressed, self._pressed = self._pressed, []
        return pressed

    def close(self) -> None:
        """Close the window; the next picture opens it again, unless the user closed it."""
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
        """Raise `NoScreenError` if SDL has fallen back to a driver that shows nothing."""
        if pygame.display.get_driver() in _INVISIBLE and "SDL_VIDEODRIVER" not in os.environ:
            pygame.display.quit()
            raise NoScreenError("No window can be opened here: there is no screen.")

    def _handle_events(self) -> None:
        """Handle events; the system treats a window that never does as hung."""
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
