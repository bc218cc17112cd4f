"""A whole SVG: its words, its colours, and the parts put together.

A document's rules are plain classes under the class of its theme, without variables, since resvg
does not read them. A symbol carries the class too, because in a browser no rule reaches from
outside into what `use` shows. A page's rules are variables, so that its theme can change. The
colours (class, property, light, dark) are in `drawings.json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from textwrap import wrap
from xml.sax.saxutils import escape

from crib_env.arrays import View
from crib_env.cards import format_cards
from crib_env.errors import check_choice
from crib_env.events import Event
from crib_env.render.svg.cards import card, drawings, symbols
from crib_env.render.words import pegged
from crib_env.rules import Rules

SIZE = WIDTH, HEIGHT = 800, 600
USED = re.compile(r'href="#(crib-\w+)"')
UNPRINTABLE = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
THEMES = ("auto", "light", "dark")
FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


def document(parts: Iterable[str], title: str, theme: str = "auto", size: tuple[float, float] = SIZE) -> str:
    """Return a self-contained SVG."""
    check_choice("theme", theme, THEMES)
    body = "".join(parts)
    known = symbols()
    used = "".join(known[name] for name in sorted(set(USED.findall(body))))
    used = used.replace("<symbol ", f'<symbol class="crib-{theme}" ')
    return (
        f"{opening(f'crib-{theme}', size)}<title>{escape(title)}</title>"
        f"<style>{style_sheet(theme)}</style><defs>{used}</defs>{body}</svg>"
    )


def opening(kind: str, size: tuple[float, float] = SIZE) -> str:
    """Return the start tag of an SVG of class ``kind``."""
    width, height = size
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'class="{kind}" width="{width:g}" height="{height:g}" '
        f'style="max-width:100%;height:auto" font-family="{FONT}">'
    )


def framed(svg: str) -> str:
    """Return an SVG as HTML for a page of text: as wide as there is room, up to its own width."""
    return f'<div style="max-width:{WIDTH}px">{svg}</div>'


def text(
    words: str, x: float, y: float, size: float = 13, kind: str = "ink", *, bold: bool = False, anchor: str = "start"
) -> str:
    """Return a line of text."""
    more = (' font-weight="600"' if bold else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" font-size="{size:g}"{more}>{escape(plain(words))}</text>'


def plain(words: str) -> str:
    """Return words without characters that no XML may hold."""
    return UNPRINTABLE.sub("�", words)


def shortened(words: str, most: int) -> str:
    """Return text cut to a number of characters, with dots for the missing rest."""
    return words if len(words) <= most else words[: most - 1] + "…"


@cache
def style_sheet(theme: str) -> str:
    """Return the rules of a theme, for elements under the class ``crib-THEME``."""
    if theme != "auto":
        return _rules(theme, dark=theme == "dark")
    at_night = _rules(theme, dark=True)
    return _rules(theme, dark=False) + f"@media(prefers-color-scheme:dark){{{at_night}}}"


def _rules(theme: str, *, dark: bool) -> str:
    return "".join(
        f".crib-{theme} .{name}{{{what}:{by_night if dark else by_day}}}"
        for name, what, by_day, by_night in drawings()["colours"]
    )


def page_sheet() -> str:
    """Return the rules for drawings in a page: the reader's theme, or `data-theme` of its root."""
    light, dark = (
        "".join(f"--crib-{name}:{colours[night]};" for name, _, *colours in drawings()["colours"]) for night in (0, 1)
    )
    rules = "".join(
        f".crib .{name},symbol .{name}{{{what}:var(--crib-{name})}}" for name, what, _, _ in drawings()["colours"]
    )
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f":root[data-theme=light]{{color-scheme:light;{light}}}"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}{rules}"
    )


# --- scenes: shared parts of the drawings of all games --------------------------------------------


LONGEST_NAME = 15
LONGEST_CALL = 90
LETTER, CALL_HEIGHT = 6.5, 17.0  # how wide a letter of a call is, about, and how high a line
MOST_CALLS = 5


@dataclass(frozen=True)
class Scene:
    """The parts of a drawing that are the same for every viewer."""

    rules: Rules
    title: str  # the game, such as ``"six_card_v0"``
    deals: int  # dealt in this episode
    names: Sequence[str]  # the players', by seat
    events: Sequence[Event] = ()  # the last points, to be called
    calls: Sequence[tuple[int, str]] | None = None  # side and words in place of the events
    says: str | None = None  # a line in place of whose turn it is
    marked: frozenset[int] = frozenset()  # cards to outline, if no seat is to move
    crib: Sequence[int] = ()  # once it is open for the count
    hidden: int | None = None  # the starter before it is turned, where it may be shown

    def heading(self, deal: str) -> str:
        """Return the heading: the game, its target and the number of the deal."""
        named = f"{self.title} · " if self.title != self.rules.name else ""
        return f"{named}{self.rules.name} to {self.rules.target} · {deal} {self.deals}"


def hand(view: View | None, cards: int, x: float, y: float, width: float, step: float, marked: frozenset[int]) -> str:
    """Return a hand, face up where its seat's view is known; cards it may use now are marked."""
    if view is None:
        return "".join(card(None, x + step * i, y, width) for i in range(cards))
    return "".join(
        card(
            int(view["hand"][i]),
            x + step * i,
            y,
            width,
            open=bool(view["legal"] >> i & 1) or int(view["hand"][i]) in marked,
        )
        for i in range(int(view["hand_n"]))
    )


def crib(
    label: str, cards: Sequence[int | None], x: float, y: float, width: float, step: float, marked: frozenset[int]
) -> str:
    """Return the crib under its label; a card that is None lies face down."""
    shown = "".join(card(c, x + step * i, y, width, open=c in marked) for i, c in enumerate(cards))
    return text(label, x, y - 6, 12, "muted") + (shown or text("none yet", x, y + 16, 12, "muted"))


def starter(turned: int | None, scene: Scene, x: float, y: float, width: float) -> str:
    """Return the starter: face up once turned, shadowed if it may be shown before, or face down."""
    label = text("starter", x, y - 7, 12, "muted")
    if turned is not None:
        return label + card(turned, x, y, width, open=turned in scene.marked)
    return label + card(scene.hidden, x, y, width, dim=scene.hidden is not None)


def count(value: int, x: float, y: float, below: str = "") -> str:
    """Return the present count in a circle about (x, y), and the text below it."""
    return (
        f'<circle class="well" cx="{x:g}" cy="{y:g}" r="50"/>'
        + text("count", x, y - 24, 12, "muted", anchor="middle")
        + text(str(value), x, y + 20, 44, bold=True, anchor="middle")
        + (text(below, x, y + 44, 12, "muted", anchor="middle") if below else "")
    )


def seat(name: str, part: str, points: int, side: int, x: float, y: float, *, turn: bool) -> str:
    """Return a player's name, part and score."""
    mark = arrow(x + 121, y + 22) if turn else ""
    return score(shortened(name, LONGEST_NAME), points, side, x, y) + text(part, x + 19, y + 33, 12, "muted") + mark


def score(name: str, points: int, side: int, x: float, y: float) -> str:
    """Return a name in its side's colour and its score beneath."""
    return (
        f'<circle class="side{side}" cx="{x + 7:g}" cy="{y + 10:g}" r="6"/>'
        + text(name, x + 19, y + 15, 14, bold=True)
        + text(str(points), x + 18, y + 72, 36, bold=True)
    )


def arrow(x: float, y: float) -> str:
    """Return the mark of the seat to move."""
    corners = f"{x:g},{y:g} {x + 11:g},{y + 6.5:g} {x:g},{y + 13:g}"
    return f'<polygon class="good" points="{corners}"/>'


def calls(lines: Sequence[tuple[int, str]], x: float, y: float, width: float) -> str:
    """Return the last calls, each in the colour of its side."""
    shown = []
    for side, words in reversed(lines[-MOST_CALLS:]):
        rows = wrap(shortened(words, LONGEST_CALL), int((width - 38) / LETTER))
        height = 7 + CALL_HEIGHT * len(rows)
        y -= height
        shown.append(
            f'<rect class="call" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'rx="12"/><circle class="side{side}" cx="{x + 14:g}" cy="{y + 12:g}" r="5"/>'
        )
        shown += [text(row, x + 27, y + 16.5 + CALL_HEIGHT * i) for i, row in enumerate(rows)]
        y -= 3
    return "".join(shown)


def called(scene: Scene, names: Sequence[str]) -> list[tuple[int, str]]:
    """Return the calls: side and words, one line for simultaneous points of a side."""
    if scene.calls is not None:
        return list(scene.calls)
    lines = []
    for side, same in groupby(scene.events, key=lambda event: event.seat):
        events = list(same)
        words = ", ".join(pegged(e.reason, e.points, len(e.cards)) for e in events)
        if len(events) == 1 and events[0].cards:
            words += f" ({format_cards(events[0].cards)})"
        lines.append((side, f"{names[side]}: {words}"))
    return lines
