"""The result of a game, by the score and the dealer: a table solved backwards from the last hole.

A deal pegs at least one point, so every deal ends nearer the target than it starts. The
probabilities at a score therefore follow from those at later scores. Within a deal points come in
the order of the rules, and the first to the target wins at once (C5): heels and pegging, pone's
hand, the dealer's hand, the crib. `outcomes` holds their distributions.

Scores are points still needed, so one table serves all starts and any shorter target. A view does
not say what a skunk counts or who deals the next game of a match: the tables assume Hoyle's rules.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from crib_agents.knowledge.two_hand import outcomes
from crib_agents.knowledge.two_hand.outcomes import MEASURED_HEELS
from crib_env.arrays import Doubles
from crib_env.rules import PRESETS, TwoHandRules

# How a game ends for a seat: it wins by a double skunk, a skunk, plainly; loses plainly, by a
# skunk, a double skunk. The margin is what the loser still has to make (H11).
ENDS = 6
WON = slice(0, 3)
HOYLE = TwoHandRules.preset("hoyle")
GAME_POINTS = (HOYLE.double_skunk_points, HOYLE.skunk_points, 1)
LARGEST_MATCH = 99  # game points that a match can be played to


def ending(margin: int) -> int:
    """Return which of the ways to win a game it is to win by ``margin`` points."""
    if margin > HOYLE.double_skunk_margin:
        return 0
    return 1 if margin > HOYLE.skunk_margin else 2


def ended(target: int) -> Doubles:
    """Return float64[target + 1, 6]: how a game has ended that is won by so many points."""
    return np.eye(ENDS)[[ending(margin) for margin in range(target + 1)]]


@cache
def probabilities(dealt: int, target: int, heels: int = MEASURED_HEELS) -> Doubles:
    """Return how a game ends from every score, at the start of a deal.

    Shapes: the result float64[2, target + 1, target + 1, 6].
    """
    pone = solve(outcomes.load(dealt, heels), target)
    both = np.stack([pone, np.flip(pone.transpose(1, 0, 2), axis=2)])
    both.setflags(write=False)
    return both


def solve(deal: outcomes.Outcomes, target: int) -> Doubles:
    """Return the six chances for pone, float64[target + 1, target + 1, 6] by (pone's, dealer's).

    Solved for one sum of points after another: a deal starts at that sum, and its counts end there
    at most. The arrays have a margin of zeros before index 0, for what the bounds leave out.
    """
    pegging, hand = outcomes.PLAY_SIZE, outcomes.COUNT_SIZE
    total = np.convolve(deal.dealer_hand, deal.crib)
    margin = max(pegging, hand)
    size = target + 1 + margin
    # By pone's and the dealer's points to make: at the start of a deal in which the roles stand as
    # they do (`starts`) or are changed (`nexts`), after pone's hand and after the pegging.
    starts, nexts, after_pone, after_pegging = np.zeros((4, size, size, ENDS))
    won = ended(target)
    starts[margin, margin + 1 :] = nexts[margin, margin + 1 :] = won[1:]
    starts[margin + 1 :, margin] = nexts[margin + 1 :, margin] = won[1:, ::-1]
    in_play = [(p, d) for p, d in np.argwhere(deal.pegging > 0)]
    assert (0, 0) not in in_play, "a deal without a point in the play has no end to start from"
    p, d = np.array(in_play).T[:, :, None]
    weights = deal.pegging[p, d].ravel()
    # A row more: points that are never made within the pegging.
    pone_out = np.vstack([deal.pone_out, np.zeros(pegging)])
    dealer_out = np.vstack([deal.dealer_out, np.zeros(pegging)])
    x, h, t = np.arange(pegging)[:, None], np.arange(hand)[:, None], np.arange(len(total))[:, None]
    tail = np.append(np.cumsum(deal.pone_hand[::-1])[::-1], 0.0)  # chance of so many or more
    for both in range(2, 2 * target + 1):
        a = np.arange(max(1, both - target), min(target, both - 1) + 1)
        b = both - a
        at = a + margin, b + margin
        starts[at] = (
            np.tensordot(weights, after_pegging[at[0] - p, at[1] - d], 1)
            + np.einsum("xn,xne->ne", pone_out[np.minimum(a, pegging), x],
                        starts[margin, np.maximum(at[1] - x, 0)])
            + np.einsum("xn,xne->ne", dealer_out[np.minimum(b, pegging), x],
                        starts[np.maximum(at[0] - x, 0), margin])
        )  # fmt: skip
        nexts[at[1], at[0]] = starts[at][:, ::-1]
        after_pone[at] = np.tensordot(total, nexts[at[0], np.maximum(at[1] - t, margin)], 1)
        after_pegging[at] = np.tensordot(deal.pone_hand, after_pone[at[0] - h, at[1]], 1)
        after_pegging[at] += tail[np.minimum(a, hand)][:, None] * starts[margin, at[1]]
    return starts[margin:, margin:].copy()


@cache
def match_win_probabilities(dealt: int, target: int, heels: int = MEASURED_HEELS) -> Doubles:
    """Return the probability of winning a match at the start of a game (H11).

    The loser of a game deals first in the next (H10). Five-card pone begins with three for last.

    Shapes: the result float64[2, 100, 100].
    """
    for_last = next(
        r.for_last for r in PRESETS.values() if isinstance(r, TwoHandRules) and r.dealt == dealt
    )
    start = max(1, target - for_last)
    table = probabilities(dealt, target, heels)
    as_pone, as_dealer = table[0, start, target], table[1, target, start]
    found = np.zeros((2, LARGEST_MATCH + 1, LARGEST_MATCH + 1))
    found[:, 0, 1:] = 1.0
    for mine in range(1, LARGEST_MATCH + 1):
        for theirs in range(1, LARGEST_MATCH + 1):
            stakes = match_stakes(found, mine, theirs)
            found[0, mine, theirs] = as_pone @ stakes
            found[1, mine, theirs] = as_dealer @ stakes
    return found


def match_stakes(matches: Doubles, mine: int, theirs: int) -> Doubles:
    """Return the probability of winning the match after each end of the game, float64[6]."""
    won = [matches[0, max(0, mine - n), theirs] for n in GAME_POINTS]
    lost = [matches[1, mine, max(0, theirs - n)] for n in reversed(GAME_POINTS)]
    return np.array(won + lost)
