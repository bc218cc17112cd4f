"""The fields of a position of the toy game in its notation: see `crib_env.notation`.

    toy game #3 d1 m1 pegging 5HKD/AC2C JC KD 4/2

Hands by seat in the order dealt, the starter, the cards laid or ``-``, the scores.
"""

from __future__ import annotations

from collections.abc import Sequence

from crib_env.cards import format_card, refuse_twice
from crib_env.engine.notation import (
    Deal,
    Line,
    Move,
    Notation,
    Record,
    Scores,
    format_scores,
    read_cards,
    read_each,
    read_scores,
)
from crib_env.rules import Rules
from toy.records import HAND, SEATS

PHASES = ("pegging", "over")


def read_players(words: Sequence[str]) -> int:
    """Return the number of seats."""
    players = words[1].count("/") + 1
    if not 2 <= players <= SEATS:
        raise ValueError(f"hands must be of two or three seats, got {words[1]!r}")
    return players


def format_body(s: Record, rules: Rules) -> list[str]:
    """Return the words of the fields for a record."""
    hands = (s["dealt"][HAND * seat : HAND * seat + HAND] for seat in range(s["players"]))
    return [
        "over" if s["over"] else "pegging",
        "/".join(_text(hand) for hand in hands),
        _text([s["starter"]]),
        _text(s["pile"][: s["pile_n"]]) or "-",
        format_scores(s["scores"][: s["players"]]),
    ]


def _text(cards: Sequence[int]) -> str:
    return "".join(format_card(int(card)) for card in cards)


def read_body(words: Sequence[str], rules: Rules, dealer: int, players: int) -> Deal:
    """Return what the words of the fields say.

    Raises:
        ValueError: a word that is none, or cards that do not go together.
    """
    phase, shown, up, pile, scores = words
    if phase not in PHASES:
        raise ValueError(f"phase must be one of {', '.join(PHASES)}, got {phase!r}")
    hands = [read_cards("hands", hand) for hand in read_each("hands", shown, players)]
    starter = read_cards("starter", up)
    if [len(hand) for hand in hands] != [HAND] * players or len(starter) != 1:
        raise ValueError(f"hands of two cards and a starter are dealt, got {shown} {up}")
    seats = [(dealer + 1 + turn) % players for turn in range(players)]
    turns = [hands[seat] for seat in seats]
    order = [card for pair in zip(*turns, strict=True) for card in pair]
    refuse_twice(order + starter)
    discarded = read_cards("pile", pile.removeprefix("-"))
    if len(discarded) > players or any(card not in turns[i] for i, card in enumerate(discarded)):
        raise ValueError(f"the pile {pile!r} must be a card of each seat's, the dealer's last")
    moves = [Move(seat, card, card) for seat, card in zip(seats, discarded, strict=False)]
    made = read_scores("scores", scores, players)
    return Deal(order + starter, moves, made, None, phase == "over")


def read_before(line: Line, before: Scores) -> dict[str, Scores]:
    """Return what stood on the board before the deal beside the scores ``before`` it: nothing.

    Raises:
        ValueError: no game comes to that.
    """
    if not all(0 <= start <= score
               for start, score in zip(line.start, before, strict=True)):  # fmt: skip
        raise ValueError(f"the scores {format_scores(before)} before the deal do not follow from "
                         f"{format_scores(line.start)} at the start")  # fmt: skip
    return {}


NOTATION = Notation(
    fields=("phase", "hands", "starter", "pile", "scores"),
    extras=("start", "winner", "rng"),
    one_deal=("deal",),
    read_players=read_players,
    format_body=format_body,
    read_body=read_body,
    read_before=read_before,
)
