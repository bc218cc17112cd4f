"""Counting cards: explained, card by card, and many hands at once."""

from crib_env.scoring.explained import (
    Part,
    Score,
    score_hand,
    score_hands,
    score_histogram,
    score_line,
    score_play,
)

__all__ = [
    "Part",
    "Score",
    "score_hand",
    "score_hands",
    "score_histogram",
    "score_line",
    "score_play",
]
