"""What a deal's show is worth on average, counted by the reference."""

from __future__ import annotations

from reference.scoring import JACK, rank, score_show


def mean_show(
    dealt: list[list[int]], discarded: list[list[int]], dealer: int, preset: str, heels: int = 2
) -> float:
    """Return seat 0's mean of heels, hands and crib less seat 1's, over every card not dealt."""
    known = {card for hand in dealt for card in hand}
    total = 0
    starters = [card for card in range(52) if card not in known]
    for starter in starters:
        for seat, sign in ((0, 1), (1, -1)):
            kept = [card for card in dealt[seat] if card not in discarded[seat]]
            total += sign * score_show(kept, starter, False, preset)
        crib = score_show([*discarded[0], *discarded[1]], starter, True, preset)
        total += (1 if dealer == 0 else -1) * (crib + heels * (rank(starter) == JACK))
    return total / len(starters)
