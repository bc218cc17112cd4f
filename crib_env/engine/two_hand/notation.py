"""The fields of a two-hand position in its notation: see `crib_env.notation`."""

from __future__ import annotations

from collections.abc import Sequence
from operator import ge

from crib_env.cards import format_card
from crib_env.engine.notation import (
    Deal,
    Line,
    Move,
    Notation,
    Record,
    Scores,
    format_hand,
    format_pile,
    format_scores,
    read_cards,
    read_each,
    read_hand,
    read_pile,
    read_scores,
    refuse_twice,
)
from crib_env.engine.two_hand.records import DISCARD, PEGGING
from crib_env.rules import Rules, TwoHandRules, find_rules

FIELDS = ("phase", "hands", "starter", "pile", "pegs")
EXTRAS = ("games", "start", "winner", "rng")
PHASES = {DISCARD: "discard", PEGGING: "pegging"}
OVER = "over"
# How many cards pone and dealer have discarded, in the order in which they do (H1).
DISCARDED = ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2))
ONE_DEAL = ("deal", "pegging")  # episodes of one deal
MOST = 29  # points pegged at once


def read_players(words: Sequence[str]) -> int:
    """Return the number of seats."""
    return 2


def format_body(s: Record, rules: Rules) -> list[str]:
    """Return the words of `FIELDS` for a record."""
    dealt = find_rules(rules, TwoHandRules).dealt
    pegs = "/".join(f"{s['rear'][seat]}-{s['scores'][seat]}" for seat in range(2))
    return [
        OVER if s["over"] else PHASES.get(int(s["phase"]), "?"),
        "/".join(format_hand(s, seat, dealt) for seat in range(2)),
        format_card(int(s["starter"])),
        format_pile(s) + ("+go" if s["go"] else ""),
        pegs,
    ]


def read_body(words: Sequence[str], rules: Rules, dealer: int, players: int) -> Deal:
    """Return what the words of `FIELDS` say.

    Raises:
        ValueError: a word that is none, or cards that do not go together.
    """
    phase, hands, starter, pile, pegs = words
    phases = (*PHASES.values(), OVER)
    if phase not in phases:
        raise ValueError(f"phase must be one of {', '.join(phases)}, got {phase!r}")
    dealt: list[list[int]] = []
    discarded: list[list[int]] = []
    played: dict[int, int] = {}  # the seats of the cards
    for seat, hand in enumerate(read_each("hands", hands)):
        read = read_hand(hand, seat, find_rules(rules, TwoHandRules).dealt)
        dealt.append(read.dealt)
        discarded.append(read.discarded)
        played |= dict.fromkeys(read.played, seat)
    up = read_cards("starter", starter)
    if len(up) != 1:
        raise ValueError(f"the starter must be one card, got {starter!r}")
    pone = 1 - dealer
    order = [card for pair in zip(dealt[pone], dealt[dealer], strict=True) for card in pair]
    refuse_twice(order + up)
    shown = read_pile(pile.removesuffix("+go"), list(played))
    counts = len(discarded[pone]), len(discarded[dealer])
    if counts not in DISCARDED:
        raise ValueError(
            "each seat discards two cards, pone both before the dealer the first: "
            f"here pone has discarded {counts[0]} and the dealer {counts[1]}"
        )
    if shown and counts != DISCARDED[-1]:
        raise ValueError("each seat discards two cards before a card is played")
    moves = [Move(seat, card, card) for seat in (pone, dealer) for card in discarded[seat]]
    moves += [Move(played[card], card, card) for card in shown]
    (rear, front), (other_rear, other) = (
        read_scores("pegs", word, mark="-") for word in read_each("pegs", pegs)
    )
    if not (rear <= front <= rules.target and other_rear <= other <= rules.target):
        raise ValueError(
            f"pegs must be the rear and then the front one, at most {rules.target}, got {pegs!r}"
        )
    return Deal(order + up, moves, (front, other), (rear, other_rear), phase == OVER)


def read_before(line: Line, before: Scores) -> dict[str, Scores]:
    """Return what stood on the board before the deal, beside the scores ``before`` it.

    Raises:
        ValueError: no game comes to that.
    """
    rules = find_rules(line.rules, TwoHandRules)
    match_score = _match_score_before(line, rules)
    if not all(0 <= x < rules.target for x in (*before, *line.start)):
        raise ValueError(
            f"a game goes on below {rules.target} points: here the scores were "
            f"{format_scores(before)} before the deal and {format_scores(line.start)} at the start"
        )
    if match_score == (0, 0) and not all(map(ge, before, line.start)):
        raise ValueError(f"the scores {format_scores(before)} before the deal are below the "
                         f"episode's start {format_scores(line.start)}")  # fmt: skip
    # A finished game took a deal at least, and counted at most what a double skunk does.
    finished = sum(-(-points // rules.double_skunk_points) for points in match_score)
    if line.number <= finished:
        raise ValueError(f"game points {format_scores(match_score)} take {finished} games before "
                         f"deal #{line.number}")  # fmt: skip
    rear = [_rear_before(line, rules, seat, before[seat]) for seat in range(2)]
    return {"match_score": match_score, "rear": (rear[0], rear[1])}


def _rear_before(line: Line, rules: TwoHandRules, seat: int, score: int) -> int:
    """Return where a rear peg stood before the deal; what is pegged in it has moved it on."""
    peg = line.deal.rear[seat] if line.deal.rear else score
    if line.number == 1:  # with the other peg, or behind three for last (F1)
        return 0 if peg == 0 and score == (0 if seat == line.dealer else rules.for_last) else score
    return min(max(peg, score - max(MOST, rules.for_last)), score)


def _match_score_before(line: Line, rules: TwoHandRules) -> Scores:
    """Return the game points before the deal: what its end counted taken off (H11)."""
    score = list(line.match_score)
    if line.winner is not None:
        margin = abs(line.deal.scores[0] - line.deal.scores[1])
        skunk = rules.skunk_points if margin > rules.skunk_margin else 1
        double = margin > rules.double_skunk_margin
        score[line.winner] -= rules.double_skunk_points if double else skunk
    most = rules.match_target - 1 if line.episode == "match" else 0
    if not all(0 <= points <= most for points in score):
        raise ValueError(
            f"games={format_scores(line.match_score)} are not game points of "
            f"{'a match to ' + str(rules.match_target) if most else 'an episode of one game'} "
            f"that {'goes on' if line.winner is None else 'ends so'}"
        )
    return score[0], score[1]


NOTATION = Notation(
    fields=FIELDS,
    extras=EXTRAS,
    one_deal=ONE_DEAL,
    read_players=read_players,
    format_body=format_body,
    read_body=read_body,
    read_before=read_before,
)
