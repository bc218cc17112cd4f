"""Table Top at the table: display, calls, counts and input."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from crib_env.arrays import View
from crib_env.cards import JACK, format_card, rank
from crib_env.engine.record import NONE
from crib_env.engine.table_top import format_cell, why_illegal
from crib_env.engine.table_top.records import CELLS, CENTRE, SIZE, TO_CRIB
from crib_env.engine.table_top.text import SIDES, line_values
from crib_env.rules import Rules, TableTopRules, find_rules
from crib_env.scoring import score_line
from crib_play.table.family import Call, Counted, Done, Sight, TableFamily, heels_call

cell_name = partial(format_cell, first=1)  # as people count rows and columns


def sight(view: View, rules: Rules) -> Sight:
    """Return a seat's view as plain data; rows and columns count from 0, cells are actions."""
    me, players = int(view["seat"]), int(view["players"])
    rows, columns = line_values(view, rules)
    mine, theirs = (int(score) for score in view["scores"])
    card = view["card"] if view["card"] != NONE else view["partner_card"]
    return {
        "phase": "over" if view["over"] else "turn",
        "dealer": (me + int(view["dealer"])) % players,
        "turn": int(view["turn"]),
        "starter": int(view["starter"]),
        "card": None if card == NONE else int(card),
        "legal": [action for action in range(TO_CRIB + 1) if view["legal"] >> action & 1],
        "layout": [None if card == NONE else int(card) for card in view["layout"]],
        "last": _last(view),
        "rows": rows,
        "columns": columns,
        "crib": [
            {
                "card": None if view["crib"][i] == NONE else int(view["crib"][i]),
                "seat": (me + int(view["dealer"]) + 1 + int(view["crib_turns"][i])) % players,
            }
            for i in range(int(view["crib_n"]))
        ],
        "owed": [int(view["owed"][(seat - me) % players]) for seat in range(players)],
        "scores": [theirs, mine] if me % 2 else [mine, theirs],
        "target": int(view["target"]),
    }


def _last(view: View) -> int | None:
    """Return the cell placed on last, None if only the starter lies there."""
    latest = max(range(CELLS), key=lambda cell: int(view["turns"][cell]))
    return latest if view["turns"][latest] != NONE else None


def opening(view: View, rules: Rules) -> list[Call]:
    """Return the starter, and the heels if it is a jack (T3)."""
    dealer = (int(view["seat"]) + int(view["dealer"])) % int(view["players"])
    starter = Call(dealer, "the starter", 0, (int(view["starter"]),))
    if rank(int(view["starter"])) != JACK or not rules.heels:
        return [starter]
    points = 0 if find_rules(rules, TableTopRules).score_difference else rules.heels
    return [starter, Call(dealer, heels_call(rules), points, starter.cards)]


def calls_of(done: Done) -> list[Call]:
    """Return the calls of a placed card, a card laid in the crib, and a new starter."""
    (action,) = done.actions
    if action == TO_CRIB:
        calls = [Call(done.seat, "a card to the crib")]
    else:
        card = int(done.before[done.seat]["card"])
        calls = [Call(done.seat, f"to {cell_name(action)}", 0, (card,))]
    if done.ended and find_rules(done.rules, TableTopRules).score_difference:  # T13
        more = [event for event in done.events if event.reason == "difference"]
        calls += [Call(event.seat, f"{event.points} more points", event.points) for event in more]
        calls += [] if more else [Call(done.seat, "equal: no points")]
    if done.ended and not done.after["over"]:
        calls += opening(done.after, done.rules)
    return calls


def counted(done: Done) -> list[Counted]:
    """Return the count of a round: the rows, the columns and the crib (T8)."""
    if not done.ended:
        return []
    (action,) = done.actions
    view = done.before[done.seat]
    layout = [int(card) for card in view["layout"]]
    crib = _crib(done.before)
    if action == TO_CRIB:
        crib.append(int(view["card"]))
    else:
        layout[action] = int(view["card"])
    starter = layout[CENTRE]
    shown = []
    for side, along in enumerate((1, SIZE)):
        for i in range(SIZE):
            at = SIZE * i if along == 1 else i
            line = layout[at : at + SIZE] if along == 1 else layout[at::SIZE]
            score = score_line(line, done.rules, starter if starter in line else None)
            name = f"{SIDES[side][:-1]} {i + 1}"
            shown.append(Counted.of(side, name, line, None, score))
    dealer = (int(view["seat"]) + int(view["dealer"])) % int(view["players"])
    score = score_line([*crib, starter], done.rules, starter, crib=True)
    shown.append(Counted.of(dealer % 2, "crib", crib, starter, score))
    return shown


def _crib(views: Sequence[View]) -> list[int]:
    """Return the cards of the crib, each as known to the seat that sent it."""
    slots = range(int(views[0]["crib_n"]))
    return [max(int(view["crib"][i]) for view in views) for i in slots]


def spoken(view: View, actions: Sequence[int]) -> str:
    """Return an action in words."""
    (action,) = actions
    if action == TO_CRIB:
        return "send it to the crib"
    row, column = divmod(action, SIZE)
    return f"place it on {cell_name(action)} ({row + 1}{column + 1})"


def read(text: str, view: View) -> tuple[int, ...]:
    """Return the place a person typed: row and column, ``"23"`` or ``"2 3"``, or ``crib``."""
    word = text.strip().lower()
    found = re.fullmatch(rf"([1-{SIZE}])[ ,]*([1-{SIZE}])", word)
    if word in ("crib", "c"):
        action = TO_CRIB
    elif found:
        action = SIZE * (int(found[1]) - 1) + int(found[2]) - 1
    else:
        raise ValueError(
            f"{text.strip()!r} is not a place: type row and column, such as 23, or crib; you hold "
            f"{format_card(int(view['card']))}"
        )
    if not view["legal"] >> action & 1:
        place = cell_name(action)
        reason = why_illegal(view, action).partition(") ")[2]
        raise ValueError(f"{place} {reason}; you hold {format_card(int(view['card']))}")
    return (action,)


FAMILY = TableFamily(
    name="table_top",
    sides=SIDES,
    to_choose=lambda view: 1,
    phase=lambda view: "placing",
    sight=sight,
    opening=opening,
    calls_of=calls_of,
    counted=counted,
    spoken=spoken,
    read=read,
    ask=lambda view: "place or crib" if view["legal"] >> TO_CRIB & 1 else "place",
    how="Type row and column of the cell, such as 23, or crib.",
)
