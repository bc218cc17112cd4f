"""A window that shows pictures, by pygame (extra ``render``)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Window:
    """A window, opened by the first picture; copies and pickles of it begin closed."""

    def __init__(self) -> None:
        self._surface: Any = None
        self._clock: Any = None

    def __reduce__(self) -> tuple[type[Window], tuple[()]]:
        return Window, ()

    def show(self, image: npt.NDArray[np.uint8], title: str, fps: float) -> None:
        """Show a picture, not before the last one has been seen for ``1 / fps`` seconds.

        Shapes: image uint8[height, width, 3].
        """
        import pygame

        height, width, _ = image.shape
        if self._surface is None:
            pygame.display.init()
            pygame.display.set_caption(title)
            self._surface = pygame.display.set_mode((width, height))
            self._clock = pygame.time.Clock()
        pygame.event.pump()
        shown = pygame.image.frombuffer(image.tobytes(), (width, height), "RGB")
        self._surface.blit(shown, (0, 0))
        pygame.display.flip()
        self._clock.tick(fps)

    def close(self) -> None:
        """Close the window; a picture opens it again."""
        if self._surface is not None:
            import pygame

            pygame.display.quit()
            self._surface = None
