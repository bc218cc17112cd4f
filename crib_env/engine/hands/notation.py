"""The fields of a position of the games with hands: see `crib_env.notation`.

three_hand game #1 d0 m1 pegging AC(2C)3C4C5C/... 9H JD 3C5D 0-0/0-2/0-0
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import ge
from typing import NamedTuple

from crib_env.cards import format_card, parse_card, refuse_twice
from crib_env.engine import notation
from crib_env.engine.hands.records import CRIB, DISCARD, PEGGING, Sizes
from crib_env.engine.notation import format_scores
from crib_env.engine.record import NONE, count_sides
from crib_env.errors import check_choice
from crib_env.rules import LARGEST_TARGET, HandRules, Rules, TwoHandRules, find_rules

EXTRAS = ("games", "start", "winner", "rng")
PHASES = {DISCARD: "discard", PEGGING: "pegging"}
OVER = "over"
MOST = 29  # points pegged at once


class Hand(NamedTuple):
    """A hand as a line shows it: all its cards, and those of them discarded and played."""

    dealt: list[int]
    discarded: list[int]
    played: list[int]


def format_hand(s: notation.Record, seat: int, size: int) -> str:
    """Return the cards dealt to a seat: ``7D`` held, ``(6C)`` discarded, ``5h`` played."""
    shown = ""
    first = len(s["dealt"]) // len(s["held"]) * seat
    for i, dealt in enumerate(s["dealt"][first : first + size]):
        card = format_card(int(dealt))
        if s["discarded"][seat] >> i & 1:
            card = f"({card})"
        elif not s["held"][seat] >> i & 1:
            card = card.lower()
        shown += card
    return shown


def read_hand(hand: str, seat: int, size: int) -> Hand:
    """Return what `format_hand` wrote."""
    cards = re.findall(rf"\({notation.CARD}\)|{notation.CARD}|{notation.CARD.lower()}", hand)
    if "".join(cards) != hand or len(cards) != size:
        raise ValueError(
            f"seat {seat}'s hand must be {size} cards, such as 7D held, (6C) discarded or 5h played; got {hand!r}"
        )
    away = [parse_card(card.strip("()")) for card in cards if card.startswith("(")]
    gone = [parse_card(card) for card in cards if card.islower()]
    return Hand([parse_card(card.strip("()")) for card in cards], away, gone)


def format_pile(s: notation.Record) -> str:
    """Return the cards played, with a bar before those of the present count."""
    played = [format_card(int(card)) for card in s["pile"][: s["pile_n"]]]
    out = int(s["pile_from"])
    return "".join(played[:out]) + ("|" if out else "") + "".join(played[out:]) or "-"


def read_pile(pile: str, played: Sequence[int]) -> list[int]:
    """Return what `format_pile` wrote; the hands show these cards as ``played``."""
    shown = notation.read_cards("pile", re.sub(r"\||^-", "", pile))
    if sorted(shown) != sorted(played):
        raise ValueError(f"the pile {pile!r} must hold the cards that the hands show as played")
    return shown


def hands_notation(kind: type[HandRules], size: Sizes, episodes: Sequence[str]) -> notation.Notation:
    """Return how a family of games with hands writes and reads its fields."""
    fields = ("phase", "hands", *(("crib",) if size.crib else ()), "starter", "pile", "pegs")
    at = {field: place for place, field in enumerate(fields)}

    def sides(rules: HandRules) -> int:
        return count_sides(rules.sides_for())

    def read_players(words: Sequence[str]) -> int:
        """Return the number of seats."""
        players = words[at["hands"]].count("/") + 1
        if size.seats == 2:
            return 2
        if not 3 <= players <= size.seats:
            raise ValueError(f"hands must be of three or four seats, got {words[at['hands']]!r}")
        return players

    def format_body(s: notation.Record, rules: Rules) -> list[str]:
        """Return the words of the fields for a record."""
        known = find_rules(rules, kind)
        words = {
            "phase": OVER if s["over"] else PHASES.get(int(s["phase"]), "?"),
            "hands": "/".join(format_hand(s, seat, known.dealt) for seat in range(known.players)),
            "starter": format_card(int(s["starter"])),
            "pile": format_pile(s) + ("+go" if s["go"] and size.seats == 2 else ""),
            "pegs": "/".join(f"{s['rear'][side]}-{s['scores'][side]}" for side in range(sides(known))),
        }
        if size.crib:
            crib = int(s["dealt"][-1])
            words["crib"] = "-" if crib == NONE else format_card(crib)
        return [words[field] for field in fields]

    def read_body(words: Sequence[str], rules: Rules, dealer: int, players: int) -> notation.Deal:
        """Return the values of the fields."""
        known = find_rules(rules, kind)
        given = dict(zip(fields, words, strict=True))
        check_choice("phase", given["phase"], (*PHASES.values(), OVER))
        hands = [
            read_hand(hand, seat, known.dealt)
            for seat, hand in enumerate(notation.read_each("hands", given["hands"], players))
        ]
        seats = [(dealer + 1 + turn) % players for turn in range(players)]
        order = [hands[seat].dealt[i] for i in range(known.dealt) for seat in seats]
        spare = notation.read_cards("crib", given.get("crib", "-").removeprefix("-"))
        up = notation.read_cards("starter", given["starter"])
        if len(up) != 1:
            raise ValueError(f"the starter must be one card, got {given['starter']!r}")
        lacking = CRIB - players * known.discards
        if len(spare) != lacking:
            raise ValueError(f"with {players} players {lacking} cards are dealt to the crib, got {given['crib']}")
        refuse_twice(order + spare + up)
        shown = read_pile(
            given["pile"].removesuffix("+go") if size.seats == 2 else given["pile"],
            [card for hand in hands for card in hand.played],
        )
        _check_discards([len(hands[seat].discarded) for seat in seats], known.discards, shown)
        moves = [notation.Move(seat, card, card) for seat in seats for card in hands[seat].discarded]
        by = {card: seat for seat, hand in enumerate(hands) for card in hand.played}
        moves += [notation.Move(by[card], card, card) for card in shown]
        pegs = [
            notation.read_scores("pegs", word, mark="-")
            for word in notation.read_each("pegs", given["pegs"], sides(known))
        ]
        if not all(rear <= front <= known.target for rear, front in pegs):
            raise ValueError(
                f"pegs must be the rear and then the front one, at most {known.target}, got {given['pegs']!r}"
            )
        rear, scores = zip(*pegs, strict=True)
        return notation.Deal(order + spare + up, moves, scores, rear, given["phase"] == OVER)

    def read_before(line: notation.Line, before: notation.Scores) -> dict[str, notation.Scores]:
        """Return what stood on the board before the deal, beside the scores ``before`` it."""
        rules = find_rules(line.rules, kind)
        won = _match_score_before(line, rules)
        if not all(0 <= x < rules.target for x in (*before, *line.start)):
            raise ValueError(
                f"a game goes on below {rules.target} points: here the scores were "
                f"{format_scores(before)} before the deal and {format_scores(line.start)} at the "
                "start"
            )
        if not any(won) and not all(map(ge, before, line.start)):
            raise ValueError(
                f"the scores {format_scores(before)} before the deal are below the "
                f"episode's start {format_scores(line.start)}"
            )
        # A finished game took a deal at least, and counted at most as a double skunk.
        most = _game_points(rules, LARGEST_TARGET + 1)
        finished = sum(-(-points // most) for points in won)
        if line.number <= finished:
            raise ValueError(f"{_what(rules)} {format_scores(won)} take {finished} games before deal #{line.number}")
        pegs = line.deal.rear or before
        rear = tuple(
            _rear_before(line, rules, side, peg, score)
            for side, (peg, score) in enumerate(zip(pegs, before, strict=True))
        )
        return {"match_score": won, "rear": rear}

    return notation.Notation(
        fields=fields,
        extras=EXTRAS,
        one_deal=tuple(episode for episode in episodes if episode in ("deal", "pegging")),
        read_players=read_players,
        format_body=format_body,
        read_body=read_body,
        read_before=read_before,
    )


def _check_discards(counts: Sequence[int], each: int, shown: Sequence[int]) -> None:
    """Raise a ValueError unless seats discard in turn, all their cards at once."""
    before = (sum(counts) - each * turn for turn in range(len(counts)))
    if list(counts) != [min(max(left, 0), each) for left in before]:
        how = (
            "two cards, pone both before the dealer the first"
            if each == 2
            else "one card, from the dealer's left on, the dealer last"
        )
        raise ValueError(f"each seat discards {how}: here they have discarded {counts}")
    if shown and sum(counts) < each * len(counts):
        cards = "two cards" if each == 2 else "a card"
        raise ValueError(f"each seat discards {cards} before a card is played")


def _game_points(rules: HandRules, margin: int) -> int:
    """Return the match points of a game won by ``margin`` (H11, M11)."""
    if not isinstance(rules, TwoHandRules):
        return 1
    return (1, rules.skunk_points, rules.double_skunk_points)[rules.skunks(margin)]


def _what(rules: HandRules) -> str:
    return "game points" if isinstance(rules, TwoHandRules) else "the games won"


def _rear_before(line: notation.Line, rules: HandRules, side: int, peg: int, score: int) -> int:
    """Return the rear peg before the deal; pegging in the deal has moved it."""
    for_last = rules.for_last if isinstance(rules, TwoHandRules) else 0
    if line.number == 1:  # with the other peg, or behind three for last (F1)
        return 0 if peg == 0 and score == (0 if side == line.dealer else for_last) else score
    return min(max(peg, score - max(MOST, for_last)), score)


def _match_score_before(line: notation.Line, rules: HandRules) -> notation.Scores:
    """Return what had been won before the deal: what its end counted taken off (H11, M11)."""
    score = list(line.match_score)
    if line.winner is not None:
        front = line.deal.scores
        score[line.winner] -= _game_points(rules, max(front) - min(front))
    most = rules.match_target - 1 if line.episode == "match" else 0
    if not all(0 <= points <= most for points in score):
        raise ValueError(
            f"games={format_scores(line.match_score)} are not {_what(rules)} of "
            f"{'a match to ' + str(rules.match_target) if most else 'an episode of one game'} "
            f"that {'goes on' if line.winner is None else 'ends so'}"
        )
    return tuple(score)
