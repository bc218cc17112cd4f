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
from crib_env.render.raster import pixels
from crib_env.render.svg.document import framed

FPS = 2
# Packages of the extra `render`, by the mode that needs them.
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
        """Show uint8[height, width, 3], once the last has been seen for ``1 / fps`` seconds."""
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


class ShowsGame:
    """Rendering of an environment of one game: its picture, and its position as text.

    The environment has `game`, `_seat` (the seat to act) and `_begun`, and calls `_show` when made.
    """

    def _show(self: Any, config: EnvConfig) -> None:
        """Take the render mode and the viewer from the keywords."""
        check_libraries(config.render_mode)
        self.render_mode = config.render_mode
        self._config = config
        self._window = Window()

    def render(self: Any) -> Shown:
        """Return or show the game by ``render_mode``, for the acting seat or the viewer.

        Raises:
            EpisodeOverError: before the first reset.
            DependencyNotInstalled: pixels are wanted without the extra ``render``.
        """
        self._check_begun()
        mode, game = self.render_mode, self.game
        if mode is None:
            logger.warn("render() needs a render_mode, such as render_mode='ansi'")
            return None
        shown: Shown = None
        if mode == "ansi":
            shown = game.text(self._drawn["seat"], self._config.spec.name)
        elif mode == "svg":
            shown = game.svg(**self._drawn)
        else:
            try:
                shown = pixels(game.drawing(**self._drawn))
                if mode == "human":
                    self._window.show(shown, self._config.spec.name, FPS)
                    return None
            except ModuleNotFoundError as error:
                raise DependencyNotInstalled(
                    f"render_mode={mode!r} needs {error.name}, which is not installed: {INSTALL}"
                ) from error
        return shown

    def close(self: Any) -> None:
        """Close the window, if there is one."""
        self._window.close()

    def notation(self: Any) -> str:
        """Return the position as one line of text; see `crib_env.notation`.

        Raises:
            EpisodeOverError: before the first reset.
        """
        self._check_begun()
        line: str = self.game.notation()
        return line

    @property
    def _drawn(self: Any) -> dict[str, Any]:
        """The arguments of `Game.drawing` for the viewer, or the acting seat."""
        viewer, title = self._config.viewer, self._config.spec.name
        if viewer == EVERYONE:
            return {"seat": 0, "knows": "seats", "title": title}
        seat = viewer if isinstance(viewer, int) else self._seat
        return {"seat": seat, "knows": "seat", "title": title}

    def _repr_svg_(self: Any) -> str | None:
        return self.game.svg(**self._drawn) if self._begun else None

    def _repr_html_(self: Any) -> str | None:
        return framed(self.game.svg(**self._drawn)) if self._begun else None

    def _check_begun(self: Any) -> None:
        if not self._begun:
            raise EpisodeOverError("there is no game before the first reset(): call it")
