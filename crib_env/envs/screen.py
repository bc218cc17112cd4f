"""What the environments' `render` returns or shows, in every render mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import logger
from gymnasium.error import DependencyNotInstalled

from crib_env.engine.family import Family
from crib_env.envs.checks import INSTALL
from crib_env.errors import EpisodeOverError
from crib_env.events import Event
from crib_env.render.raster import pixels
from crib_env.render.svg.document import document, framed
from crib_env.render.svg.scene import Scene
from crib_env.render.window import Window
from crib_env.rules import Rules

MODES = ("ansi", "svg", "rgb_array", "human")
FPS = 2
EVERYONE = "all"


class Sight(NamedTuple):
    """What there is to see.

    Attributes:
        view: of a seat: what it may know.
        seat: who acts.
        deals: deals dealt in this episode.
        events: what was pegged and counted last, also what made no points.
    """

    view: Callable[[int], Any]
    seat: int
    deals: int
    events: Sequence[Event]


Shown = str | npt.NDArray[np.uint8] | None
Viewer = int | str | None


class Screen:
    """Shows one environment's game.

    Args:
        family, rules: the game's.
        players: its seats.
        name: the environment's.
        viewer: whose knowledge is shown: a seat, ``"all"``, or None for whoever acts.

    Raises:
        ValueError: no such viewer.
    """

    def __init__(
        self,
        family: Family,
        rules: Rules,
        players: int,
        name: str,
        viewer: Viewer = None,
    ) -> None:
        if viewer is not None and viewer != EVERYONE and (
            isinstance(viewer, bool) or viewer not in range(players)
        ):  # fmt: skip
            raise ValueError(
                f"viewer must be a seat from 0 to {players - 1}, 'all' or None, got {viewer!r}"
            )
        self.family, self.rules, self.name = family, rules, name
        self.viewer = viewer
        self.names = tuple(f"player_{seat}" for seat in range(players))
        self.window = Window()

    def show(self, mode: str, sight: Sight) -> Shown:
        """Return the game as text, SVG or pixels, or show it in the window, by the mode.

        Raises:
            DependencyNotInstalled: pixels are wanted without the extra ``render``.
        """
        if mode == "ansi":
            view = sight.view(self._seats(sight)[0])
            return self.family.text(view, self.rules, self.name, sight.deals, sight.events)
        if mode == "svg":
            return self.svg(sight)
        try:
            image = pixels(self._parts(sight))
            if mode == "rgb_array":
                return image
            self.window.show(image, self.name, FPS)
        except ModuleNotFoundError as error:
            raise DependencyNotInstalled(
                f"render_mode={mode!r} needs {error.name}, which is not installed: {INSTALL}"
            ) from error
        return None

    def svg(self, sight: Sight) -> str:
        """Return the game as SVG."""
        return document(self._parts(sight), self.name)

    def _parts(self, sight: Sight) -> list[str]:
        pegged = tuple(event for event in sight.events if event.points)
        scene = Scene(self.rules, self.name, sight.deals, self.names, pegged)
        views = [sight.view(seat) for seat in self._seats(sight)]
        return self.family.draw(views, scene)

    def _seats(self, sight: Sight) -> list[int]:
        """Return whose knowledge is shown, first who sits below."""
        if self.viewer == EVERYONE:
            return list(range(len(self.names)))
        return [self.viewer if isinstance(self.viewer, int) else sight.seat]


class Shows:
    """An environment that shows its game on a `Screen`."""

    render_mode: str | None
    _screen: Screen

    def _sight(self) -> Sight | None:
        """Return what there is to see; None before the first reset."""
        raise NotImplementedError

    def render(self) -> Shown:
        """Return or show the game as ``render_mode`` says, for who acts or the viewer.

        Raises:
            EpisodeOverError: before the first reset.
            DependencyNotInstalled: pixels are wanted without the extra ``render``.
        """
        if self.render_mode is None:
            logger.warn("render() needs a render_mode, such as render_mode='ansi'")
            return None
        sight = self._sight()
        if sight is None:
            raise EpisodeOverError("there is nothing to see before the first reset(): call it")
        return self._screen.show(self.render_mode, sight)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._screen.window.close()

    def _repr_svg_(self) -> str | None:
        sight = self._sight()
        return None if sight is None else self._screen.svg(sight)

    def _repr_html_(self) -> str | None:
        svg = self._repr_svg_()
        return None if svg is None else framed(svg)
