"""What the engine counts of a line of Table Top, under the name agents know it by."""

from crib_env.engine.table_top.lines import (
    EVERY_CARD,
    RANKS,
    SUIT,
    adds,
    crib_known,
    flush_points,
    line_through,
    nob_of,
    nob_through,
    points_so_far,
    rank_key,
    rank_points,
    run_of_three,
    subset_sums,
    unseen_cards,
)

__all__ = [
    "EVERY_CARD", "RANKS", "SUIT", "adds", "crib_known", "flush_points", "line_through", "nob_of",
    "nob_through", "points_so_far", "rank_key", "rank_points", "run_of_three", "subset_sums",
    "unseen_cards",
]  # fmt: skip
