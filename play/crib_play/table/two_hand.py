"""Six-card and five-card cribbage at the table: what is seen, said, counted and typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crib_env.cards import format_card, format_cards, parse_card
from crib_env.engine.record import NONE
from crib_env.engine.two_hand.records import DISCARD, MATCH
from crib_env.render.words import in_words, pegged
from crib_env.rules import Rules, TwoHandRules, find_rules
from crib_env.scoring import score_hand, score_play
from crib_play.table.calls import Call, Counted, heels_call
from crib_play.table.family import Done, Sight, TableFamily

View = Any

MADE_BY_CARDS = ("fifteen", "pair", "run", "thirty_one")
DISCARDED = 2


def to_choose(view: View) -> int:
    """Return how many actions the seat decides on at once: both cards that it discards."""
    return DISCARDED - int(view["discarded_n"]) if view["phase"] == DISCARD else 1


def phase(view: View) -> str:
    """Return what the decision is called."""
    return "discarding" if view["phase"] == DISCARD else "pegging"


def sight(view: View, rules: Rules) -> Sight:
    """Return what a seat sees."""
    me = int(view["seat"])
    pile = [
        {
            "card": int(view["pile"][i]),
            "seat": me if view["pile_mine"] >> i & 1 else 1 - me,
            "out": bool(i < view["pile_from"]),
        }
        for i in range(int(view["pile_n"]))
    ]
    return {
        "phase": ("discard", "pegging", "over")[view["phase"]],
        "dealer": me if view["is_dealer"] else 1 - me,
        "starter": None if view["starter"] == NONE else int(view["starter"]),
        "hand": [
            {"card": int(view["hand"][i]), "legal": bool(view["legal"] >> i & 1)}
            for i in range(int(view["hand_n"]))
        ],
        "discarded": [int(card) for card in view["discarded"][: view["discarded_n"]]],
        "held": _by_seat(me, (int(view["hand_n"]), int(view["other_n"]))),
        "pile": pile,
        "count": int(view["count"]),
        "scores": _by_seat(me, view["scores"]),
        "rear": _by_seat(me, view["rear"]),
        "match_score": _by_seat(me, view["match_score"]) if view["episode"] == MATCH else None,
        "match_target": int(view["match_target"]),
        "target": int(view["target"]),
    }


def _by_seat(me: int, pair: Sequence[Any]) -> list[int]:
    return [int(pair[me]), int(pair[1 - me])]


def opening(view: View, rules: Rules) -> list[Call]:
    """Return the three for last, where they are pegged (F1)."""
    points = find_rules(rules, TwoHandRules).for_last
    pone = int(view["seat"]) ^ int(view["is_dealer"])
    return [Call(pone, pegged("for_last", points, 0), points)] if points else []


def calls_of(done: Done) -> list[Call]:
    """Return what is said as cards are discarded or one is played."""
    before = done.before[done.seat]
    calls = _discarding(done) if before["phase"] == DISCARD else _playing(done, before)
    return calls + [
        Call(event.seat, pegged(event.reason, event.points, 0), event.points)
        for event in done.events
        if event.reason == "for_last"
    ]


def _discarding(done: Done) -> list[Call]:
    calls = [
        Call(done.seat, f"{'two cards' if len(done.actions) == DISCARDED else 'a card'} discarded")
    ]
    for event in done.events:
        if event.reason == "heels":
            calls.append(Call(event.seat, heels_call(done.rules), event.points, event.cards))
    return calls


def _playing(done: Done, before: View) -> list[Call]:
    (card,) = done.actions
    seat, other = done.seat, 1 - done.seat
    start, end = int(before["pile_from"]), int(before["pile_n"])
    score = score_play([*map(int, before["pile"][start:end]), card], go=bool(before["go"]))
    points = sum(event.points for event in done.events if event.reason in MADE_BY_CARDS)
    calls = [Call(seat, score.call, points, (card,))]
    reasons = {event.reason for event in done.events}
    again = end > start and before["pile_mine"] >> (end - 1) & 1
    alone = bool(done.after["to_move"]) and done.after["pile_from"] == start and not done.ended
    if ("go" in reasons or (alone and not again)) and before["other_n"]:
        calls.append(Call(other, "go"))
    for event in done.events:
        if event.reason in ("go", "last"):
            what = "the go" if event.reason == "go" else "last"
            calls.append(Call(seat, f"{in_words(event.points)} for {what}", event.points))
    return calls


def counted(done: Done) -> list[Counted]:
    """Return the show: hands and crib in order, until the game is won (H8, C5)."""
    views = done.before
    board = [int(score) for score in _by_seat(0, views[0]["scores"])]
    target = int(views[0]["target"])
    for event in done.events:
        if event.reason not in ("hand", "crib", "for_last"):
            board[event.seat] += event.points
    if not done.ended or max(board) >= target:
        return []
    dealer = 0 if views[0]["is_dealer"] else 1
    starter = int(views[0]["starter"])
    crib = tuple(int(card) for view in views for card in view["discarded"])
    shown = []
    for seat, name in ((1 - dealer, "hand"), (dealer, "hand"), (dealer, "crib")):
        cards = crib if name == "crib" else _hand(views[seat])
        score = score_hand(cards, starter, done.rules, crib=name == "crib")
        shown.append(Counted(seat, name, cards, starter, score.points, score.call))
        board[seat] += score.points
        if board[seat] >= target:
            break
    return shown


def _hand(view: View) -> tuple[int, ...]:
    played = (int(view["pile"][i]) for i in range(view["pile_n"]) if view["pile_mine"] >> i & 1)
    return tuple(sorted([*played, *map(int, view["hand"][: view["hand_n"]])]))


def spoken(view: View, actions: Sequence[int]) -> str:
    """Return actions in words."""
    verb = "discard" if view["phase"] == DISCARD else "play"
    return f"{verb} {format_cards(actions)}"


def read(text: str, view: View) -> tuple[int, ...]:
    """Return the cards a person typed; a rank alone will do where one card held has it.

    Raises:
        ValueError: no cards that are held and may be used; the message names those that are.
    """
    held = [int(card) for card in view["hand"][: view["hand_n"]]]
    words = text.replace(",", " ").split()
    cards = tuple(_read_card(word, held) for word in words)
    wanted = to_choose(view)
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


FAMILY = TableFamily(
    name="two_hand",
    sides=None,
    to_choose=to_choose,
    phase=phase,
    sight=sight,
    opening=opening,
    calls_of=calls_of,
    counted=counted,
    spoken=spoken,
    read=read,
    ask=lambda view: "discard" if view["phase"] == DISCARD else "play",
    how="Type the cards: 5H, or 5 where you hold one five; two to discard, such as KH 6S.",
)
