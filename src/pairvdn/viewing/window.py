"""A window on the screen that shows pictures, one after the other."""

import numpy as np
from jaxtyping import UInt8

try:
    import pygame
except ImportError as error:
    raise ImportError("A window needs pygame: pip install 'pairvdn[view]'") from error


class Window:
    """A pygame window, opened by the first picture and as large as it."""

    def __init__(self, title: str, frames_per_second: int) -> None:
        self._title = title
        self._frames_per_second = frames_per_second
        self._surface: pygame.Surface | None = None
        self._clock = pygame.time.Clock()

    def show(self, picture: UInt8[np.ndarray, "h w 3"]) -> None:
        """Show a picture, and wait so that no more than the wanted number are shown per second."""
        if self._surface is None:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            height, width, _ = picture.shape
            self._surface = pygame.display.set_mode((width, height))
        # pygame's first axis is x.
        pygame.surfarray.blit_array(self._surface, picture.swapaxes(0, 1))
        pygame.event.pump()  # otherwise the system takes the window for dead
        pygame.display.flip()
        self._clock.tick(self._frames_per_second)

    def close(self) -> None:
        """Close the window; the next picture would open it again."""
        if self._surface is not None:
            pygame.display.quit()
            self._surface = None
