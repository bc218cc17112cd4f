"""The environments' `render`, in every render mode, and drawings as pixels."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import logger
from gymnasium.error import DependencyNotInstalled

from crib_env.cards import parse_card
from crib_env.envs.config import EVERYONE, EnvConfig
from crib_env.errors import EpisodeOverError
from crib_env.render.svg.cards import BACK, TALL, card
from crib_env.render.svg.document import SIZE, document, framed
from crib_env.render.svg.document import WIDTH as UNITS

if TYPE_CHECKING:
    from PIL.Image import Image

FPS = 2
# Packages of the extra `render`, by the mode that needs them.
NEEDED = {"rgb_array": ("PIL", "resvg_py"), "human": ("PIL", "resvg_py", "pygame")}
INSTALL = 'pip install "crib-env[render]"'

Shown = str | npt.NDArray[np.uint8] | None


def check_libraries(mode: str | None) -> None:
    """Warn if a render mode's libraries are missing; raise if the mode is ``"human"``.

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
        """Show uint8[height, width, 3]; wait until ``1 / fps`` seconds after the last call."""
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
            DependencyNotInstalled: the mode needs pixels, and so the extra ``render``.
        """
        self._check_begun()
        mode, game = self.render_mode, self.game
        if mode is None:
            logger.warn("render() needs a render_mode, such as render_mode='ansi'")
            return None
        if mode == "ansi":
            return str(game.text(self._drawn["seat"], self._config.spec.name))
        if mode == "svg":
            return str(game.svg(**self._drawn))
        try:
            image = pixels(game.drawing(**self._drawn))
            if mode == "rgb_array":
                return image
            self._window.show(image, self._config.spec.name, FPS)
        except ModuleNotFoundError as error:
            missing = f"render_mode={mode!r} needs {error.name}, which is not installed: {INSTALL}"
            raise DependencyNotInstalled(missing) from error
        return None

    def close(self: Any) -> None:
        """Close the window, if there is one."""
        self._window.close()

    def notation(self: Any) -> str:
        """Return the position as one line of text; see `crib_env.notation`.

        Raises:
            EpisodeOverError: before the first reset.
        """
        self._check_begun()
        return str(self.game.notation())

    @property
    def _drawn(self: Any) -> dict[str, Any]:
        """The arguments of `Game.drawing` for the viewer, or the acting seat."""
        viewer, title = self._config.viewer, self._config.spec.name
        if viewer == EVERYONE:
            return {"seat": 0, "knows": "seats", "title": title}
        seat = viewer if isinstance(viewer, int) else self._seat
        return {"seat": seat, "knows": "seat", "title": title}

    def _repr_html_(self: Any) -> str | None:
        return framed(self.game.svg(**self._drawn)) if self._begun else None

    def _check_begun(self: Any) -> None:
        if not self._begun:
            raise EpisodeOverError("there is no game before the first reset(): call it")


# --- pixels, by resvg -----------------------------------------------------------------------------
# Little changes in a drawing from one moment to the next, and resvg takes as long for an empty page
# as for a full one. So the background, each card and each other element that can be cut out (a line
# of text, a peg) is drawn once and stored, and a picture is composed of them. The fonts are the
# package's own, so pixels are the same on every machine.

FOLDER = Path(__file__).parents[1] / "render"
WIDTH = 640
SCALE = WIDTH / UNITS
THEME = "light"
# A card, or an element without others inside.
PIECE = re.compile(
    r'<use href="#crib-(?P<card>\w+)" x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" width="(?P<width>[\d.]+)"'
    r'[^>]*/>(?P<dim><rect class="shadow"[^>]*/>)?'
    r"|<(?P<kind>circle|rect|polygon)\b[^>]*/>|<text\b[^>]*>[^<]*</text>"
)
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
MARGIN = 2.0  # about an element, for its outline
FONTS = [str(path) for path in sorted((FOLDER / "fonts").glob("*.otf"))]

Box = tuple[float, float, float, float]


def pixels(parts: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Return a drawing as uint8[height, width, 3]."""
    image = _ground(parts[0]).copy()
    above = "".join(parts[1:])
    whole = [] if PIECE.sub("", above) else list(PIECE.finditer(above))
    for found in whole:
        if found["card"]:
            x, y, wide = (round(float(found[k]) * SCALE) for k in ("x", "y", "width"))
            shown = _card(found["card"], bool(found["dim"]), wide)
        else:
            shown, x, y = _element(found[0], found["kind"] or "text")
        image.paste(shown, (x, y), shown)
    if above and not whole:  # with other elements: draw all at once
        shown = _image([above])
        image.paste(shown, (0, 0), shown)
    return np.asarray(image)


@lru_cache(maxsize=16)
def _ground(part: str) -> Image:
    return _image([part]).convert("RGB")


@lru_cache(maxsize=256)
def _card(name: str, dim: bool, width: int) -> Image:
    """Return a single card, shadowed or not."""
    shown = card(None if name == BACK else parse_card(name), 0, 0, UNITS, dim=dim)
    return _image([shown], (UNITS, UNITS * TALL), width)


@lru_cache(maxsize=4096)
def _element(svg: str, kind: str) -> tuple[Image, int, int]:
    """Return an element aligned to the pixel grid, and its position."""
    left, top, right, bottom = _box(kind, dict(ATTRIBUTE.findall(svg.partition(">")[0])), svg)
    x, y = max(0, floor(left * SCALE)), max(0, floor(top * SCALE))
    wide, high = ceil(right * SCALE) - x, ceil(bottom * SCALE) - y
    moved = f'<g transform="translate({-x} {-y}) scale({SCALE})">{svg}</g>'
    shown = _image([moved], (wide, high), wide)  # resvg scales to whole sizes
    held = shown.getbbox() or (0, 0, 1, 1)
    return shown.crop(held), x + held[0], y + held[1]


def _box(kind: str, has: dict[str, str], svg: str) -> Box:
    """Return left, top, right and bottom of a box that is sure to contain an element."""
    if kind == "circle":
        x, y, r = (float(has[name]) for name in ("cx", "cy", "r"))
        box = x - r, y - r, x + r, y + r
    elif kind == "polygon":
        at = [float(number) for number in re.split("[ ,]", has["points"])]
        box = min(at[::2]), min(at[1::2]), max(at[::2]), max(at[1::2])
    elif kind == "rect":
        x, y = float(has.get("x", 0)), float(has.get("y", 0))
        box = x, y, x + float(has["width"]), y + float(has["height"])
    else:
        x, y, size = (float(has[name]) for name in ("x", "y", "font-size"))
        long = size * len(svg.partition(">")[2])  # no letter is wider than it is high
        before = {"middle": long / 2, "end": long}.get(has.get("text-anchor", ""), 0.0)
        box = x - before, y - 1.1 * size, x - before + long, y + 0.4 * size
    left, top, right, bottom = box
    most_right, most_down = SIZE
    ends = min(most_right, right + MARGIN), min(most_down, bottom + MARGIN)
    return left - MARGIN, top - MARGIN, *ends


def _image(parts: Sequence[str], size: tuple[float, float] = SIZE, width: int = WIDTH) -> Image:
    """Return parts of a drawing, of ``size`` in its units, as an image with transparency."""
    import resvg_py
    from PIL import Image

    svg = document(parts, "", THEME, size)
    png = resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True, font_files=FONTS)
    return Image.open(io.BytesIO(png)).convert("RGBA")
