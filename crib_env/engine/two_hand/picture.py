"""The two-hand games as a drawing, from views of one seat or of several, and what was pegged.

The first view's seat sits below. The other's cards are face down unless its view is given too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crib_env.cards import pip
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.records import DISCARD, MATCH, OVER, PEGGING
from crib_env.render.svg.board import Pegs, board
from crib_env.render.svg.cards import card
from crib_env.render.svg.document import HEIGHT, WIDTH, text
from crib_env.render.svg.scene import Scene, called, calls, count, crib, hand, seat, starter
from crib_env.rules import TwoHandRules, find_rules

View = Any
Pair = Sequence[int]

CARD = 68.0
STEP = 73.0
HAND_X = 160.0
ROWS = (316.0, 34.0)  # hands: of the first view's seat, below, and of the other, above
PILE = (172.0, 150.0)  # cards played by them
PILE_STEP = 54.0
CRIB = 50.0
CRIB_X, CRIB_STEP = 640.0, 31.0
STARTER_X, STARTER_Y = 46.0, 152.0
COUNT_X, COUNT_Y = 714.0, 208.0
GROUND = (
    f'<rect class="felt" width="{WIDTH}" height="{HEIGHT}"/>'
    '<rect class="well" x="150" y="142" width="476" height="133" rx="12"/>'
)


def draw(views: Sequence[View], scene: Scene) -> list[str]:
    """Return the parts of a drawing.

    Args:
        views: `VIEW` records of one seat or of both, at one moment.
        scene: what is the same for both.
    """
    mine = views[0]
    me, dealer = int(mine["seat"]), _dealer(mine)
    known = {int(view["seat"]): view for view in views}
    wood, pegs = _board(mine, scene)
    parts = [
        GROUND + wood,
        text(scene.heading("deal"), 16, 22, 12, "muted"),
        text(_turn(mine, known, scene), HAND_X, 440, 14, bold=True),
    ]  # fmt: skip
    for p in (me, 1 - me):
        row = 0 if p == me else 1
        part = "dealer" if p == dealer else "pone"
        turn = mine["phase"] != OVER and bool(mine["to_move"]) == (p == me)
        parts.append(
            seat(scene.names[p], part, int(mine["scores"][row]), p, 16, ROWS[row], turn=turn)
        )
        parts.append(
            hand(known.get(p), int(mine["other_n"]), HAND_X, ROWS[row], CARD, STEP, scene.marked)
        )
    crib_y = ROWS[0 if dealer == me else 1] + 8
    turned = None if mine["starter"] == NONE else int(mine["starter"])
    parts += [
        crib("crib", _crib(known), CRIB_X, crib_y, CRIB, CRIB_STEP, scene.marked),
        starter(turned, scene, STARTER_X, STARTER_Y, CARD),
        _pile(mine),
        _count(mine),
        calls(called(scene, scene.names), HAND_X, 304, 460),
    ]
    return [*parts, pegs]


def _board(view: View, scene: Scene) -> tuple[str, str]:
    """Return the board; in a match with game pegs, and lines where a loser is skunked (H11)."""
    target = int(view["target"])
    if view["episode"] != MATCH:
        return board(_pegs(view), target)
    rules = find_rules(scene.rules, TwoHandRules)
    marks = (
        (target - rules.skunk_margin - 1, "S"),
        (target - rules.double_skunk_margin - 1, "SS"),
    )
    return board(_pegs(view), target, int(view["match_target"]), marks)


def _dealer(view: View) -> int:
    return int(view["seat"]) if view["is_dealer"] else 1 - int(view["seat"])


def _pegs(view: View) -> list[Pegs]:
    sides = [
        Pegs(int(view["scores"][i]), int(view["rear"][i]), int(view["match_score"][i]))
        for i in range(2)
    ]
    return sides if view["seat"] == 0 else sides[::-1]


def _crib(known: dict[int, View]) -> list[int | None]:
    """Return the crib: what the seats looking laid in it; None for each other card.

    While cards are discarded, how far a seat has got is not for the other to know (H1).
    """
    discarded = [
        int(c) for view in known.values() for c in view["discarded"][: view["discarded_n"]]
    ]
    phase = next(iter(known.values()))["phase"]
    unknown = 0 if phase == DISCARD else 4 - len(discarded)
    return [*discarded, *[None] * unknown]


def _pile(view: View) -> str:
    """Return the cards played, each a little towards its seat; those out of play shadowed (H7)."""
    shown = []
    for i in range(int(view["pile_n"])):
        y = PILE[0] if view["pile_mine"] >> i & 1 else PILE[1]
        shown.append(
            card(int(view["pile"][i]), HAND_X + PILE_STEP * i, y, CARD, dim=i < view["pile_from"])
        )
    return "".join(shown)


def _count(view: View) -> str:
    if view["phase"] != PEGGING:
        return ""
    return count(int(view["count"]), COUNT_X, COUNT_Y, "go pegged" if view["go"] else "")


def _turn(view: View, known: dict[int, View], scene: Scene) -> str:
    me = int(view["seat"])
    if scene.says is not None:
        return scene.says
    if view["phase"] == OVER:
        reached = [p for p in range(2) if view["scores"][p] >= view["target"]]
        return (
            f"{scene.names[me if reached == [0] else 1 - me]} has won"
            if reached
            else "the deal is over"
        )
    mover = me if view["to_move"] else 1 - me
    verb = ""
    if mover in known:
        verb = ": lay a card away" if view["phase"] == DISCARD else ": play a card"
    return f"{scene.names[mover]} to move{verb}"


def closing(
    views: Sequence[View], actions: Sequence[int], before: Pair, scores: Pair, *, shown: bool
) -> list[View]:
    """Return what the seats see between the last card of a deal and the next deal.

    Args:
        views: of both seats, by seat, before the last card.
        actions: the last card.
        before, scores: the scores, by seat, before and after what is pegged at this moment.
        shown: whether the play is over and the hands lie open for the show.
    """
    seen = [view.copy() for view in views]
    (last,) = actions
    for p, view in enumerate(seen):
        n = int(view["pile_n"])
        played = [int(view["pile"][i]) for i in range(n) if view["pile_mine"] >> i & 1]
        hand = [int(card) for card in view["hand"][: view["hand_n"]]]
        if shown:
            hand = sorted([*played, *hand])
            view["phase"], view["pile_n"] = OVER, 0
        else:
            mine = last in hand
            hand = [card for card in hand if card != last]
            view["other_n"] -= 0 if mine else 1
            view["pile"][n] = last
            view["pile_n"] = n + 1
            view["pile_mine"] |= int(mine) << n
            view["count"] += pip(last)
        view["hand"][: len(hand)] = hand
        view["hand_n"] = len(hand)
        view["legal"] = view["to_move"] = 0
        for i, q in enumerate((p, 1 - p)):
            if scores[q] != before[q]:
                view["rear"][i] = before[q]
            view["scores"][i] = scores[q]
    return seen
