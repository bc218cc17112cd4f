"""The value of a score: how games and matches end from it, solved backwards from the last hole.

A deal pegs at least one point, so every deal ends nearer the target than it starts. The
probabilities at a score therefore follow from those at later scores. Within a deal points come in
the order of the rules, and the first to the target wins at once (C5): heels and pegging, pone's
hand, the dealer's hand, the crib. `deal_points` holds their distributions.

Scores are points still needed, so one table serves all starts and any shorter target. A view does
not hold the game points of a skunk or the next dealer of a match: the tables assume the preset's
rules, by which a five-card game has no skunks.

`win_table` holds the values for `expert`: in a game the probability of winning it, in a match the
probability of winning the match, so that a skunk counts for its effect there, and in a single deal
the difference in points, scaled into 0 to 1. A search only looks values up and does not depend on
the episode. The kernels follow the count in its order (C5, H8, F6), and name the seats by their
roles in the current deal: ``i_deal`` says which is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from crib_agents.data.tables import DEALT, ENDGAME_WIN, load
from crib_agents.honours import group_rows
from crib_agents.knowledge.deal_points import COUNT_SIZE, MEASURED_HEELS, PLAY_SIZE, Outcomes, load_outcomes
from crib_env.arrays import Doubles, portable
from crib_env.engine.hands.records import GAME, MATCH
from crib_env.engine.jit import kernel
from crib_env.policy import Views
from crib_env.rules import LARGEST_MATCH_TARGET, PRESETS, TwoHandRules

# How a game ends for a seat: it wins by a double skunk, a skunk, plainly; loses plainly, by a
# skunk, a double skunk. The margin is the points that the loser still needs (H11).
ENDS = 6
WON = slice(0, 3)
WINS = 2  # plainly
LOSES = 3
HOYLE = TwoHandRules.preset("hoyle")


def ended(target: int) -> Doubles:
    """Return float64[target + 1, 6]: the end of a game as one-hot rows, by the winner's margin."""
    return np.eye(ENDS)[[WINS - HOYLE.skunks(margin) for margin in range(target + 1)]]


@cache
def probabilities(dealt: int, target: int, heels: int = MEASURED_HEELS) -> Doubles:
    """Return the probability of each end of a game, float64[2, target + 1, target + 1, 6].

    At the start of a deal, by role, the points this seat needs, and those the other needs.
    """
    beyond = load(ENDGAME_WIN)["beyond"][DEALT.index(dealt)]
    pone = solve(load_outcomes(dealt, heels), target, beyond)
    both = np.stack([pone, np.flip(pone.transpose(1, 0, 2), axis=2)])
    both.setflags(write=False)
    return both


def solve(deal: Outcomes, target: int, beyond: Doubles | None = None) -> Doubles:
    """Return pone's `probabilities` at a deal's start, float64[target + 1, target + 1, 6].

    By pone's needs and the dealer's. ``beyond``, by the same needs up to its size, is added to
    pone's probability of winning by average deals, because near the end both seats play to the
    score.
    It solves one sum of needs after another, the lowest first: a deal only lowers the sum. The
    arrays have a margin of zeros before index 0, for scores outside the bounds.
    """
    pegging, hand = PLAY_SIZE, COUNT_SIZE
    total = np.convolve(deal.dealer_hand, deal.crib)
    margin = max(pegging, hand)
    size = target + 1 + margin
    # By pone's needs and the dealer's: at the start of a deal in these roles (`starts`) or in
    # swapped roles (`nexts`), after pone's hand and after the pegging.
    starts, nexts, after_pone, after_pegging = np.zeros((4, size, size, ENDS))
    won = ended(target)
    starts[margin, margin + 1 :] = nexts[margin, margin + 1 :] = won[1:]
    starts[margin + 1 :, margin] = nexts[margin + 1 :, margin] = won[1:, ::-1]
    in_play = [(p, d) for p, d in np.argwhere(deal.pegging > 0)]
    assert (0, 0) not in in_play, "a deal without a point in the play has no end to start from"
    p, d = np.array(in_play).T[:, :, None]
    weights = deal.pegging[p, d].ravel()
    # One more row, of zeros: needs that the pegging never covers.
    pone_out = np.vstack([deal.pone_out, np.zeros(pegging)])
    dealer_out = np.vstack([deal.dealer_out, np.zeros(pegging)])
    x, h, t = np.arange(pegging)[:, None], np.arange(hand)[:, None], np.arange(len(total))[:, None]
    tail = np.append(np.cumsum(deal.pone_hand[::-1])[::-1], 0.0)  # probability of at least n points
    for both in range(2, 2 * target + 1):
        a = np.arange(max(1, both - target), min(target, both - 1) + 1)
        b = both - a
        at = a + margin, b + margin
        starts[at] = (
            np.tensordot(weights, after_pegging[at[0] - p, at[1] - d], 1)
            + np.einsum("xn,xne->ne", pone_out[np.minimum(a, pegging), x], starts[margin, np.maximum(at[1] - x, 0)])
            + np.einsum("xn,xne->ne", dealer_out[np.minimum(b, pegging), x], starts[np.maximum(at[0] - x, 0), margin])
        )
        if beyond is not None:
            near = (a < len(beyond)) & (b < len(beyond))
            here = at[0][near], at[1][near]
            more = np.clip(beyond[a[near], b[near]], -starts[*here, WINS], starts[*here, LOSES])
            starts[*here, WINS] += more
            starts[*here, LOSES] -= more
        nexts[at[1], at[0]] = starts[at][:, ::-1]
        after_pone[at] = np.tensordot(total, nexts[at[0], np.maximum(at[1] - t, margin)], 1)
        after_pegging[at] = np.tensordot(deal.pone_hand, after_pone[at[0] - h, at[1]], 1)
        after_pegging[at] += tail[np.minimum(a, hand)][:, None] * starts[margin, at[1]]
    return starts[margin:, margin:].copy()


@cache
def match_win_probabilities(dealt: int, target: int, heels: int = MEASURED_HEELS) -> Doubles:
    """Return the probability of winning a match at a game's start (H11), float64[2, 8, 8].

    By role, and by the game points that this seat and the other need.
    """
    start = max(1, target - preset_with(dealt).for_last)
    table = probabilities(dealt, target, heels)
    as_pone, as_dealer = table[0, start, target], table[1, target, start]
    found = np.zeros((2, LARGEST_MATCH_TARGET + 1, LARGEST_MATCH_TARGET + 1))
    found[:, 0, 1:] = 1.0
    for mine in range(1, LARGEST_MATCH_TARGET + 1):
        for theirs in range(1, LARGEST_MATCH_TARGET + 1):
            stakes = match_stakes(found, mine, theirs, game_points(dealt))
            found[0, mine, theirs] = as_pone @ stakes
            found[1, mine, theirs] = as_dealer @ stakes
    return found


def preset_with(dealt: int) -> TwoHandRules:
    """Return the preset of the game for two with ``dealt`` cards a hand."""
    presets = (rules for rules in PRESETS.values() if isinstance(rules, TwoHandRules))
    return next(rules for rules in presets if rules.dealt == dealt)


def game_points(dealt: int) -> tuple[int, int, int]:
    """Return the game points of a double skunk, a skunk and a plain win (H11)."""
    rules = preset_with(dealt)
    return rules.double_skunk_points, rules.skunk_points, 1


def match_stakes(matches: Doubles, mine: int, theirs: int, points: Sequence[int]) -> Doubles:
    """Return the probability of winning the match after each end of the game, float64[6]."""
    won = [matches[0, max(0, mine - n), theirs] for n in points]
    lost = [matches[1, mine, max(0, theirs - n)] for n in reversed(points)]
    return np.array(won + lost)


def after_hands(after: Doubles, deal: Outcomes) -> tuple[Doubles, Doubles]:
    """Return pone's probability of winning after pone's hand is counted, and after the dealer's.

    Args:
        after: pone's probability at the start of the next deal, float64[n, n], by the points that
            pone and the dealer need.
        deal: the outcomes of deals.
    """
    to_make = np.arange(len(after))
    total = np.convolve(deal.dealer_hand, deal.crib)
    by_total, by_crib = (
        sum(chance * after[:, (to_make - n).clip(0)] for n, chance in enumerate(chances))
        for chances in (total, deal.crib)
    )
    pone, dealer = np.asarray(by_total).copy(), np.zeros_like(after)
    before_crib = np.asarray(by_crib).copy()
    pone[0], pone[1:, 0] = 1.0, 0.0
    before_crib[:, 0] = 0.0
    before_crib[0] = 1.0
    for n, chance in enumerate(deal.pone_hand):
        dealer += chance * before_crib[(to_make - n).clip(0)]
    return pone, dealer


# The fields of a view that decide its win table; views equal in these share one.
FIELDS = ("dealt", "target", "heels", "episode", "match_target")


def stakes(dealt: int, target: int, mine: int, theirs: int, heels: int = MEASURED_HEELS) -> Doubles:
    """Return the probability of winning the match after each end of a game, float64[6]."""
    matches = match_win_probabilities(dealt, target, heels)
    return match_stakes(matches, mine, theirs, game_points(dealt))


@lru_cache(maxsize=128)
def win_table(
    dealt: int, target: int, episode: int, mine: int = 1, theirs: int = 1, heels: int = MEASURED_HEELS
) -> Doubles:
    """Return the value of the end of a deal to a seat, float64[2, target + 1, target + 1].

    By whether it dealt, pone's needs, the dealer's; ``mine``, ``theirs``: game points still needed.
    """
    if episode not in (GAME, MATCH):
        left = np.arange(target + 1)
        dealt_it = (target + left[:, None] - left[None, :]) / (2.0 * target)
        return portable(np.stack([1.0 - dealt_it, dealt_it]))
    table = probabilities(dealt, target, heels)
    if episode == MATCH:
        valued = table @ stakes(dealt, target, mine, theirs, heels)
    else:
        valued = table[..., WON].sum(axis=3)
    # Pone deals next; if this seat is the dealer, pone is the other seat.
    return portable(np.stack([valued[1], valued[0].T]))


def group_by_win_table(views: Views) -> Iterator[tuple[Doubles, npt.NDArray[np.intp]]]:
    """Yield each `win_table` and the indices of its views."""
    keys = np.stack(
        [views[field] for field in FIELDS] + [views["match_score"][:, 0], views["match_score"][:, 1]], axis=1
    )
    keys[views["episode"] != MATCH, len(FIELDS) - 1 :] = 0  # game points matter only in a match
    for key, rows in group_rows(keys):
        dealt, target, heels, episode, match_target, mine, theirs = key
        left = [max(1, match_target - won) for won in (mine, theirs)]
        yield win_table(dealt, target, episode, *left, heels), rows


@kernel
def after_deal(win_table, i_deal, pone, dealer):
    """Return the value of a deal's end by the points still needed; see `win_table`."""
    return win_table[i_deal, max(pone, 0), max(dealer, 0)]


@kernel
def after_pegging(win_table, i_deal, pone, dealer, pone_hand, dealer_hand, crib):
    """Return the value of a score when the pegging is over and both hands are known."""
    if pone <= 0 or dealer <= 0:
        return after_deal(win_table, i_deal, pone, dealer)
    if pone_hand >= pone:
        return after_deal(win_table, i_deal, 0, dealer)
    pone -= pone_hand
    dealer -= dealer_hand
    if dealer <= 0:
        return after_deal(win_table, i_deal, pone, dealer)
    total = 0.0
    for points in range(COUNT_SIZE):
        if crib[points] > 0.0:
            total += crib[points] * after_deal(win_table, i_deal, pone, dealer - points)
    return total


@kernel
def slope(win_table, i_deal, pone, dealer, by_dealer, width):
    """Return this seat's value of a point of the dealer (``by_dealer``) or pone, far from the end.

    It is the mean over ``width`` points each way, which covers the swings of one deal.
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
