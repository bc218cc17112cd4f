"""The cribbage board: laps of sixty holes and a last one, two pegs a side and a game peg (H9, H12).

Each side has a track; they run beside each other, to the right in the first lap, back to the left
in the second, and end in one hole, which wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from crib_env.render.svg.document import text
from crib_env.render.words import LAP

X, WIDTH, BOTTOM = 14.0, 772.0, 588.0
HEIGHTS = (82.0, 126.0)  # of a board of one lap, of more
STEP, FIVE = 10.6, 4.6  # from hole to hole, and more after every fifth
LEFT = X + 52.0
TRACKS = {2: 15.0, 3: 13.0, 4: 11.0}  # from one side's track to the next, by how many there are
EDGE = 16.0
HOLE = 2.6
TURN = 34.0  # how far the outer track swings out where it turns back
GAMES_STEP = 14.0

Place = tuple[float, float]


@dataclass(frozen=True)
class Pegs:
    """The holes of a side's pegs; 0 before the start."""

    score: int  # the front peg's
    rear: int | None = None  # the rear peg's, if there is one: the score before the last points
    match_score: int = 0  # the game peg's


def board(
    sides: Sequence[Pegs], target: int, match_target: int = 0, marks: Sequence[tuple[int, str]] = ()
) -> tuple[str, str]:
    """Return the board without pegs, and the pegs."""
    n = len(sides)
    pegs = []
    for side, at in enumerate(sides):
        if at.rear is not None:
            pegs.append(_peg(place(side, at.rear, target, n, rear=True), side, rear=True))
        pegs.append(_peg(place(side, at.score, target, n), side))
        if match_target:
            pegs.append(_peg(_game_place(side, min(at.match_score, match_target), target), side, size=4.6))
    return wood(target, match_target, tuple(marks), n), "".join(pegs)


def place(side: int, hole: int, target: int, sides: int = 2, *, rear: bool = False) -> Place:
    """Return where a hole is; 0 is before the start, where the rear peg stands further back."""
    if hole >= target:
        x, lap = _last(target)
        return x, (_track(0, lap, target, sides) + _track(sides - 1, lap, target, sides)) / 2
    if hole == 0:
        return LEFT - STEP * (2.3 if rear else 1.2), _track(side, 0, target, sides)
    lap, column = divmod(hole - 1, LAP)
    return _column(lap, column), _track(side, lap, target, sides)


@cache
def wood(target: int, match_target: int, marks: tuple[tuple[int, str], ...], sides: int) -> str:
    """Return the board without pegs."""
    holes = [
        place(side, hole, target, sides, rear=rear)
        for side in range(sides)
        for hole, rear in ((0, True), *((hole, False) for hole in range(target)))
    ]
    lines = "".join(
        f'<path class="side{side}line" d="{_groove(side, target, sides)}" fill="none" '
        'stroke-width="8" stroke-linecap="round" stroke-linejoin="round" stroke-opacity="0.2"/>'
        for side in range(sides)
    )
    games = (
        [_game_place(side, n, target) for side in range(sides) for n in range(match_target + 1)] if match_target else []
    )
    last = place(0, target, target, sides)
    height = _height(target)
    parts = [
        f'<rect class="wood woodline" x="{X:g}" y="{BOTTOM - height:g}" width="{WIDTH:g}" '
        f'height="{height:g}" rx="14" stroke-width="2"/>',
        lines,
        f'<path class="hole" d="{"".join(_round(at, HOLE) for at in (*holes, *games))}"/>',
        f'<path class="hole" d="{_round(last, 5.2)}"/>',
        *(_number(n, target, sides) for n in range(10, target, 10)),
        *(_mark(hole, word, target, sides) for hole, word in marks if 0 < hole < target - 1),
    ]
    if match_target:
        x, y = _game_place(0, 0, target)
        parts.append(text("games", x - 10, y + 11, 11, "woodink", anchor="end"))
    return "".join(parts)


def _laps(target: int) -> int:
    return max(1, -(-(target - 1) // LAP))


def _height(target: int) -> float:
    return HEIGHTS[min(_laps(target), 2) - 1]


def _pitch(target: int, sides: int) -> float:
    """Return the distance between laps."""
    return (_height(target) - 2 * EDGE - _across(sides)) / max(1, _laps(target) - 1)


def _across(sides: int) -> float:
    """Return the distance from the first side's track to the last's."""
    return (sides - 1) * TRACKS[sides]


def _track(side: int, lap: int, target: int, sides: int) -> float:
    """Return the height of a side's track; a turn at the end of a lap keeps the outer one outer."""
    pitch = _pitch(target, sides)
    gap = min(TRACKS[sides], pitch / sides)
    first = BOTTOM - _height(target) + EDGE + lap * pitch
    return first + gap * (side if lap % 2 == 0 else sides - 1 - side)


def _top(lap: int, target: int, sides: int) -> float:
    """Return the height of the uppermost track of a lap."""
    return min(_track(side, lap, target, sides) for side in (0, sides - 1))


def _column(lap: int, column: int) -> float:
    if lap % 2:
        column = LAP - 1 - column
    return LEFT + column * STEP + column // 5 * FIVE


def _last(target: int) -> tuple[float, int]:
    """Return the abscissa of the last hole and its lap."""
    lap, column = divmod(max(target - 2, 0), LAP)
    x = _column(lap, column)
    return x + (-1.9 if lap % 2 else 1.9) * STEP, lap


def _groove(side: int, target: int, sides: int) -> str:
    """Return the line along a side's holes."""
    right = LEFT + (LAP - 1) * STEP + (LAP - 1) // 5 * FIVE
    line = f"M{LEFT - 2.3 * STEP:g} {_track(side, 0, target, sides):g}"
    laps = _laps(target)
    for lap in range(laps):
        y = _track(side, lap, target, sides)
        if lap == laps - 1:
            x = _column(lap, (target - 2) % LAP if target > 1 else 0)
        else:
            x = LEFT if lap % 2 else right
        line += f"H{x:.1f}"
        if lap < laps - 1:
            down = _track(side, lap + 1, target, sides)
            tall = abs(down - y) / 2
            wide = TURN - TRACKS[sides] * (sides - 1 - side if lap % 2 else side)
            line += f"A{wide:g} {tall:.1f} 0 0 {1 - lap % 2} {x:.1f} {down:.1f}"
    return line


def _game_place(side: int, points: int, target: int) -> Place:
    y = BOTTOM - (22 if _laps(target) == 1 else _height(target) / 2 + 7)
    return X + WIDTH / 2 - 36 + points * GAMES_STEP, y + 13 * side


def _number(n: int, target: int, sides: int) -> str:
    if _laps(target) > 2:
        return ""
    lap = (n - 1) // LAP
    x, y = _column(lap, (n - 1) % LAP), _top(lap, target, sides)
    beside = y + _across(sides) + 15 if lap == 0 else y - 8
    return text(str(n), x, beside, 9, "woodink", anchor="middle")


def _mark(hole: int, word: str, target: int, sides: int) -> str:
    if _laps(target) > 2:
        return ""
    lap, column = divmod(hole - 1, LAP)
    x, y = _column(lap, column), _top(lap, target, sides)
    x += (-1 if lap % 2 else 1) * (STEP + (FIVE if hole % 5 == 0 else 0)) / 2
    last = y + _across(sides)
    below = last + 12.5 if lap else y - 7.5
    return f'<path class="woodline" d="M{x:.1f} {y - 5:.1f}V{last + 5:.1f}" stroke-width="1.6"/>' + text(
        word, x, below, 8, "woodink", bold=True, anchor="middle"
    )


def _round(at: Place, radius: float) -> str:
    x, y = at
    return (
        f"M{x - radius:.1f} {y:.1f}a{radius:g} {radius:g} 0 1 0 {2 * radius:g} 0"
        f"a{radius:g} {radius:g} 0 1 0 {-2 * radius:g} 0Z"
    )


def _peg(at: Place, side: int, *, rear: bool = False, size: float = 5.4) -> str:
    x, y = at
    top = (
        _circle(x, y, 2.2, 'class="peghole"')
        if rear
        else _circle(x - 1.6, y - 1.8, 1.5, 'fill="#fff" fill-opacity="0.7"')
    )
    return (
        _circle(x, y + 1.2, size, 'fill-opacity="0.3"')
        + _circle(x, y, size, f'class="side{side} peg" stroke-width="1.2"')
        + top
    )


def _circle(x: float, y: float, radius: float, kind: str) -> str:
    return f'<circle {kind} cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'
