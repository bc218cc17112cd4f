"""Positions in the first form of notation, which showed the board after the moves.

Recorded digests are of such lines; no code parses them.
"""

from __future__ import annotations

from typing import Any

from crib_env import Game, format_card
from crib_env.engine.record import NONE
from crib_env.notation import format_rules


def describe(game: Game) -> str:
    """Return the position of a game with its numbers after the moves."""
    s: Any = game.states[0]
    n = len(game.scores)
    head = f"{format_rules(game.rules)} {game.episode} #{s['deals']} d{s['dealer']} m{s['to_move']}"
    games = []
    if game.rules.family == "table_top":
        body = table_top(s)
    else:
        body = hands(game, s, n)
        games = [f"games={by_side(s['match_score'][:n])}"] if any(s["match_score"]) else []
    tail = [f"start={by_side(s['start'][:n])}"] if any(s["start"]) else []
    tail += [f"winner={s['winner']}"] if s["winner"] != NONE else []
    tail += ["rng=" + ".".join(f"{word:x}" for word in s["rng"])] if any(s["rng"]) else []
    return " ".join([head, *body, *games, *tail])


def hands(game: Game, s: Any, sides: int) -> list[str]:
    """Return the fields of the games with hands."""
    rules: Any = game.rules
    two, size = rules.family == "two_hand", rules.dealt
    held = []
    for seat in range(game.players):
        first = len(s["dealt"]) // len(s["held"]) * seat
        shown = ""
        for i, card in enumerate(map(format_card, s["dealt"][first : first + size].tolist())):
            gone = not s["held"][seat] >> i & 1
            shown += f"({card})" if s["discarded"][seat] >> i & 1 else card.lower() if gone else card
        held.append(shown)
    crib = int(s["dealt"][-1])
    pile = list(map(format_card, s["pile"][: s["pile_n"]].tolist()))
    out = int(s["pile_from"])
    return [
        "over" if s["over"] else ("discard", "pegging", "?")[s["phase"]],
        "/".join(held),
        *([] if two else ["-" if crib == NONE else format_card(crib)]),
        format_card(int(s["starter"])),
        ("".join(pile[:out]) + "|" * (out > 0) + "".join(pile[out:]) or "-") + ("+go" if two and s["go"] else ""),
        "/".join(f"{s['rear'][side]}-{s['scores'][side]}" for side in range(sides)),
    ]


def table_top(s: Any) -> list[str]:
    """Return the fields of Table Top."""
    cells = ["." if card == NONE else format_card(card) for card in s["layout"].tolist()]
    deck = [format_card(card) for card in s["deck"].tolist()]
    return [
        f"p{s['players']}",
        "over" if s["over"] else "turn",
        "".join(deck),
        "/".join("".join(cells[at : at + 5]) for at in range(0, 25, 5)),
        "".join(deck[turn] for turn in s["crib"][: s["crib_n"]]) or "-",
        by_side(s["scores"]),
    ]


def by_side(values: Any) -> str:
    """Return numbers with a / between them."""
    return "/".join(map(str, values))
