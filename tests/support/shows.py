"""The mean points of a deal's show, counted by the reference."""

from __future__ import annotations

from collections.abc import Sequence

from reference.scoring import JACK, rank, score_show


def mean_show(
    dealt: list[list[int]], discarded: list[list[int]], dealer: int, preset: str, heels: int = 2
) -> float:
    """Return seat 0's mean of heels, hands and crib less seat 1's, over every card not dealt."""
    known = {card for hand in dealt for card in hand}
    kept = [[c for c in dealt[seat] if c not in discarded[seat]] for seat in range(2)]
    crib = [*discarded[0], *discarded[1]]
    starters = [card for card in range(52) if card not in known]
    first, second = mean_shows(kept, crib, starters, dealer, (0, 1), preset, heels)
    return first - second


def mean_shows(
    kept: Sequence[Sequence[int]],
    crib: Sequence[int],
    starters: Sequence[int],
    dealer: int,
    side_of: Sequence[int],
    preset: str = "hoyle",
    heels: int = 2,
) -> list[float]:
    """Return each side's mean of heels, hands and crib over the starters."""
    totals = [0] * (1 + max(side_of))
    for starter in starters:
        for seat, hand in enumerate(kept):
            totals[side_of[seat]] += score_show(hand, starter, False, preset)
        totals[side_of[dealer]] += score_show(crib, starter, True, preset)
        totals[side_of[dealer]] += heels * (rank(starter) == JACK)
    return [total / len(starters) for total in totals]
