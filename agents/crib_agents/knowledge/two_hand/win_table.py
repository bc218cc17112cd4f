"""The value of a score to a seat, for both halves of `expert`.

In a game the value is the probability of winning it. In a match it is the probability of winning
the match, so that a skunk counts for its effect there. In a single deal it is the difference in
points, scaled into 0 to 1. One table holds the values, by what each seat still needs at the end of
a deal. So a search only looks values up and does not depend on the episode.

The kernels follow the count in its order (C5, H8, F6), and name the seats by their roles in the
current deal: ``i_deal`` says which is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from crib_agents.knowledge.two_hand.outcomes import COUNT_SIZE, MEASURED_HEELS
from crib_agents.knowledge.two_hand.win import (
    LARGEST_MATCH,
    WON,
    match_stakes,
    match_win_probabilities,
    probabilities,
)
from crib_env.arrays import Doubles
from crib_env.engine.hands.records import GAME, MATCH
from crib_env.engine.jit import kernel
from crib_env.policy import Views

# What a win table depends on; two views alike in these share one.
FIELDS = ("dealt", "target", "heels", "episode", "match_target")


def stakes(dealt: int, target: int, mine: int, theirs: int, heels: int = MEASURED_HEELS) -> Doubles:
    """Return the values of the six ends of a game (see `win`) in a match, float64[6]."""
    return match_stakes(match_win_probabilities(dealt, target, heels), mine, theirs)


@lru_cache(maxsize=128)
def win_table(
    dealt: int,
    target: int,
    episode: int,
    mine: int = 1,
    theirs: int = 1,
    heels: int = MEASURED_HEELS,
) -> Doubles:
    """Return the value of the end of a deal to a seat, float64[2, target + 1, target + 1]."""
    if episode not in (GAME, MATCH):
        left = np.arange(target + 1)
        dealt_it = (target + left[:, None] - left[None, :]) / (2.0 * target)
        return np.ascontiguousarray(np.stack([1.0 - dealt_it, dealt_it]))
    table = probabilities(dealt, target, heels)
    if episode == MATCH:
        valued = table @ stakes(dealt, target, mine, theirs, heels)
    else:
        valued = table[..., WON].sum(axis=3)
    # Pone now deals the next deal, and where the dealer is this seat, pone is the other.
    return np.ascontiguousarray(np.stack([valued[1], valued[0].T]))


def group_by_win_table(views: Views) -> Iterator[tuple[Doubles, npt.NDArray[np.intp]]]:
    """Sort views by the table they are judged by.

    Yields a table of `win_table` and the indices of the views it is for.
    """
    keys = np.stack([views[field] for field in FIELDS] + [views["match_score"][:, 0],
                    views["match_score"][:, 1]], axis=1)  # fmt: skip
    keys[views["episode"] != MATCH, len(FIELDS) - 1 :] = 0  # game points matter in a match alone
    distinct, group = np.unique(keys, axis=0, return_inverse=True)
    for i, key in enumerate(distinct.tolist()):
        dealt, target, heels, episode, match_target, mine, theirs = key
        left = [min(max(1, match_target - won), LARGEST_MATCH) for won in (mine, theirs)]
        yield win_table(dealt, target, episode, *left, heels), np.flatnonzero(group.ravel() == i)


@kernel
def after_deal(win_table, i_deal, pone, dealer):
    """Return the value of a deal's end by the points still needed; see `win_table`.

    A seat with none or less has won, at the expense of the other.
    """
    return win_table[i_deal, max(pone, 0), max(dealer, 0)]


@kernel
def after_hands(win_table, i_deal, pone, dealer, crib):
    """Return the value of a score before the crib is counted (crib float64[30])."""
    if pone <= 0 or dealer <= 0:
        return after_deal(win_table, i_deal, pone, dealer)
    total = 0.0
    for points in range(COUNT_SIZE):
        if crib[points] > 0.0:
            total += crib[points] * after_deal(win_table, i_deal, pone, dealer - points)
    return total


@kernel
def after_pegging(win_table, i_deal, pone, dealer, pone_hand, dealer_hand, crib):
    """Return the value of a score when the pegging is over and both hands are known.

    Pone counts first, then the dealer, then the crib; the first to the target has won (C5).

    Shapes: crib float64[30].
    """
    if pone <= 0 or dealer <= 0:
        return after_deal(win_table, i_deal, pone, dealer)
    if pone_hand >= pone:
        return after_deal(win_table, i_deal, 0, dealer)
    return after_hands(win_table, i_deal, pone - pone_hand, dealer - dealer_hand, crib)


@kernel
def slope(win_table, i_deal, pone, dealer, by_dealer, width):
    """Return the value of one point more for a seat near a score that is far from the target.

    The difference over ``width`` points each way, so that one deal's swings are within it.
    """
    d = width if by_dealer else 0
    p = 0 if by_dealer else width
    last = win_table.shape[1] - 1
    pone_low = min(max(pone, 0) + p, last)
    pone_high = max(pone - p, 0)
    dealer_low = min(max(dealer, 0) + d, last)
    dealer_high = max(dealer - d, 0)
    gain = after_deal(win_table, i_deal, pone_high, dealer_high)
    gain -= after_deal(win_table, i_deal, pone_low, dealer_low)
    return gain / (pone_low - pone_high if p else dealer_low - dealer_high)
