"""The games for three and four as a drawing, from views of one seat or of several.

The first view's seat sits below, the others to its left, across and to its right. Their cards are
face down unless their views are given too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crib_env.cards import pip
from crib_env.engine.many_hand.records import KEPT, MATCH
from crib_env.engine.record import NONE
from crib_env.engine.slots import DISCARD, OVER, PEGGING
from crib_env.render.svg.board import Pegs, board
from crib_env.render.svg.cards import card
from crib_env.render.svg.document import HEIGHT, WIDTH, shortened, text
from crib_env.render.svg.scene import Scene, called, calls, count, crib, hand, seat, starter

View = Any
Spot = tuple[float, float]

# Where names stand and hands begin, by the number of players, from the first view's seat leftwards.
BELOW, LEFT, ACROSS, RIGHT = (
    ((16.0, 316.0), (160.0, 316.0)), ((16.0, 112.0), (16.0, 209.0)),
    ((232.0, 26.0), (372.0, 36.0)), ((652.0, 112.0), (652.0, 209.0)),
)  # fmt: skip
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
GROUND = (
    f'<rect class="felt" width="{WIDTH}" height="{HEIGHT}"/>'
    '<rect class="well" x="{:g}" y="{:g}" width="{:g}" height="{:g}" rx="12"/>'.format(*WELL)
)


def draw(views: Sequence[View], scene: Scene) -> list[str]:
    """Return the parts of a drawing.

    Args:
        views: `VIEW` records of one seat or of several, at one moment.
        scene: what is the same for all.
    """
    mine = views[0]
    players = int(mine["players"])
    known = {_place(mine, int(view["seat"])): view for view in views}
    sides = _side_names(mine, scene)
    wood, pegs = board(_pegs(mine), int(mine["target"]))
    turned = None if mine["starter"] == NONE else int(mine["starter"])
    parts = [
        GROUND + wood,
        text(scene.heading("deal"), 16, 22, 12, "muted"),
        text(_turn(mine, known, scene, sides), BELOW[1][0], 440, 14, bold=True),
    ]
    for place, (name_at, hand_at) in enumerate(SPOTS[players]):
        width, step = (SMALL, SMALL_STEP) if place else (CARD, STEP)
        held = int(mine["held_n"][place])
        parts += [
            _seat(mine, place, scene, name_at),
            hand(known.get(place), held, *hand_at, width, step, scene.marked),
        ]
    parts += [
        crib(f"crib of {shortened(_name(mine, int(mine['dealer']), scene), 15)}",
             scene.crib or _crib(views),
             CRIB_X, CRIB_Y, CRIB, CRIB_STEP, scene.marked),
        starter(turned, scene, STARTER_X, STARTER_Y, STARTER),
        _pile(mine, scene),
        count(int(mine["count"]), COUNT_X, COUNT_Y) if mine["phase"] == PEGGING else "",
        calls(_heard(scene, sides), BELOW[1][0], 308, 460),
    ]  # fmt: skip
    return [*parts, pegs]


def _place(view: View, other: int) -> int:
    """Return how many places to the left of a view's seat another seat is."""
    return (other - int(view["seat"])) % int(view["players"])


def _name(view: View, place: int, scene: Scene) -> str:
    return scene.names[(int(view["seat"]) + place) % int(view["players"])]


def _side(view: View, place: int) -> int:
    """Return the side of a seat to the left of a view's: sides are seated in turn."""
    return (int(view["seat"]) + place) % int(view["sides"])


def _side_names(view: View, scene: Scene) -> list[str]:
    """Return what sides are called, by side: a player, or partners together."""
    sides = int(view["sides"])
    return [" and ".join(scene.names[side::sides]) for side in range(sides)]


def _pegs(view: View) -> list[Pegs]:
    """Return the pegs by side; a view has its own side first."""
    sides = int(view["sides"])
    by_side = {
        _side(view, i): Pegs(int(view["scores"][i]), int(view["rear"][i])) for i in range(sides)
    }
    return [by_side[side] for side in range(sides)]


def _seat(view: View, place: int, scene: Scene, at: Spot) -> str:
    """Return a player's name, its part, and the score of its side."""
    side = int(view["side_of"][place])
    playing = view["phase"] != OVER
    part = ["dealer"] if view["dealer"] == place else []
    if playing and view["passed"] >> place & 1 and view["held_n"][place]:
        part.append("go")
    if view["episode"] == MATCH:
        part.append(f"games {int(view['match_score'][side])} of {int(view['match_target'])}")
    return seat(
        _name(view, place, scene), ", ".join(part), int(view["scores"][side]), _side(view, place),
        *at, turn=bool(playing and view["mover"] == place),
    )  # fmt: skip


def _crib(views: Sequence[View]) -> list[int | None]:
    """Return the crib: what the seats looking laid in it; None for each other card.

    While cards are discarded, how far a seat has got is not for the others to know (M3).
    """
    view = views[0]
    laid = [int(c) for each in views for c in each["discarded"][: each["discarded_n"]]]
    dealt = KEPT - int(view["players"])  # to the crib (M2)
    unknown = dealt if view["phase"] == DISCARD else KEPT - len(laid)
    return [*laid, *[None] * unknown]


def _heard(scene: Scene, sides: Sequence[str]) -> list[tuple[int, str]]:
    """Return what is called; of much, without those who only say go, or it would hide the pile."""
    heard = called(scene, sides)
    return [one for one in heard if len(heard) < 3 or not one[1].endswith(": go")]


def _pile(view: View, scene: Scene) -> str:
    """Return the cards played, in order from left to right, a row for each seat; the last is mine.

    Those out of play are shadowed (M8).
    """
    players = int(view["players"])
    down = ROWS / (players - 1)
    rows = {place: PILE_Y + down * ((place - 1) % players) for place in range(players)}
    shown = [
        text(shortened(_name(view, place, scene), LONGEST_LABEL), WELL[0] + 10, y + 16, 11, "muted")
        for place, y in rows.items()
    ]
    shown += [
        card(
            int(view["pile"][i]), PILE_X + PLAYED_STEP * i,
            rows[int(view["pile_seats"]) >> 2 * i & 3], PLAYED, dim=i < view["pile_from"],
        )
        for i in range(int(view["pile_n"]))
    ]  # fmt: skip
    return "".join(shown)


def closing(
    views: Sequence[View],
    actions: Sequence[int],
    before: Sequence[int],
    scores: Sequence[int],
    *,
    shown: bool,
) -> list[View]:
    """Return what the seats see between the last card of a deal and the next deal.

    Args:
        views: of all seats, by seat, before the last card.
        actions: the last card.
        before, scores: the scores, by side, before and after what is pegged at this moment.
        shown: whether the play is over and the hands lie open for the show.
    """
    seen = [view.copy() for view in views]
    (last,) = actions
    for view in seen:
        n, mover = int(view["pile_n"]), int(view["mover"])
        played = [int(view["pile"][i]) for i in range(n) if not view["pile_seats"] >> 2 * i & 3]
        hand = [card for card in view["hand"][: view["hand_n"]].tolist() if shown or card != last]
        if shown:
            hand = sorted([*played, *hand])
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
        for i in range(int(view["sides"])):
            side = _side(view, i)
            if scores[side] != before[side]:
                view["rear"][i] = before[side]
            view["scores"][i] = scores[side]
    return seen


def _turn(view: View, known: dict[int, View], scene: Scene, sides: Sequence[str]) -> str:
    if scene.says is not None:
        return scene.says
    if view["phase"] == OVER:
        won = [i for i in range(int(view["sides"])) if view["scores"][i] >= view["target"]]
        if not won:
            return "the deal is over"
        verb = "has" if len(sides) == view["players"] else "have"
        return f"{sides[_side(view, won[0])]} {verb} won"
    mover = int(view["mover"])
    does = ""
    if mover in known:
        does = ": lay a card away" if view["phase"] == DISCARD else ": play a card"
    return f"{_name(view, mover, scene)} to move{does}"
