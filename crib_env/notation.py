"""Any position of any game as one line of text that parses back: for tests, replays, bug reports.

The fields of a two-hand game, separated by spaces:

    hoyle game #3 d1 m0 play 5h(6C)7D8S(9C)kd/AC(2C)3C(4C)ts6d JC 5HTSKD6D| 30-34/56-60 rng=1f.2.3.4

| field | meaning |
|---|---|
| ``hoyle`` | the preset's name, with what was changed in brackets: ``hoyle[target=91]`` |
| ``game`` | what an episode is |
| ``#3`` | deals (in Table Top: rounds) dealt in this episode |
| ``d1`` | the dealer's seat |
| ``m0`` | the seat to move |
| ``play`` | ``lay`` (laying away), ``play``, ``shown`` (the deal is over), ``over`` (all is) |
| hands | seat 0 / seat 1, in the order dealt: held ``7D``, laid away ``(6C)``, played ``5h`` |
| starter | known to the position from the deal on, though to nobody before it is turned |
| pile | cards played in order, those before ``|`` out of play; ``-`` for none; ``+go`` once this
  count's go point has been pegged |
| pegs | rear-front of seat 0 / of seat 1 |

Of Table Top, where the record knows each card by its turn:

    table_top game #2 d0 m0 p2 turn <29 cards> ...../..7H../..2C../.8H.../..... 4S 20/29

| field | meaning |
|---|---|
| ``p2`` | players |
| ``turn`` | ``turn`` or ``over`` (the episode is) |
| deck | the 28 cards in the order of the turns, then the starter |
| layout | five rows, cells a card or ``.`` |
| crib | the cards in the order laid, or ``-`` |
| scores | side 0 / side 1 |

Then, in any order and only where they differ from what is said here: ``games=2/1`` game points
(0/0), ``start=5/0`` scores at the start of the episode (0/0), ``gain=2/0`` points since the caller
last cleared them (0/0), ``winner=1`` (none), ``rng=1f.2.3.4`` the generator's words in hexadecimal
(all 0, which a caller must seed before another deal is drawn).

The pile's places beyond its last card hold what earlier deals left there; no rule reads them, and
they come back as 0: see `canonical`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np
import numpy.typing as npt

from crib_env.cards import format_card, parse_card, pip
from crib_env.engine.family import find_family
from crib_env.engine.record import NONE
from crib_env.engine.table_top.records import CELLS, CENTRE, CRIB_CARDS, SIZE, TABLE_TOP, TURNS
from crib_env.engine.two_hand.records import HAND, LAY_AWAY, OVER, PLAY, TWO_HAND
from crib_env.rules import PRESETS, Rules

Record = Any
State = npt.NDArray[np.void]

PHASES = {LAY_AWAY: "lay", PLAY: "play", OVER: "shown"}
VACANT = "."
CARD = r"[A2-9TJQK][CDHS]"
PAIRS = ("games", "start", "gain")


class Position(NamedTuple):
    """A position with the game it belongs to.

    Attributes:
        state: the engine's record, shape [1], of dtype ``TWO_HAND`` or ``TABLE_TOP``.
        rules: the rules.
        episode: what an episode is.
        players: the number of seats.
    """

    state: State
    rules: Rules
    episode: str
    players: int


def format_state(state: State, rules: Rules, episode: str) -> str:
    """Return the notation of a position.

    Args:
        state: the engine's record, shape [1].
        rules: the rules it is played by.
        episode: what an episode is.

    Raises:
        ValueError: a record that no game reaches, such as one without a deal; the message names
            the fields that would not come back.
    """
    s = state[0]
    if state.dtype not in (TWO_HAND, TABLE_TOP):
        raise ValueError(f"a state is a record of a two-hand game or Table Top, got {state.dtype}")
    body = _two_hand_body if state.dtype == TWO_HAND else _table_top_body
    deals = int(s["deals"])
    if deals == 0:
        raise ValueError("the state holds no deal yet: begin an episode first")
    head = [_rules_text(rules), episode, f"#{deals}", f"d{s['dealer']}", f"m{s['to_move']}"]
    tail = [f"{name}={_pair(s[name])}" for name in PAIRS if name in s.dtype.names and any(s[name])]
    if s["winner"] != NONE:
        tail.append(f"winner={s['winner']}")
    if any(s["rng"]):
        tail.append("rng=" + ".".join(f"{word:x}" for word in s["rng"]))
    text = " ".join([*head, *body(s, rules), *tail])
    back, kept = parse_state(text).state, canonical(state)
    lost = [name for name in s.dtype.names if np.any(back[name] != kept[name])]
    if lost:
        raise ValueError(f"the state is no position of a game: see its {', '.join(lost)}")
    return text


def parse_state(text: str) -> Position:
    """Return the position that a line of notation describes.

    Raises:
        ValueError: not such a line, or no position of a game; the message names the field.
    """
    words = text.split()
    if len(words) < 5:
        raise ValueError(f"a position begins with rules, episode, deal, dealer and mover: {text!r}")
    rules = _parse_rules(words[0])
    two_hand = rules.family == "two_hand"
    episodes = find_family(rules.engine).episodes
    episode = words[1]
    if episode not in episodes:
        raise ValueError(f"episode must be one of {', '.join(episodes)}, got {episode!r}")
    size = 10 if two_hand else 11
    if len(words) < size:
        raise ValueError(f"a position of {rules.name} has at least {size} fields: {text!r}")
    players = 2 if two_hand else _number("players", words[5], "p", 2, 4)
    state = np.zeros(1, dtype=TWO_HAND if two_hand else TABLE_TOP)
    s = state[0]
    s["deals"] = _number("deal", words[2], "#", 1, 10**9)
    s["dealer"] = _number("dealer", words[3], "d", 0, players - 1)
    s["to_move"] = _number("mover", words[4], "m", 0, players - 1)
    s["winner"] = NONE
    for word in words[size:]:
        _read_extra(s, word)
    if two_hand:
        _read_two_hand(s, rules, words[5:size])
    else:
        s["players"] = players
        _read_table_top(s, words[6:size])
    return Position(state, rules, episode, players)


def canonical(state: State) -> State:
    """Return a copy with 0 in the pile's places beyond its last card, which no rule reads.

    Nor does the text say how many given decks have been used: decks are not part of it.
    """
    copy = state.copy()
    copy["given"] = copy["given_end"] = 0
    if state.dtype == TWO_HAND:
        copy["pile"][0, copy["pile_n"][0] :] = 0
    return copy


# --- two-hand games -----------------------------------------------------------------------------


def _two_hand_body(s: Record, rules: Rules) -> list[str]:
    hands = []
    for seat in range(2):
        shown = ""
        for i in range(rules.dealt):
            card = format_card(int(s["dealt"][HAND * seat + i]))
            if s["laid"][seat] >> i & 1:
                card = f"({card})"
            elif not s["held"][seat] >> i & 1:
                card = card.lower()
            shown += card
        hands.append(shown)
    played = [format_card(int(card)) for card in s["pile"][: s["pile_n"]]]
    out = int(s["pile_from"])
    pile = "".join(played[:out]) + ("|" if out else "") + "".join(played[out:]) or "-"
    pegs = "/".join(f"{s['rear'][seat]}-{s['scores'][seat]}" for seat in range(2))
    return [
        "over" if s["over"] else PHASES[int(s["phase"])],
        "/".join(hands),
        format_card(int(s["starter"])),
        pile + ("+go" if s["go"] else ""),
        pegs,
    ]


def _read_two_hand(s: Record, rules: Rules, words: Sequence[str]) -> None:
    phases = {word: phase for phase, word in PHASES.items()} | {"over": OVER}
    phase, hands, starter, pile, pegs = words
    if phase not in phases:
        raise ValueError(f"phase must be one of {', '.join(phases)}, got {phase!r}")
    s["phase"] = phases[phase]
    s["over"] = phase == "over"
    s["starter"] = parse_card(starter)
    seats: dict[int, int] = {}  # of the cards played
    dealt = [int(s["starter"])]
    for seat, hand in enumerate(_two("hands", hands)):
        cards = re.findall(rf"\({CARD}\)|{CARD}|{CARD.lower()}", hand)
        if "".join(cards) != hand or len(cards) != rules.dealt:
            raise ValueError(
                f"seat {seat}'s hand must be {rules.dealt} cards, such as 7D held, (6C) laid away "
                f"or 5h played; got {hand!r}"
            )
        for i, shown in enumerate(cards):
            card = parse_card(shown.strip("()"))
            dealt.append(card)
            s["dealt"][HAND * seat + i] = card
            s["laid"][seat] |= shown.startswith("(") << i
            s["held"][seat] |= (shown == format_card(card)) << i
            if shown.islower():
                seats[card] = seat
    _refuse_twice(dealt)
    before, _, now = pile.removesuffix("+go").rpartition("|")
    gone, present = (_cards("pile", part) for part in (before, now if now != "-" else ""))
    played = gone + present
    if sorted(played) != sorted(seats):
        raise ValueError(f"the pile {pile!r} must hold the cards that the hands show as played")
    s["pile"][: len(played)] = played
    s["pile_n"] = len(played)
    s["pile_from"] = len(gone)
    s["pile_seats"] = sum(seats[card] << i for i, card in enumerate(played))
    s["count"] = sum(pip(card) for card in present)
    s["go"] = pile.endswith("+go")
    for seat, both in enumerate(_two("pegs", pegs)):
        s["rear"][seat], s["scores"][seat] = _whole_pair("pegs", both, "-")
        if not s["rear"][seat] <= s["scores"][seat] <= rules.target:
            raise ValueError(
                f"pegs must be the rear and then the front one, at most {rules.target}, "
                f"got {both!r}"
            )
    _check_two_hand(s)


def _check_two_hand(s: Record) -> None:
    """Raise where the engine would be stuck or go astray."""
    seat = int(s["to_move"])
    laid = [int(s["laid"][p]).bit_count() for p in range(2)]
    if s["phase"] == LAY_AWAY:
        if s["pile_n"] or laid[seat] > 1:
            raise ValueError("while laying away, nothing is played and the mover has a card to lay")
    elif laid != [2, 2]:
        raise ValueError(f"each seat lays two cards away before the play, got {laid}")
    if s["count"] > 31:
        raise ValueError(f"the count of the pile is {s['count']}, past 31")
    if s["phase"] == PLAY and not any(
        s["held"][seat] >> i & 1 and pip(int(s["dealt"][HAND * seat + i])) + s["count"] <= 31
        for i in range(HAND)
    ):
        raise ValueError(f"seat {seat} is to move but has no card that may be played")


# --- Table Top ----------------------------------------------------------------------------------


def _table_top_body(s: Record, rules: Rules) -> list[str]:
    deck = [format_card(int(card)) for card in s["deck"]]
    cells = [VACANT if card == NONE else format_card(int(card)) for card in s["layout"]]
    rows = ["".join(cells[at : at + SIZE]) for at in range(0, CELLS, SIZE)]
    crib = "".join(deck[turn] for turn in s["crib"][: s["crib_n"]])
    return [
        f"p{s['players']}", "over" if s["over"] else "turn", "".join(deck), "/".join(rows),
        crib or "-", _pair(s["scores"]),
    ]  # fmt: skip


def _read_table_top(s: Record, words: Sequence[str]) -> None:
    phase, deck, layout, crib, scores = words
    players = int(s["players"])
    if players not in (2, 4) or phase not in ("turn", "over"):
        raise ValueError(f"a Table Top position has p2 or p4 and then turn or over, got {words!r}")
    s["over"] = phase == "over"
    cards = _cards("deck", deck)
    _refuse_twice(cards)
    if len(cards) != TURNS + 1:
        raise ValueError(f"the deck must be {TURNS} cards and the starter, got {len(cards)}")
    s["deck"] = cards
    turn_of = {card: turn for turn, card in enumerate(cards)}
    rows = [re.findall(rf"{CARD}|\{VACANT}", row) for row in layout.split("/")]
    cells = [cell for row in rows for cell in row]
    if [len(row) for row in rows] != [SIZE] * SIZE or "/".join(map("".join, rows)) != layout:
        raise ValueError(
            f"the layout must be five rows of five cells, a card or {VACANT!r}; got {layout!r}"
        )
    laid = _cards("crib", crib.removeprefix("-"))
    placed = [parse_card(cell) for cell in cells if cell != VACANT]
    _refuse_twice(placed + laid)
    turns = sorted(turn_of.get(card, NONE) for card in placed + laid)
    n = len(turns) - 1
    if cells[CENTRE] != format_card(cards[TURNS]) or turns != [*range(n), TURNS]:
        raise ValueError("the layout, with the starter in its centre, and the crib must hold the "
                         "first cards of the deck")  # fmt: skip
    s["turn"] = n
    for at, cell in enumerate(cells):
        vacant = cell == VACANT
        s["layout"][at] = NONE if vacant else parse_card(cell)
        s["turns"][at] = NONE if vacant or at == CENTRE else turn_of[parse_card(cell)]
        s["placed"] |= (not vacant) << at
    s["crib"] = NONE
    s["owed"][:players] = CRIB_CARDS // players
    s["crib_n"] = len(laid)
    for i, card in enumerate(laid):
        s["crib"][i] = turn_of[card]
        s["owed"][(s["dealer"] + 1 + turn_of[card]) % players] -= 1
    s["scores"] = _whole_pair("scores", scores)
    last = n - 1 if n == TURNS else n
    if len(laid) > CRIB_CARDS or s["owed"].min() < 0 or (n == TURNS) != bool(s["over"]):
        raise ValueError(f"a seat has laid more in the crib than its share, or {n} turns of "
                         f"{TURNS} do not go with {phase!r}")  # fmt: skip
    if s["to_move"] != (s["dealer"] + 1 + last) % players:
        raise ValueError(f"seat {s['to_move']} cannot be to move after {n} turns")


# --- words --------------------------------------------------------------------------------------


def _rules_text(rules: Rules) -> str:
    base = PRESETS.get(rules.name, PRESETS["hoyle" if rules.family == "two_hand" else "table_top"])
    changed = {
        f.name: getattr(rules, f.name)
        for f in fields(rules)
        if getattr(rules, f.name) != getattr(base, f.name)
    }
    shown = ",".join(f"{name}={quote(str(value), safe='')}" for name, value in changed.items())
    return f"{base.name}[{shown}]" if shown else base.name


def _parse_rules(word: str) -> Rules:
    found = re.fullmatch(r"([^\[\]]+)(?:\[(.*)\])?", word)
    if not found:
        raise ValueError(f"rules must be a preset with its changes, 'hoyle[target=91]': {word!r}")
    changes: dict[str, Any] = {}
    for change in (found[2] or "").split(","):
        if change:
            field, _, value = change.partition("=")
            if field != "name" and value in ("True", "False"):
                changes[field] = value == "True"
            elif field != "name" and value.isdecimal():
                changes[field] = int(value)
            else:
                changes[field] = unquote(value)
    name = changes.pop("name", None)
    rules = Rules.preset(found[1], **changes)
    return replace(rules, name=name) if name else rules


def _read_extra(s: Record, word: str) -> None:
    name, _, value = word.partition("=")
    if name == "rng":
        words = re.fullmatch(
            r"([0-9a-f]{1,8})\.([0-9a-f]{1,8})\.([0-9a-f]{1,8})\.([0-9a-f]{1,8})", value
        )
        if not words:
            raise ValueError(f"rng must be four hexadecimal words, '1f.2.3.4', got {value!r}")
        s["rng"] = [int(x, 16) for x in words.groups()]
    elif name == "winner":
        s["winner"] = _number("winner", value, "", 0, 1)
    elif name in PAIRS and name in s.dtype.names:
        s[name] = _whole_pair(name, value)
    else:
        raise ValueError(f"no field of a position is called {name!r}: {word!r}")


def _number(name: str, word: str, mark: str, low: int, high: int) -> int:
    digits = word.removeprefix(mark)
    if not word.startswith(mark) or not digits.isdecimal() or not low <= int(digits) <= high:
        raise ValueError(f"{name} must be {mark}{low} to {mark}{high}, got {word!r}")
    return int(digits)


def _pair(values: Record) -> str:
    return f"{values[0]}/{values[1]}"


def _two(name: str, word: str) -> list[str]:
    parts = word.split("/")
    if len(parts) != 2:
        raise ValueError(f"{name} must be given for both, with a / between: {word!r}")
    return parts


def _whole_pair(name: str, word: str, mark: str = "/") -> list[int]:
    found = re.fullmatch(rf"(\d{{1,6}}){mark}(\d{{1,6}})", word)
    if not found:
        raise ValueError(f"{name} must be two whole numbers such as 3{mark}5, got {word!r}")
    return [int(found[1]), int(found[2])]


def _cards(name: str, word: str) -> list[int]:
    cards = re.findall(CARD, word)
    if "".join(cards) != word:
        raise ValueError(f"{name} must be cards such as 5HTS, got {word!r}")
    return [parse_card(card) for card in cards]


def _refuse_twice(cards: Sequence[int]) -> None:
    twice = sorted({format_card(card) for card in cards if cards.count(card) > 1})
    if twice:
        raise ValueError(f"a position holds a card once, got {', '.join(twice)} twice")
