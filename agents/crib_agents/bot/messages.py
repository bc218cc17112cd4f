"""Decisions as messages of the bot protocol: a view as a JSON object, and back.

A message holds everything that the seat to move may know, in a card player's words: cards such as
``"5H"``, seats and sides by their number at the table. `decisions` writes messages, `read_decision`
reads one and checks it, so that kernels get only possible positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from crib_agents.files import shown
from crib_agents.honours import fields_of, read_rules
from crib_env.cards import format_card, parse_card, pip, refuse_twice
from crib_env.engine.family import Family, family_of, find_family
from crib_env.engine.hands.records import DISCARD, PEGGING
from crib_env.engine.record import NONE
from crib_env.engine.table_top.records import CELLS, CRIB_CARDS, SIZE, TO_CRIB, TURNS, open_actions
from crib_env.events import Event
from crib_env.policy import Views
from crib_env.rules import PRESETS, Rules

Message = dict[str, Any]

PROTOCOL = 1
CRIB = "crib"
MOST_COUNT = 31
CARDS = tuple(format_card(card) for card in range(52))
PHASES = {"discard": DISCARD, "play": PEGGING}
# The rules fields of a view: numbers, then booleans.
NUMBERS = ("dealt", "target", "match_target", "flush_size", "crib_flush_size", "heels")
FLAGS = ("single_count", "second_go_ends", "adjacency", "score_difference", "partners_confer")

GAMES = ("six_card", "five_card", "three_hand", "four_hand", "table_top", "table_top_ship")


def game_of(rules: Rules) -> str:
    """Return the protocol's name for the game of ``rules``, one of `GAMES`."""
    known = {"hoyle": "six_card"}
    near = [
        known.get(name, name)
        for name, one in PRESETS.items()
        if one.family == rules.family
        and all(
            getattr(one, field) == getattr(rules, field)
            for field in ("dealt", "players", "score_difference")
            if hasattr(one, field)
        )
    ]
    return near[0]


def preset_of(game: str) -> Rules:
    """Return the preset of one of `GAMES`."""
    return PRESETS["hoyle" if game == "six_card" else game]


def places_cards(family: Family) -> bool:
    """Return whether a family's decisions place cards on a layout; if not, they use held cards."""
    return "layout" in (family.view.names or ())


# --- from views to messages ---------------------------------------------------------------------


def decisions(views: Views) -> list[Message]:
    """Return the decision message of each view [B], without its id, seed and events."""
    family = family_of(views)
    write = _cells if places_cards(family) else _cards
    places = _places(views.dtype)
    rows = np.ascontiguousarray(views).view(np.int64).reshape(len(views), -1).tolist()
    return [write({name: row[at] for name, at in places}, family) for row in rows]


@cache
def _places(view: np.dtype[np.void]) -> list[tuple[str, int | slice]]:
    """Return the index or slice of each field in a view, taken as int64 numbers."""
    places: list[tuple[str, int | slice]] = []
    for name, (kind, offset, *_) in (view.fields or {}).items():
        at, n = offset // 8, kind.itemsize // 8
        places.append((name, slice(at, at + n) if kind.shape else at))
    return places


def _cards(v: Mapping[str, Any], family: Family) -> Message:
    """Return the decision message of a game with hands."""
    seat, players, sides = v["seat"], v.get("players", 2), v.get("sides", 2)
    side_of = list(v.get("side_of", (0, 1))[:players])
    hand, n, start = v["hand"][: v["hand_n"]], v["pile_n"], v["pile_from"]
    pile = [CARDS[card] for card in v["pile"][:n]]
    seats = [(seat + (v["pile_seats"] >> 2 * i & 3)) % players for i in range(n)]
    mine = side_of[seat]
    message: Message = {
        "type": "decision",
        "game": ("six_card" if v["dealt"] == 6 else "five_card")
        if players == 2 and sides == 2 and "players" not in v
        else ("three_hand" if players == 3 else "four_hand"),
        "episode": _episode(family, v["episode"]),
        "rules": _rules(v),
        "players": players,
        "sides": side_of,
        "seat": seat,
        "dealer": (seat + v["dealer"]) % players,
        "deal": v["deals"],
        "phase": "discard" if v["phase"] == DISCARD else "play",
        "hand": [CARDS[card] for card in hand],
        "legal": _legal(v, family),
        "discarded": [CARDS[card] for card in v["discarded"][: v["discarded_n"]]],
        "starter": None if v["starter"] == NONE else CARDS[v["starter"]],
        "count": v["count"],
        "pile": pile[start:],
        "pile_seats": seats[start:],
        "gone": pile[:start],
        "gone_seats": seats[:start],
        "go_pegged": bool(v["go"]),
        "passed": [(seat + i) % players for i in range(players) if v["passed"] >> i & 1],
        "cards_held": _turned(v["held_n"][:players], seat),
        "scores": _turned(v["scores"][:sides], mine),
        "rear_pegs": _turned(v["rear"][:sides], mine),
        "match_scores": _turned(v["match_score"][:sides], mine),
    }
    return message


def _cells(v: Mapping[str, Any], family: Family) -> Message:
    """Return the decision message of a card to place at Table Top."""
    seat, players = v["seat"], v["players"]
    layout, turns = v["layout"], v["turns"]
    mine = 1 - v["scores_rows"]
    return {
        "type": "decision",
        "game": "table_top_ship" if v["score_difference"] else "table_top",
        "episode": _episode(family, v["episode"]),
        "rules": _rules(v),
        "players": players,
        "seat": seat,
        "dealer": (seat + v["dealer"]) % players,
        "lines": ("rows", "columns")[mine],
        "turn": v["turn"],
        "card": CARDS[v["card"]],
        "legal": _legal(v, family),
        "layout": _rows([None if card == NONE else CARDS[card] for card in layout]),
        "turns": _rows([None if turn == NONE else turn for turn in turns]),
        "starter": CARDS[v["starter"]],
        "crib": [None if card == NONE else CARDS[card] for card in v["crib"][: v["crib_n"]]],
        "crib_turns": list(v["crib_turns"][: v["crib_n"]]),
        "owed": _turned(v["owed"][:players], seat),
        "scores": _turned(v["scores"], mine),
    }


def _episode(family: Family, number: int) -> str:
    return next(name for name, value in family.episodes.items() if value == number)


def _rules(v: Mapping[str, Any]) -> Message:
    """Return the rules that a view shows."""
    numbers: Message = {name: v[name] for name in NUMBERS if name in v}
    return numbers | {name: bool(v[name]) for name in FLAGS if name in v}


def _turned(values: Sequence[int], first: int) -> list[int]:
    """Return values, which begin at seat or side ``first``, in the order from 0."""
    return _seen_from(values, -first)


def _legal(view: Any, family: Family) -> list[Any]:
    """Return the legal actions of a view, as `written` names them."""
    bits = int(view["legal"])
    if places_cards(family):
        return [_place(action) for action in range(TO_CRIB + 1) if bits >> action & 1]
    return [CARDS[card] for i, card in enumerate(view["hand"]) if bits >> i & 1]


def _rows(cells: list[Any]) -> list[list[Any]]:
    return [cells[at : at + SIZE] for at in range(0, CELLS, SIZE)]


def _place(action: int) -> str | list[int]:
    return CRIB if action == TO_CRIB else list(divmod(action, SIZE))


def written(action: int, family: Family) -> str | list[int]:
    """Return an action as in messages: a card, a cell ``[row, column]`` or ``"crib"``."""
    return _place(action) if places_cards(family) else CARDS[action]


def event_messages(events: Sequence[Event]) -> list[Message]:
    """Return a message for each event: the side, its points, the reason and the cards."""
    return [{"side": e.seat, "points": e.points, "for": e.reason, "cards": [CARDS[c] for c in e.cards]} for e in events]


# --- from answers to actions --------------------------------------------------------------------


def read_action(answer: object, message: Message) -> list[int]:
    """Return the action of an answer, or both cards to discard; raise a ValueError if illegal."""
    action: Any = answer.get("action") if isinstance(answer, dict) else None
    legal = message["legal"]
    if "card" in message:
        if not any(action == place for place in legal):
            raise ValueError(f'"action" must be one of {legal}, got {shown(answer)}')
        return [TO_CRIB if action == CRIB else SIZE * action[0] + action[1]]
    cards = action if isinstance(action, list) else [action]
    both = message["phase"] == "discard" and not message["discarded"] and message["players"] == 2
    if len(cards) not in (1, 2 if both else 1) or not all(card in legal for card in cards):
        more = ", or two of them" if both else ""
        raise ValueError(f'"action" must be one of {" ".join(legal)}{more}, got {shown(answer)}')
    if len({*cards}) != len(cards):
        raise ValueError(f'"action" names {cards[0]} twice')
    return [parse_card(card) for card in cards]


# --- from messages to views ---------------------------------------------------------------------


class MessageError(ValueError):
    """A message does not follow the protocol, or its position is impossible."""


def read_decision(message: Mapping[str, Any]) -> Views:
    """Return the view of a decision message, records [1]; raise a MessageError if it is bad."""
    try:
        game = _choice(message, "game", GAMES)
        family = find_family(preset_of(game).family)
        views = np.zeros(1, dtype=family.view)
        read = _read_cells if places_cards(family) else _read_cards
        read(message, game, family, views[0])
    except MessageError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise MessageError(f"the decision cannot be read: {why}") from None
    legal = _legal(views[0], family)
    if message.get("legal", legal) != legal:
        raise MessageError(f'"legal" is {shown(message["legal"])}, but legal are {legal}')
    return views


def _read_common(message: Mapping[str, Any], game: str, family: Family, v: Any) -> None:
    given, fields = dict(message.get("rules", {})), fields_of(preset_of(game))
    names = [name for name in (*NUMBERS, *FLAGS) if name in (family.view.names or ())]
    stated = {name: given[name] for name in names if name in given and name in fields and name != "dealt"}
    rules = read_rules(family.name, game, fields | stated)
    episode = _choice(message, "episode", tuple(family.episodes))
    if why := rules.why_refused(episode):
        raise MessageError(why)
    for name in names:
        v[name] = getattr(rules, name, 0)  # a view has every field of its family
    if "dealt" in names and given.get("dealt", v["dealt"]) != v["dealt"]:
        raise MessageError(f"{game} deals {v['dealt']} cards")
    v["episode"], v["to_move"] = family.episodes[episode], 1


def _read_cards(message: Mapping[str, Any], game: str, family: Family, v: Any) -> None:
    """Fill the view of a game with hands."""
    _read_common(message, game, family, v)
    preset = preset_of(game)
    players = int(preset.players)  # type: ignore[attr-defined]
    seat = _whole(message, "seat", 0, players - 1)
    side_of = list(message.get("sides", preset.sides_for(players)))
    sides = 1 + max(side_of)
    if side_of not in [[i % n for i in range(players)] for n in (2, 3, 4) if n <= players]:
        raise MessageError(f'"sides" cannot be {shown(side_of)}')
    if "players" in (family.view.names or ()):
        v["players"], v["sides"], v["side_of"][:players] = players, sides, side_of
    discards = v["discarded"].shape[0]
    v["seat"], v["phase"] = seat, PHASES[_choice(message, "phase", tuple(PHASES))]
    v["dealer"] = (_whole(message, "dealer", 0, players - 1) - seat) % players
    v["deals"] = _whole(message, "deal", 1, 10_000)
    hand, discarded = _read(message, "hand"), _read(message, "discarded")
    gone, pile = _read(message, "gone"), _read(message, "pile")
    by = [*message["gone_seats"], *message["pile_seats"]]
    cards = [*gone, *pile]
    playing = v["phase"] == PEGGING
    starter = [parse_card(message["starter"])] if playing else []
    refuse_twice([*hand, *discarded, *cards, *starter])
    if not playing and (cards or message.get("starter") is not None):
        raise MessageError("no card is played or turned before all have discarded")
    if len(by) != len(cards) or not all(one in range(players) for one in by):
        raise MessageError('"pile_seats" and "gone_seats" name the seat of each card')
    mine = by.count(seat)
    if (
        not hand
        or len(hand) + len(discarded) + mine != v["dealt"]
        or (len(discarded) != discards if playing else len(discarded) >= discards)
    ):
        raise MessageError(f"a seat has {v['dealt']} cards: held, discarded and played")
    kept = int(v["dealt"]) - discards
    held = [kept - by.count(one) if playing else int(v["dealt"]) for one in range(players)]
    held[seat] = len(hand)
    if min(held) < 0 or message.get("cards_held", held) != held:
        raise MessageError(f'"cards_held" must be {held} after what was played')
    count = sum(map(pip, pile))
    if count > MOST_COUNT or message.get("count", count) != count:
        raise MessageError(f'"count" must be {count}, at most {MOST_COUNT}')
    v["hand"], v["discarded"], v["pile"] = NONE, NONE, NONE
    v["hand"][: len(hand)], v["hand_n"] = hand, len(hand)
    v["discarded"][: len(discarded)], v["discarded_n"] = discarded, len(discarded)
    v["pile"][: len(cards)], v["pile_n"], v["pile_from"] = cards, len(cards), len(gone)
    v["pile_seats"] = sum((one - seat) % players << 2 * i for i, one in enumerate(by))
    v["starter"] = starter[0] if starter else NONE
    v["count"], v["go"] = count, bool(message.get("go_pegged", False))
    passed = message.get("passed", [])
    v["passed"] = sum(1 << (_whole({"passed": one}, "passed", 0, players - 1) - seat) % players for one in set(passed))
    v["held_n"][:players] = _seen_from(held, seat)
    v["legal"] = sum(1 << i for i, card in enumerate(hand) if not playing or count + pip(card) <= MOST_COUNT)
    if not v["legal"]:
        raise MessageError("no card of the hand can be played: the seat is not to move")
    for name, field, most in (
        ("scores", "scores", int(v["target"]) - 1),
        ("rear_pegs", "rear", int(v["target"]) - 1),
        ("match_scores", "match_score", max(0, int(v["match_target"]) - 1)),
    ):
        given = message.get(name, [0] * sides)
        values = [_whole({name: one}, name, 0, most) for one in given]
        if len(values) != sides:
            raise MessageError(f'"{name}" has a number for each of {sides} sides')
        v[field][:sides] = _seen_from(values, side_of[seat])


def _read_cells(message: Mapping[str, Any], game: str, family: Family, v: Any) -> None:
    """Fill the view of a card to place at Table Top."""
    _read_common(message, game, family, v)
    players = _whole(message, "players", 2, 4)
    if players == 3:
        raise MessageError("two or four play Table Top")
    seat = _whole(message, "seat", 0, players - 1)
    dealer = _whole(message, "dealer", 0, players - 1)
    side = seat % 2
    turn = _whole(message, "turn", 0, TURNS - 1)
    if (dealer + 1 + turn) % players != seat:
        raise MessageError(f"turn {turn} is not seat {seat}'s when seat {dealer} deals")
    layout = [NONE if card is None else parse_card(card) for row in message["layout"] for card in row]
    turns = [
        NONE if one is None else _whole({"turns": one}, "turns", 0, turn - 1) for row in message["turns"] for one in row
    ]
    crib = [NONE if card is None else parse_card(card) for card in message["crib"]]
    crib_turns = [_whole({"crib_turns": one}, "crib_turns", 0, turn - 1) for one in message["crib_turns"]]
    card = parse_card(message["card"])
    known = [one for one in [*layout, *crib, card] if one != NONE]
    refuse_twice(known)
    if len(layout) != CELLS or len(turns) != CELLS:
        raise MessageError(f'"layout" and "turns" are {SIZE} rows of {SIZE} cells')
    middle = CELLS // 2
    if layout[middle] == NONE:
        raise MessageError("the starter lies in the centre of the layout")
    taken = sorted([one for one in turns if one != NONE] + crib_turns)
    if taken != list(range(turn)) or any(
        (turns[i] == NONE) != (layout[i] == NONE or i == middle) for i in range(CELLS)
    ):
        raise MessageError("each turn so far placed one card or laid one in the crib")
    quota = CRIB_CARDS // players
    owed = [quota - sum((dealer + 1 + one) % players == p for one in crib_turns) for p in range(players)]
    if min(owed) < 0 or len(crib) != len(crib_turns) or message.get("owed", owed) != owed:
        raise MessageError(f'"owed" must be {owed} after "crib_turns"')
    v["seat"], v["players"], v["dealer"] = seat, players, (dealer - seat) % players
    v["my_crib"], v["scores_rows"] = int(dealer % 2 == side), 1 - side
    v["turn"], v["starter"], v["card"], v["partner_card"] = turn, layout[middle], card, NONE
    v["layout"], v["turns"] = layout, turns
    v["placed"] = sum((one != NONE) << i for i, one in enumerate(layout))
    v["crib"], v["crib_turns"] = NONE, NONE
    v["crib"][: len(crib)], v["crib_turns"][: len(crib)] = crib, crib_turns
    v["crib_n"] = len(crib)
    v["owed"][:players] = _seen_from(owed, seat)
    left = TURNS - turn
    v["legal"] = open_actions(int(v["placed"]), owed[seat], left - 1, players, int(v["adjacency"]))
    scores = [_whole({"scores": one}, "scores", 0, 10_000) for one in message["scores"]]
    if len(scores) != 2:
        raise MessageError('"scores" are those of the rows and of the columns')
    v["scores"] = _seen_from(scores, side)


def _seen_from(values: Sequence[int], first: int) -> list[int]:
    """Return values, which are in the order from 0, in the order from ``first``."""
    return [*values[first:], *values[:first]]


def _read(message: Mapping[str, Any], name: str) -> list[int]:
    cards = message[name]
    if not isinstance(cards, list):
        raise MessageError(f'"{name}" must be a list of cards, got {shown(cards)}')
    return [parse_card(card) for card in cards]


def _whole(message: Mapping[str, Any], name: str, low: int, high: int) -> int:
    value = message[name]
    if not isinstance(value, int) or not low <= value <= high:
        raise MessageError(f'"{name}" must be a whole number from {low} to {high}, got {shown(value)}')
    return int(value)


def _choice(message: Mapping[str, Any], name: str, accepted: tuple[str, ...]) -> str:
    value = message.get(name)
    if value not in accepted:
        raise MessageError(f'"{name}" must be one of {", ".join(accepted)}, got {shown(value)}')
    return str(value)
