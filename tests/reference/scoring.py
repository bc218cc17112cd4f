"""Scoring by literal definition: test every subset of the cards.

A card is an integer ``4 * rank + suit``: rank 0 is the ace and 12 the king, suits are clubs,
diamonds, hearts, spades in that order.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

RANKS = "A23456789TJQK"
JACK = RANKS.index("J")

# How many cards of a hand are kept for the show (H1, F2). The crib is four in both games.
KEPT = {"hoyle": 4, "five_card": 3}
CRIB_CARDS = 4


def rank(card_id: int) -> int:
    """Return the rank, 0 for the ace to 12 for the king."""
    return card_id // 4


def suit(card_id: int) -> int:
    """Return the suit, 0 to 3 for clubs, diamonds, hearts, spades."""
    return card_id % 4


def value(card_id: int) -> int:
    """Return the pip value: the ace 1, court cards 10 (C1)."""
    return min(rank(card_id) + 1, 10)


def _subsets(held: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield every non-empty combination of the cards."""
    for size in range(1, len(held) + 1):
        yield from combinations(held, size)


def _is_run(ranks: Iterable[int]) -> bool:
    """Tell whether the ranks, in any order, are three or more consecutive ones without repeats."""
    ordered = sorted(ranks)
    # The ace is low and the king high with no step between them, so runs never wrap round (C2).
    return len(ordered) >= 3 and ordered == list(range(ordered[0], ordered[0] + len(ordered)))


def fifteens(held: Sequence[int]) -> int:
    """Score 2 for each distinct combination whose values sum to 15 (C2)."""
    return sum(2 for subset in _subsets(held) if sum(map(value, subset)) == 15)


def pairs(held: Sequence[int]) -> int:
    """Score 2 for each pair, which makes 6 for three of a kind and 12 for four (C2)."""
    return sum(2 for first, second in combinations(held, 2) if rank(first) == rank(second))


def runs(held: Sequence[int]) -> int:
    """Score the runs of the greatest length only, a point a card for each way (C2)."""
    for length in range(len(held), 2, -1):
        ways = sum(1 for subset in combinations(held, length) if _is_run(map(rank, subset)))
        if ways:
            return ways * length
    return 0


def flush(hand: Sequence[int], starter: int, crib: bool) -> int:
    """Score a flush in the show of a two-hand game (H8, F6).

    The kept cards (four, or three in the five-card game) must all be of one suit by themselves;
    the starter may add its point but never completes one. A crib scores only with its starter.
    """
    if len({suit(c) for c in hand}) != 1:
        return 0
    starter_matches = suit(starter) == suit(hand[0])
    if crib:
        return len(hand) + 1 if starter_matches else 0
    return len(hand) + (1 if starter_matches else 0)


def line_flush(line: Sequence[int], flush_size: int) -> int:
    """Score a Table Top flush: the most cards of one suit, if at least ``flush_size`` (T8, T12)."""
    longest = max(sum(1 for c in line if suit(c) == s) for s in range(4))
    return longest if longest >= flush_size else 0


def nobs(hand: Sequence[int], starter: int) -> int:
    """Score 1 for a jack of the starter's suit; ``hand`` does not include the starter (C4)."""
    return sum(1 for c in hand if rank(c) == JACK and suit(c) == suit(starter))


def score_show(hand: Sequence[int], starter: int, crib: bool, rules_name: str) -> int:
    """Score a hand or crib with the starter in the show (H8 for "hoyle", F6 for "five_card")."""
    size = CRIB_CARDS if crib else KEPT[rules_name]
    if len(hand) != size or len({*hand, starter}) != size + 1:
        raise ValueError(f"expected {size} cards and another as the starter: {hand}, {starter}")
    held = [*hand, starter]
    return fifteens(held) + pairs(held) + runs(held) + flush(hand, starter, crib) + nobs(hand, starter)


def score_line(line: Sequence[int], flush_size: int, starter: int | None = None) -> int:
    """Score five cards of Table Top: a row, a column, or the crib with the starter (T8, T12).

    Args:
        line: five cards, the starter among them where the line holds it.
        flush_size: the least number of cards of a suit that score, 5, or 4 in Ship's variation.
        starter: the starter if it is one of the five, else None: only then is there a nob.
    """
    if len(line) != 5 or len(set(line)) != 5:
        raise ValueError(f"a line is five different cards, not {line}")
    points = fifteens(line) + pairs(line) + runs(line) + line_flush(line, flush_size)
    if starter is None:
        return points
    if starter not in line:
        raise ValueError(f"the starter {starter} is not in the line {line}")
    # A jack turned up as the starter was paid as heels (C3); it is not its own nob.
    return points + nobs([c for c in line if c != starter], starter)


class PlayParts(NamedTuple):
    """The points of the last card played by H4, without 31 and the go, which the referee adds."""

    fifteen: int
    pair: int
    run: int


def score_play(ranks: Sequence[int], count: int) -> PlayParts:
    """Score the last card played (H4).

    Args:
        ranks: ranks of the cards since the last reset, in the order played, the new one last.
        count: the count with the new card.
    """
    fifteen = 2 if count == 15 else 0

    same = 1
    while same < len(ranks) and ranks[-1 - same] == ranks[-1]:
        same += 1
    pair = {1: 0, 2: 2, 3: 6, 4: 12}[same]

    run = 0
    for length in range(3, len(ranks) + 1):
        if _is_run(ranks[-length:]):
            run = length  # the longest tail that is a run is the last one found
    return PlayParts(fifteen, pair, run)
