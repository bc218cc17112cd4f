"""The fields of a position of the games with hands: see `crib_env.notation`.

three_hand game #1 d0 0/0/0 AC(2C)3C4C5C/... 9H JD 5D3C
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from crib_env.cards import format_card, parse_card, refuse_twice
from crib_env.engine import notation
from crib_env.engine.hands.records import CRIB
from crib_env.engine.record import NONE
from crib_env.rules import HandRules, Rules, find_rules


def format_hand(s: notation.Record, seat: int, size: int) -> str:
    """Return the cards dealt to a seat, those discarded in brackets: ``5H(6C)7D8S(9C)KD``."""
    first = len(s["dealt"]) // len(s["held"]) * seat
    cards = [format_card(int(card)) for card in s["dealt"][first : first + size]]
    return "".join(f"({card})" if s["discarded"][seat] >> i & 1 else card for i, card in enumerate(cards))


def read_hand(hand: str, seat: int, size: int) -> tuple[list[int], list[int]]:
    """Return the cards dealt to a seat, and those of them discarded."""
    found = re.findall(rf"\({notation.CARD}\)|{notation.CARD}", hand)
    if "".join(found) != hand or len(found) != size:
        raise ValueError(f"seat {seat}'s hand must be {size} cards, such as 7D, or (6C) discarded; got {hand!r}")
    dealt = [parse_card(card.strip("()")) for card in found]
    return dealt, [card for card, word in zip(dealt, found, strict=True) if word.startswith("(")]


def hands_notation(crib: bool) -> notation.Notation:
    """Return the notation of a family of games with hands; ``crib`` if cards may be dealt to it."""

    def format_fields(s: notation.Record, rules: Rules) -> list[str]:
        """Return the words of the fields for a record."""
        known = find_rules(rules, HandRules)
        hands = "/".join(format_hand(s, seat, known.dealt) for seat in range(known.players))
        spare = [notation.format_cards([card for card in s["dealt"][-1:] if card != NONE])] if crib else []
        return [hands, *spare, format_card(int(s["starter"])), notation.format_cards(s["pile"][: s["pile_n"]])]

    def read_fields(words: Sequence[str], rules: Rules, dealer: int, players: int) -> notation.Deal:
        """Return the deal that the words describe."""
        known = find_rules(rules, HandRules)
        hands, *spare, up, pile = words
        if hands.count("/") != players - 1:
            raise ValueError(f"hands must be given for {players} seats, with a / between them: {hands!r}")
        dealt, discarded = zip(
            *(read_hand(hand, seat, known.dealt) for seat, hand in enumerate(hands.split("/"))), strict=True
        )
        to_crib = [card for word in spare for card in notation.read_cards("crib", word)]
        starter = notation.read_cards("starter", up)
        if len(starter) != 1:
            raise ValueError(f"the starter must be one card, got {up!r}")
        lacking = CRIB - players * known.discards
        if len(to_crib) != lacking:
            raise ValueError(f"with {players} players {lacking} cards are dealt to the crib, got {spare[0]!r}")
        seats = [(dealer + 1 + turn) % players for turn in range(players)]
        deck = [dealt[seat][i] for i in range(known.dealt) for seat in seats] + to_crib + starter
        refuse_twice(deck)
        discards = [card for seat in seats for card in discarded[seat]]
        played = notation.read_cards("pile", pile)
        waiting = next((seat for seat in seats if len(discarded[seat]) < known.discards), None)
        if waiting is not None and (played or any(discarded[seat] for seat in seats[seats.index(waiting) + 1 :])):
            raise ValueError(
                f"each seat discards {known.discards} before the next seat does and before a card is played: "
                f"mark those of seat {waiting}, as (6C)"
            )
        return notation.Deal(deck, discards + played)

    fields = ("hands", *(("crib",) if crib else ()), "starter", "pile")
    return notation.Notation(fields, format_fields, read_fields)
