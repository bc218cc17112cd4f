"""The environments' `render`, in every render mode."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import logger
from gymnasium.error import DependencyNotInstalled

from crib_env.envs.config import EVERYONE, EnvConfig
from crib_env.errors import EpisodeOverError
from crib_env.game import Game
from crib_env.render.raster import pixels
from crib_env.render.svg.document import framed

FPS = 2
# What the extra `render` brings, by the mode that needs it.
NEEDED = {"rgb_array": ("PIL", "resvg_py"), "human": ("PIL", "resvg_py", "pygame")}
INSTALL = 'pip install "crib-env[render]"'

Shown = str | npt.NDArray[np.uint8] | None


def check_libraries(mode: str | None) -> None:
    """Warn where a render mode's libraries are missing; for a window raise.

    Stable-Baselines3's ``make_vec_env`` asks every environment for ``"rgb_array"``, so that mode
    fails no earlier than at `render`.
    """
    missing = [one for one in NEEDED.get(mode or "", ()) if find_spec(one) is None]
    if missing:
        message = f"render_mode={mode!r} needs {', '.join(missing)}, not installed: {INSTALL}"
        if mode == "human":
            raise DependencyNotInstalled(message)
        warnings.warn(message, stacklevel=5)


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


class Renderer:
    """Shows an environment's game.

    Attributes:
        name: the environment's.
        viewer: whose knowledge is shown: a seat, ``"all"``, or None for the seat that acts.
    """

    def __init__(self, config: EnvConfig) -> None:
        check_libraries(config.render_mode)
        self.name, self.viewer = config.spec.name, config.viewer
        self.window = Window()

    def render(self, mode: str | None, game: Game, seat: int) -> Shown:
        """Return the game as text, SVG or pixels, or show it in the window, by the mode."""
        if mode is None:
            logger.warn("render() needs a render_mode, such as render_mode='ansi'")
            return None
        if mode == "ansi":
            return game.text(self._below(seat), self.name)
        if mode == "svg":
            return self.svg(game, seat)
        try:
            image = pixels(self.drawing(game, seat))
            if mode == "rgb_array":
                return image
            self.window.show(image, self.name, FPS)
        except ModuleNotFoundError as error:
            raise DependencyNotInstalled(
                f"render_mode={mode!r} needs {error.name}, which is not installed: {INSTALL}"
            ) from error
        return None

    def svg(self, game: Game, seat: int) -> str:
        """Return the game as SVG."""
        return game.svg(self._below(seat), knows=self._knows, title=self.name)

    def html(self, game: Game, seat: int) -> str:
        """Return the game as HTML for a notebook."""
        return framed(self.svg(game, seat))

    def drawing(self, game: Game, seat: int) -> list[str]:
        """Return the parts of the drawing, as `pixels` takes them."""
        return game.drawing(self._below(seat), knows=self._knows, title=self.name)

    @property
    def _knows(self) -> str:
        return "seats" if self.viewer == EVERYONE else "seat"

    def _below(self, seat: int) -> int:
        """Return the seat that sits below, where ``seat`` acts."""
        if self.viewer == EVERYONE:
            return 0
        return self.viewer if isinstance(self.viewer, int) else seat


class ShowsGame:
    """What an environment of one game shows of it: its picture, and its position as text.

    The environment has `game`, `_seat` (who acts), `_begun`, `render_mode` and a `_renderer`.
    """

    def render(self: Any) -> Shown:
        """Return or show the game as ``render_mode`` says, for who acts or the viewer.

        Raises:
            EpisodeOverError: before the first reset.
            DependencyNotInstalled: pixels are wanted without the extra ``render``.
        """
        self._check_begun()
        shown: Shown = self._renderer.render(self.render_mode, self.game, self._seat)
        return shown

    def close(self: Any) -> None:
        """Close the window, if there is one."""
        self._renderer.window.close()

    def notation(self: Any) -> str:
        """Return the position as one line of text; see `crib_env.notation`.

        Raises:
            EpisodeOverError: before the first reset.
        """
        self._check_begun()
        line: str = self.game.notation()
        return line

    def _repr_svg_(self: Any) -> str | None:
        return self._renderer.svg(self.game, self._seat) if self._begun else None

    def _repr_html_(self: Any) -> str | None:
        return self._renderer.html(self.game, self._seat) if self._begun else None

    def _check_begun(self: Any) -> None:
        if not self._begun:
            raise EpisodeOverError("there is no game before the first reset(): call it")
