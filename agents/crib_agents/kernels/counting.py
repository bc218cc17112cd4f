"""What the engine counts from a view of the two-hand games, under the name agents know it by."""

from crib_env.engine.two_hand.counting import (
    ALL_RANKS,
    alone,
    certain_points,
    dealt_card,
    sequence_of,
    sequence_points,
    unseen_ranks,
)

__all__ = [
    "ALL_RANKS", "alone", "certain_points", "dealt_card", "sequence_of", "sequence_points",
    "unseen_ranks",
]  # fmt: skip
