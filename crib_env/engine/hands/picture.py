"""The games with hands as a drawing, from views of one seat or of several, and the points pegged.

The first view's seat sits below, the others across or around the table. Their cards are face down
unless their views are given too.
"""

from __future__ import annotations

from collections.abc import Sequence

from crib_env.arrays import View
from crib_env.cards import pip
from crib_env.engine.hands.records import CRIB as CRIB_SIZE
from crib_env.engine.hands.records import DISCARD, MATCH, OVER, PEGGING
from crib_env.engine.hands.text import ending, players_of, side_at, sides_of
from crib_env.engine.record import NONE
from crib_env.render.svg import document as svg
from crib_env.render.svg.board import Pegs, board
from crib_env.render.svg.cards import card
from crib_env.rules import TwoHandRules, find_rules

Spot = tuple[float, float]

# With two: where the hands begin (the first view's seat below, the other above), and the piles.
HAND_X, HAND_YS = 160.0, (316.0, 34.0)
PILE_YS, PILE_STEP = (172.0, 150.0), 54.0
TWO_STARTER_X, TWO_STARTER_Y = 46.0, 152.0
TWO_COUNT_X, TWO_COUNT_Y = 714.0, 208.0
TWO_WELL = (150.0, 142.0, 476.0, 133.0)

# With more: where names and hands are, by the number of players, from the first view's seat on.
BELOW, LEFT, ACROSS, RIGHT = (
    ((16.0, 316.0), (160.0, 316.0)),
    ((16.0, 112.0), (16.0, 209.0)),
    ((232.0, 26.0), (372.0, 36.0)),
    ((652.0, 112.0), (652.0, 209.0)),
)
SPOTS = {3: (BELOW, LEFT, RIGHT), 4: (BELOW, LEFT, ACROSS, RIGHT)}
CARD, STEP = 68.0, 73.0  # of the hand below
SMALL, SMALL_STEP = 44.0, 22.0  # of the others
WELL = (156.0, 116.0, 488.0, 164.0)
PILE_X, PILE_Y = 226.0, 124.0
PLAYED, PLAYED_STEP, ROWS = 42.0, 24.5, 89.0  # cards played, and from the first row to the last
LONGEST_LABEL = 9
CRIB_X, CRIB_Y, CRIB, CRIB_STEP = 640.0, 324.0, 50.0, 31.0
STARTER_X, STARTER_Y, STARTER = 652.0, 32.0, 50.0
COUNT_X, COUNT_Y = 578.0, 362.0


def _ground(well: tuple[float, float, float, float]) -> str:
    return (
        f'<rect class="felt" width="{svg.WIDTH}" height="{svg.HEIGHT}"/>'
        '<rect class="well" x="{:g}" y="{:g}" width="{:g}" height="{:g}" rx="12"/>'.format(*well)
    )


def draw_two(views: Sequence[View], scene: svg.Scene) -> list[str]:
    """Return the parts of a drawing of a game for two."""
    mine = views[0]
    known = _known(views)
    wood, pegs = _board(mine, scene)
    parts = [
        _ground(TWO_WELL) + wood,
        svg.text(scene.heading("deal"), 16, 22, 12, "muted"),
        svg.text(_turn(mine, known, scene, scene.names), HAND_X, 440, 14, bold=True),
    ]
    for place, y in enumerate(HAND_YS):
        part = "dealer" if mine["dealer"] == place else "pone"
        parts += [
            svg.seat(
                _name(mine, place, scene),
                part,
                int(mine["scores"][place]),
                side_at(mine, place),
                16,
                y,
                turn=bool(mine["mover"] == place),
            ),
            svg.hand(known.get(place), int(mine["held_n"][place]), HAND_X, y, CARD, STEP, scene.marked),
        ]
    crib_y = HAND_YS[int(mine["dealer"])] + 8
    parts += [
        svg.crib("crib", _crib(views), CRIB_X, crib_y, CRIB, CRIB_STEP, scene.marked),
        svg.starter(_starter(mine), scene, TWO_STARTER_X, TWO_STARTER_Y, CARD),
        _pile_of_two(mine),
        _count(mine, TWO_COUNT_X, TWO_COUNT_Y),
        svg.calls(svg.called(scene, scene.names), HAND_X, 304, 460),
    ]
    return [*parts, pegs]


def draw_many(views: Sequence[View], scene: svg.Scene) -> list[str]:
    """Return the parts of a drawing of a game for three or four."""
    mine = views[0]
    known = _known(views)
    n = sides_of(mine)
    sides = [" and ".join(scene.names[side::n]) for side in range(n)]  # by side: partners together
    heard = svg.called(scene, sides)
    if len(heard) > 2:  # many plain goes would hide the pile
        heard = [one for one in heard if not one[1].endswith(": go")]
    wood, pegs = board(_pegs(mine), int(mine["target"]))
    parts = [
        _ground(WELL) + wood,
        svg.text(scene.heading("deal"), 16, 22, 12, "muted"),
        svg.text(_turn(mine, known, scene, sides), BELOW[1][0], 440, 14, bold=True),
    ]
    for place, (name_at, hand_at) in enumerate(SPOTS[players_of(mine)]):
        width, step = (SMALL, SMALL_STEP) if place else (CARD, STEP)
        held = int(mine["held_n"][place])
        parts += [
            _seat(mine, place, scene, name_at),
            svg.hand(known.get(place), held, *hand_at, width, step, scene.marked),
        ]
    parts += [
        svg.crib(
            f"crib of {svg.shortened(_name(mine, int(mine['dealer']), scene), 15)}",
            scene.crib or _crib(views),
            CRIB_X,
            CRIB_Y,
            CRIB,
            CRIB_STEP,
            scene.marked,
        ),
        svg.starter(_starter(mine), scene, STARTER_X, STARTER_Y, STARTER),
        _pile_of_many(mine, scene),
        _count(mine, COUNT_X, COUNT_Y),
        svg.calls(heard, BELOW[1][0], 308, 460),
    ]
    return [*parts, pegs]


def _known(views: Sequence[View]) -> dict[int, View]:
    """Return the views by their seats' number of places to the left of the first view's."""
    first = int(views[0]["seat"])
    return {(int(view["seat"]) - first) % players_of(view): view for view in views}


def _name(view: View, place: int, scene: svg.Scene) -> str:
    return scene.names[(int(view["seat"]) + place) % players_of(view)]


def _board(view: View, scene: svg.Scene) -> tuple[str, str]:
    """Return the board; in a match with game pegs, and lines where a loser is skunked (H11)."""
    target = int(view["target"])
    if view["episode"] != MATCH:
        return board(_pegs(view), target)
    rules = find_rules(scene.rules, TwoHandRules)
    marks = [
        (target - margin - 1, mark)
        for margin, points, mark in (
            (rules.skunk_margin, rules.skunk_points, "S"),
            (rules.double_skunk_margin, rules.double_skunk_points, "SS"),
        )
        if points > 1
    ]
    return board(_pegs(view), target, int(view["match_target"]), marks)


def _pegs(view: View) -> list[Pegs]:
    """Return the pegs by side; a view has its own side first."""
    by_side = {
        side_at(view, i): Pegs(*(int(view[peg][i]) for peg in ("scores", "rear", "match_score")))
        for i in range(sides_of(view))
    }
    return [by_side[side] for side in sorted(by_side)]


def _seat(view: View, place: int, scene: svg.Scene, at: Spot) -> str:
    """Return a player's name, its part, and the score of its side."""
    side = int(view["side_of"][place])
    part = ["dealer"] if view["dealer"] == place else []
    if view["phase"] != OVER and view["passed"] >> place & 1 and view["held_n"][place]:
        part.append("go")
    if view["episode"] == MATCH:
        part.append(f"games {int(view['match_score'][side])} of {int(view['match_target'])}")
    return svg.seat(
        _name(view, place, scene),
        ", ".join(part),
        int(view["scores"][side]),
        side_at(view, place),
        *at,
        turn=bool(view["mover"] == place),
    )


def _crib(views: Sequence[View]) -> list[int | None]:
    """Return the crib: the discards of the viewing seats; None for each other card.

    While seats discard, the others may not know how far a seat has got (H1, M3).
    """
    view = views[0]
    discarded = [int(c) for each in views for c in each["discarded"][: each["discarded_n"]]]
    dealt = CRIB_SIZE - players_of(view) * len(view["discarded"])  # to the crib (M2)
    unknown = dealt if view["phase"] == DISCARD else CRIB_SIZE - len(discarded)
    return [*discarded, *[None] * unknown]


def _starter(view: View) -> int | None:
    return None if view["starter"] == NONE else int(view["starter"])


def _count(view: View, x: float, y: float) -> str:
    pegged = "go pegged" if players_of(view) == 2 and view["go"] else ""
    return svg.count(int(view["count"]), x, y, pegged) if view["phase"] == PEGGING else ""


def _played(view: View) -> list[tuple[int, int, bool]]:
    """Return the cards played, the seats that played them, and whether they are out of play."""
    return [
        (int(view["pile"][i]), int(view["pile_seats"]) >> 2 * i & 3, i < int(view["pile_from"]))
        for i in range(int(view["pile_n"]))
    ]


def _pile_of_two(view: View) -> str:
    """Return the cards played, each a little towards its seat; those out of play shadowed (H7)."""
    return "".join(
        card(one, HAND_X + PILE_STEP * i, PILE_YS[place], CARD, dim=out)
        for i, (one, place, out) in enumerate(_played(view))
    )


def _pile_of_many(view: View, scene: svg.Scene) -> str:
    """Return the cards played, a row for each seat, mine below; those out of play shadowed (M8)."""
    players = players_of(view)
    down = ROWS / (players - 1)
    rows = {place: PILE_Y + down * ((place - 1) % players) for place in range(players)}
    labels = [
        svg.text(svg.shortened(_name(view, place, scene), LONGEST_LABEL), WELL[0] + 10, y + 16, 11, "muted")
        for place, y in rows.items()
    ]
    cards = [
        card(one, PILE_X + PLAYED_STEP * i, rows[place], PLAYED, dim=out)
        for i, (one, place, out) in enumerate(_played(view))
    ]
    return "".join(labels + cards)


def closing(
    views: Sequence[View], actions: Sequence[int], before: Sequence[int], scores: Sequence[int], *, shown: bool
) -> list[View]:
    """Return the views for pictures between the last card of a deal and the next deal."""
    seen = [view.copy() for view in views]
    (last,) = actions
    for view in seen:
        n, mover = int(view["pile_n"]), int(view["mover"])
        hand = [card for card in view["hand"][: view["hand_n"]].tolist() if shown or card != last]
        if shown:
            hand = sorted([*(one for one, place, _ in _played(view) if not place), *hand])
            view["phase"], view["pile_n"], view["mover"] = OVER, 0, NONE
        else:
            view["held_n"][mover] -= 1
            view["pile"][n] = last
            view["pile_n"] = n + 1
            view["pile_seats"] |= mover << 2 * n
            view["count"] += pip(last)
        view["hand"][: len(hand)] = hand
        view["hand_n"] = len(hand)
        view["legal"] = view["to_move"] = 0
        for i in range(sides_of(view)):
            side = side_at(view, i)
            if scores[side] != before[side]:
                view["rear"][i] = before[side]
            view["scores"][i] = scores[side]
    return seen


def _turn(view: View, known: dict[int, View], scene: svg.Scene, sides: Sequence[str]) -> str:
    if scene.says is not None:
        return scene.says
    if view["phase"] == OVER:
        return ending(view, sides)
    mover = int(view["mover"])
    does = ""
    if mover in known:
        does = ": discard a card" if view["phase"] == DISCARD else ": play a card"
    return f"{_name(view, mover, scene)} to move{does}"
