"""Games with hands at the table, for two, three and four: display, calls, counts and input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crib_env.arrays import View
from crib_env.cards import format_card, format_cards, parse_card
from crib_env.engine.hands.records import CRIB, DISCARD, MATCH
from crib_env.engine.hands.text import COUNTED, hand_of, players_of, sides_of
from crib_env.engine.record import NONE
from crib_env.render.words import in_words, pegged
from crib_env.rules import Rules
from crib_env.scoring import score_hand, score_play
from crib_play.table.family import Call, Counted, Done, Sight, TableFamily, heels_call

PHASES = ("discard", "pegging", "over")
GOES = 2  # consecutive goes that end a count with ``second_go_ends`` (M7)
MADE_BY_CARDS = ("fifteen", "pair", "run", "thirty_one")
ENDS = {"go": "the go", "last": "last"}  # why a count's last card pegs a point


def phase(view: View) -> str:
    """Return the name of the decision."""
    return "discarding" if view["phase"] == DISCARD else "pegging"


def ask(view: View) -> str:
    """Return what to type, in a word."""
    return "discard" if view["phase"] == DISCARD else "play"


def sight(view: View, rules: Rules) -> Sight:
    """Return a seat's view as plain data; seats and sides by their numbers."""
    me, players, sides = int(view["seat"]), players_of(view), sides_of(view)
    discarded = view["discarded"][: view["discarded_n"]].tolist()
    before = CRIB - players * len(view["discarded"]) + len(discarded)
    passed = (i for i in range(players) if view["passed"] >> i & 1 and view["held_n"][i])
    match_score = _from_first(view["match_score"], me, sides)
    return {
        "phase": PHASES[view["phase"]],
        "dealer": (me + int(view["dealer"])) % players,
        "starter": None if view["starter"] == NONE else int(view["starter"]),
        "hand": [{"card": card, "legal": bool(view["legal"] >> i & 1)} for i, card in enumerate(hand_of(view))],
        "held": _from_first(view["held_n"], me, players),
        "discarded": discarded,
        "crib": before if view["phase"] == DISCARD else CRIB,
        "pile": [
            {
                "card": card,
                "seat": (me + (int(view["pile_seats"]) >> 2 * i & 3)) % players,
                "out": bool(i < view["pile_from"]),
            }
            for i, card in enumerate(view["pile"][: view["pile_n"]].tolist())
        ],
        "count": int(view["count"]),
        "passed": sorted((me + i) % players for i in passed) if players > 2 else [],  # go at once
        "scores": _from_first(view["scores"], me, sides),
        "rear": _from_first(view["rear"], me, sides),
        "match_score": match_score if view["episode"] == MATCH else None,
        "match_target": int(view["match_target"]),
        "target": int(view["target"]),
    }


def _from_first(values: Sequence[Any], me: int, n: int) -> list[int]:
    """Return a view's values, which begin with its own seat or side, in order from number 0."""
    return [int(values[(i - me) % n]) for i in range(n)]


def spoken(view: View, actions: Sequence[int]) -> str:
    """Return actions in words."""
    return f"{ask(view)} {format_cards(actions)}"


def counted(done: Done) -> list[Counted]:
    """Return the show: hands from the dealer's left on, then the crib, until the game is won."""
    players = len(done.before)
    starter = int(done.before[0]["starter"])
    seats = (*(range(done.dealer + 1, done.dealer + 1 + players)), done.dealer)
    shown = []
    for seat, event in zip(seats, (one for one in done.events if one.reason in COUNTED), strict=False):
        score = score_hand(event.cards, starter, done.rules, crib=event.reason == "crib")
        shown.append(Counted.of(seat % players, event.reason, event.cards, starter, score))
    return shown


def read(text: str, view: View) -> tuple[int, ...]:
    """Return the cards a person typed; a rank is enough if only one card held has it."""
    held, wanted = hand_of(view), to_choose(view)
    words = text.replace(",", " ").split()
    cards = tuple(_read_card(word, held) for word in words)
    if len(cards) != wanted or len(set(cards)) != wanted:
        what = "two different cards to discard" if wanted > 1 else "one card"
        raise ValueError(f"name {what}, got {text.strip()!r}: you hold {format_cards(held)}")
    legal = [card for i, card in enumerate(held) if view["legal"] >> i & 1]
    for card in cards:
        if card not in legal:
            raise ValueError(
                f"{format_card(card)} would take the count of {int(view['count'])} past 31: "
                f"play one of {format_cards(legal)}"
            )
    return cards


def _read_card(word: str, held: Sequence[int]) -> int:
    shown = word.upper().replace("10", "T")
    alike = [card for card in held if shown and shown in (format_card(card), format_card(card)[0])]
    if len(alike) > 1:
        raise ValueError(f"{word!r} may be {' or '.join(map(format_card, alike))}: say which")
    if alike:
        return alike[0]
    try:
        name = format_card(parse_card(word))
    except ValueError:
        name = repr(word)
    raise ValueError(f"you do not hold {name}: you hold {format_cards(held)}")


def to_choose(view: View) -> int:
    """Return how many actions the seat decides on at once: both of two discards, else one."""
    together = players_of(view) == 2 and view["phase"] == DISCARD
    return len(view["discarded"]) - int(view["discarded_n"]) if together else 1


def opening(view: View, rules: Rules) -> list[Call]:
    """Return the three points for last, in games that peg them (F1)."""
    points = getattr(rules, "for_last", 0)
    pone = int(view["seat"]) ^ 1 ^ int(view["dealer"])
    return [Call(pone, pegged("for_last", points, 0), points)] if points else []


def calls_of(done: Done) -> list[Call]:
    """Return the calls of a discard or a played card."""
    before = done.before[done.seat]
    calls = _discarding(done) if before["phase"] == DISCARD else _playing(done, before)
    for_last = (event for event in done.events if event.reason == "for_last")
    return [*calls, *(Call(one.seat, pegged("for_last", one.points, 0), one.points) for one in for_last)]


def _discarding(done: Done) -> list[Call]:
    """Return the calls of a discard, and of the starter after the last one."""
    calls = [Call(done.seat, f"{'two cards' if len(done.actions) > 1 else 'a card'} discarded")]
    if (starter := int(done.after["starter"])) != NONE:
        calls.append(Call(done.dealer, "the starter", 0, (starter,)))
    heels = (event for event in done.events if event.reason == "heels" and event.points)
    return [*calls, *(Call(done.dealer, heels_call(done.rules), one.points, one.cards) for one in heels)]


def _playing(done: Done, before: View) -> list[Call]:
    (card,) = done.actions
    pile = before["pile"][before["pile_from"] : before["pile_n"]].tolist()
    score = score_play([*pile, card], go=bool(before["go"]))
    points = sum(event.points for event in done.events if event.reason in MADE_BY_CARDS)
    return [
        Call(done.seat, score.call, points, (card,)),
        *(Call(seat, "go") for seat in _gos(done, before)),
        *(
            Call(done.seat, f"{in_words(event.points)} for {ENDS[event.reason]}", event.points)
            for event in done.events
            if event.reason in ENDS
        ),
    ]


def _gos(done: Done, before: View) -> Iterator[int]:
    """Yield the seats that say go after a card, and have not yet in this count (H5, F5, M7)."""
    players = len(done.before)
    # With one count in a deal, the point for the last card ends it where no seat can play (F4, F5).
    last = "last" if getattr(done.rules, "single_count", False) else "go"
    after, ends = done.after, any(event.reason in ("go", last) for event in done.events)
    if not ends and (done.ended or after["pile_from"] != before["pile_from"]):
        return
    goes = 0
    for place in range(1, players):
        if not before["held_n"][place]:
            continue
        if not (ends or after["passed"] >> place & 1):  # it plays next
            return
        if not before["passed"] >> place & 1:
            yield (done.seat + place) % players
        goes += 1
        if goes == GOES and getattr(done.rules, "second_go_ends", False):
            return


def family(name: str, discards: str, judge: str) -> TableFamily:
    """Return a family of games with hands; ``discards`` is what to type when discarding."""
    return TableFamily(
        name=name,
        sides=None,
        to_choose=to_choose,
        phase=phase,
        sight=sight,
        opening=opening,
        calls_of=calls_of,
        counted=counted,
        spoken=spoken,
        read=read,
        ask=ask,
        how=f"Type the cards: 5H, or 5 where you hold one five; {discards}.",
        judge=judge,
    )


TWO_HAND = family("two_hand", "two to discard, such as KH 6S", "expert")
MANY_HAND = family("many_hand", "one to discard", "learned")
