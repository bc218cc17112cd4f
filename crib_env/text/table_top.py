"""Table Top in words: cells by their number, as in its text and its actions."""

from __future__ import annotations

import re
from typing import Any

from crib_env.arrays import View
from crib_env.cards import format_card
from crib_env.engine.record import NONE
from crib_env.engine.table_top import why_illegal
from crib_env.engine.table_top.records import CELLS, CENTRE, GAME, SIZE, TO_CRIB, TURNS
from crib_env.engine.table_top.text import SIDES, line_values
from crib_env.rules import Rules
from crib_env.text.replies import Names, ReplyError, legal_names

PLACE = re.compile(r"(?<!\w)(?:(?:cell|space|square)\s*#?\s*(?P<cell>\d{1,2})|(?P<crib>crib))(?!\w)", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w-])(?P<cell>\d{1,2})(?![\w-])(?!\s*(?i:cards?|points?|of)\b)")
RULES = """\
You play Table Top, cribbage on a square of five rows and five columns, with a deck of 52 cards, \
suits C D H S, ace low. One side scores the rows, the other the columns{partners}. Cells are \
numbered 0 to 24, row by row: cell 5 * row + column. The starter lies in the centre, cell 12; if \
it is a jack, the dealer's side scores {heels}.
In turn, each player draws one card and either places it on a vacant cell{adjacency} or lays it \
in the crib (action 25), face down. Four cards go to the crib in all, the same number from each \
player, so a player who still owes the crib as many cards as it has turns left must lay them \
there. The crib belongs to the dealer's side.
When all 25 cells are filled, each row and each column is counted as a hand of five cards, \
without any card outside it. Every combination of cards that adds up to 15 counts 2 (aces are 1, \
court cards and tens 10), every pair 2, every run of three or more cards of consecutive ranks 1 \
per card, and a flush of {flush} or more cards of one suit 1 per card. In a line that holds the \
starter, a jack of the starter's suit counts 1 more. The crib counts as one more line with the \
starter (its flush takes {crib_flush}).{difference}
Place cards where they help your own lines and hurt the lines that cross them. {win}
Cards are written as rank and suit: 5H is the five of hearts, TS the ten of spades."""


def _name(view: View, place: int) -> str:
    seat = (int(view["seat"]) + place) % int(view["players"])
    return "you" if not place else f"p{seat}"


def state(view: View, rules: Rules) -> list[str]:
    """Return the position in words, line by line."""
    n = int(view["crib_n"])
    cells = [
        format_card(int(card)) if card != NONE else str(cell) if view["legal"] >> cell & 1 else "-"
        for cell, card in enumerate(view["layout"])
    ]
    crib = " ".join("??" if card == NONE else format_card(int(card)) for card in view["crib"][:n])
    owed = ", ".join(f"{_name(view, i)} {int(view['owed'][i])}" for i in range(int(view["players"])))
    single = "" if view["episode"] == GAME else "one round, "
    cards = [int(view[name]) for name in ("card", "partner_card")]
    return [
        f"{rules.name} to {int(view['target'])}, {single}you are p{int(view['seat'])} "
        f"({SIDES[1 - int(view['scores_rows'])]}), dealer {_name(view, int(view['dealer']))}, "
        f"turn {int(view['turn']) + 1} of {TURNS}",
        f"Score: your side {int(view['scores'][0])}, other {int(view['scores'][1])}",
        f"Crib ({'yours' if view['my_crib'] else 'theirs'}): {crib or 'none'}; owed {owed}",
        *(" ".join(f"{one:>2}" for one in cells[at : at + SIZE]) for at in range(0, CELLS, SIZE)),
        *(
            f"{whose} card: {format_card(card)}"
            for whose, card in zip(("Your", "Partner's"), cards, strict=True)
            if card != NONE
        ),
    ]


def news(view: View) -> list[str]:
    """Return the others' placements since the seat's last turn."""
    since = [
        (
            int(turn),
            f"{_name(view, (int(turn) - int(view['turn'])) % int(view['players']))} "
            f"{format_card(int(view['layout'][cell]))} on {cell}",
        )
        for cell, turn in enumerate(view["turns"])
        if turn != NONE and int(turn) > int(view["turn"]) - int(view["players"]) and cell != CENTRE
    ]
    return [f"Since your last turn: {', '.join(text for _, text in sorted(since))}"] * bool(since)


def rules_text(view: View, rules: Any) -> str:
    """Return the rules of the game, and the present points of the lines."""
    rows, columns = line_values(view, rules)
    words = RULES.format(
        partners="; partners sit opposite" if view["players"] > 2 else "",
        heels=int(view["heels"]),
        adjacency=" that touches a card by a side or a corner" if view["adjacency"] else "",
        flush=int(view["flush_size"]),
        crib_flush=int(view["crib_flush_size"]),
        difference=" Only the side with more points in a round scores, and only the difference."
        if view["score_difference"]
        else "",
        win=_win(view),
    )
    return (
        f"{words}\n\nAs they stand, rows make {', '.join(map(str, rows))} and columns {', '.join(map(str, columns))}."
    )


def _win(view: View) -> str:
    """Return how a game is won (T9, T13)."""
    target = int(view["target"])
    if view["score_difference"]:
        return f"{target} such points win."
    return (
        f"Rounds are played until a side has {target} or more after both are counted in full. "
        "Then the higher total wins; a tie plays another round."
    )


def ask(view: View) -> tuple[str, str]:
    """Return the question, and an answer to it as an example."""
    card = format_card(int(view["card"]))
    cells = int(view["legal"]) & ((1 << CELLS) - 1)
    open_cells = f"a numbered cell above (it has {cells.bit_count()})" if cells else ""
    crib = "the crib" if view["legal"] >> TO_CRIB & 1 else ""
    question = f"Place {card} on {' or in '.join(filter(None, (open_cells, crib)))}"
    return question, "cell 7" if cells else "crib"


def chosen(view: View, reply: str) -> tuple[int, ...]:
    """Return the place that a reply names."""
    question, example = ask(view)
    names = Names(
        PLACE,
        NUMBER,
        lambda found: frozenset({TO_CRIB if found["cell"] is None else int(found["cell"])}),
        frozenset(place for place in range(TO_CRIB + 1) if view["legal"] >> place & 1),
        lambda places: why_illegal(view, min(places)),
        f"{question}. Write, for example, <action>{example}</action>.",
    )
    places = tuple(dict.fromkeys(min(one) for one in legal_names(reply, names)))
    if len(places) > 1:
        shown = ", ".join("crib" if one == TO_CRIB else str(one) for one in places)
        raise ReplyError("ambiguous", f"You named {shown}: name one place. {names.question}")
    return places
