"""The fields of a position of the games for three and four: see `crib_env.notation`.

three_hand game #1 d0 m1 pegging AC(2C)3C4C5C/... 9H JD 3C5D 0-0/0-2/0-0
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import ge

from crib_env.cards import format_card
from crib_env.engine.many_hand.records import CRIB_SLOT, HAND, KEPT
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
from crib_env.engine.record import NONE
from crib_env.engine.returns import count_sides
from crib_env.engine.slots import DISCARD, PEGGING
from crib_env.rules import ManyHandRules, Rules, find_rules

FIELDS = ("phase", "hands", "crib", "starter", "pile", "pegs")
EXTRAS = ("games", "start", "winner", "rng")
PHASES = {DISCARD: "discard", PEGGING: "pegging"}
OVER = "over"
MOST = 29  # points pegged at once


def read_players(words: Sequence[str]) -> int:
    """Return the number of seats."""
    players = words[1].count("/") + 1
    if players not in (3, 4):
        raise ValueError(f"hands must be of three or four seats, got {words[1]!r}")
    return players


def format_body(s: Record, rules: Rules) -> list[str]:
    """Return the words of `FIELDS` for a record."""
    known = find_rules(rules, ManyHandRules)
    sides = count_sides(known.seating[known.players])
    crib = s["dealt"][CRIB_SLOT]
    return [
        OVER if s["over"] else PHASES.get(int(s["phase"]), "?"),
        "/".join(format_hand(s, seat, HAND) for seat in range(known.players)),
        "-" if crib == NONE else format_card(int(crib)),
        format_card(int(s["starter"])),
        format_pile(s),
        "/".join(f"{s['rear'][side]}-{s['scores'][side]}" for side in range(sides)),
    ]


def read_body(words: Sequence[str], rules: Rules, dealer: int, players: int) -> Deal:
    """Return what the words of `FIELDS` say.

    Raises:
        ValueError: a word that is none, or cards that do not go together.
    """
    phase, hands, crib, starter, pile, pegs = words
    phases = (*PHASES.values(), OVER)
    if phase not in phases:
        raise ValueError(f"phase must be one of {', '.join(phases)}, got {phase!r}")
    read = [
        read_hand(hand, seat, HAND) for seat, hand in enumerate(read_each("hands", hands, players))
    ]
    seats = [(dealer + 1 + turn) % players for turn in range(players)]
    order = [read[seat].dealt[i] for i in range(HAND) for seat in seats]
    spare, up = read_cards("crib", crib.removeprefix("-")), read_cards("starter", starter)
    if len(spare) != KEPT - players or len(up) != 1:
        raise ValueError(f"with {players} players {KEPT - players} cards are dealt to the crib and "
                         f"one is turned up, got {crib} and {starter}")  # fmt: skip
    refuse_twice(order + spare + up)
    shown = read_pile(pile, [card for hand in read for card in hand.played])
    laid = [len(read[seat].discarded) for seat in seats]
    if max(laid) > 1 or sorted(laid, reverse=True) != laid:
        raise ValueError("each seat discards one card, from the dealer's left on, the dealer last: "
                         f"here they have discarded {laid}")  # fmt: skip
    if shown and not all(laid):
        raise ValueError("each seat discards a card before one is played")
    moves = [Move(seat, card, card) for seat in seats for card in read[seat].discarded]
    by = {card: seat for seat, hand in enumerate(read) for card in hand.played}
    moves += [Move(by[card], card, card) for card in shown]
    sides = count_sides(find_rules(rules, ManyHandRules).seating[players])
    pairs = [read_scores("pegs", word, mark="-") for word in read_each("pegs", pegs, sides)]
    if not all(rear <= front <= rules.target for rear, front in pairs):
        raise ValueError(
            f"pegs must be the rear and then the front one, at most {rules.target}, got {pegs!r}"
        )
    rear, scores = zip(*pairs, strict=True)
    return Deal(order + spare + up, moves, scores, rear, phase == OVER)


def read_before(line: Line, before: Scores) -> dict[str, Scores]:
    """Return what stood on the board before the deal, beside the scores ``before`` it.

    Raises:
        ValueError: no game comes to that.
    """
    rules = find_rules(line.rules, ManyHandRules)
    if not all(0 <= x < rules.target for x in (*before, *line.start)):
        raise ValueError(
            f"a game goes on below {rules.target} points: here the scores were "
            f"{format_scores(before)} before the deal and {format_scores(line.start)} at the start"
        )
    won = list(line.match_score)
    if line.winner is not None:
        won[line.winner] -= 1  # by its end (M11)
    most = rules.match_target - 1 if line.episode == "match" else 0
    if not all(0 <= games <= most for games in won):
        raise ValueError(f"games={format_scores(line.match_score)} are not the games won of "
                         f"an episode of a {line.episode}")  # fmt: skip
    if not any(won) and not all(map(ge, before, line.start)):
        raise ValueError(f"the scores {format_scores(before)} before the deal are below the "
                         f"episode's start {format_scores(line.start)}")  # fmt: skip
    if line.number <= sum(won):
        raise ValueError(f"{sum(won)} games take more deals than come before deal #{line.number}")
    pegs = line.deal.rear or before
    # The rear peg follows the front one; what is pegged in this deal has moved it on.
    rear = tuple(
        score if line.number == 1 else min(max(peg, score - MOST), score)
        for peg, score in zip(pegs, before, strict=True)
    )
    return {"match_score": tuple(won), "rear": rear}


NOTATION = Notation(
    fields=FIELDS,
    extras=EXTRAS,
    one_deal=("deal",),
    read_players=read_players,
    format_body=format_body,
    read_body=read_body,
    read_before=read_before,
)
