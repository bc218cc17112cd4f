"""The value of a deal before its pegging, for a seat that may go out soon.

The pegging, both hands and the crib are assumed independent (see `measured`). So the value is
computed backwards, stage by stage: before the dealer's counts, before pone's, before the pegging.
Elsewhere the value is nearly linear in points, and this is not needed.
"""

from __future__ import annotations

from math import floor

from crib_agents.knowledge.two_hand.measured import COUNT_SIZE, MOST_PLAY, PLAY_SIZE
from crib_agents.knowledge.two_hand.winning import after_deal
from crib_env.engine.jit import kernel

BEFORE_PLAY = PLAY_SIZE + 1  # scores after the pegging that matter, and one to interpolate
BEFORE_HANDS = BEFORE_PLAY + COUNT_SIZE
TOTAL_SIZE = 2 * COUNT_SIZE - 1


@kernel
def after_shift(points, shift):
    """Return how far there is to go for a seat that pegs ``shift`` more than its role does.

    A hand that pegs well is points already made; but it makes no point certain, so the way shrinks
    without an end.
    """
    return points * points / (points + shift) if shift > 0.0 else points - shift


@kernel
def within(win_table, i_deal, pone, dealer):
    """Return the value of the end of the deal, at the table's edge beyond it."""
    last = win_table.shape[1] - 1
    return after_deal(win_table, i_deal, min(pone, last), min(dealer, last))


@kernel
def fill_stages(win_table, i_deal, pone, dealer, s):
    """Fill ``s["after_pegging"][i, j]`` with the value if the pegging made i and j points.

    The seats have ``pone`` and ``dealer`` points to make. Pone's hand, then the dealer's hand and
    crib are still to count: ``s["pone_hand"]``, ``s["dealer_hand"]`` and ``s["crib"]``, float64[30]
    each.
    """
    total = s["total"]
    for t in range(TOTAL_SIZE):
        total[t] = 0.0
    for h in range(COUNT_SIZE):
        if s["dealer_hand"][h] > 0.0:
            for c in range(COUNT_SIZE):
                total[h + c] += s["dealer_hand"][h] * s["crib"][c]
    for j in range(min(BEFORE_PLAY, dealer)):
        for i in range(min(BEFORE_HANDS, pone)):
            value = 0.0
            for t in range(TOTAL_SIZE):
                if total[t] > 0.0:
                    value += total[t] * within(win_table, i_deal, pone - i, dealer - j - t)
            s["after_hand"][i, j] = value
        won = within(win_table, i_deal, 0, dealer - j)
        for i in range(min(BEFORE_PLAY, pone)):
            value = 0.0
            for h in range(COUNT_SIZE):
                if s["pone_hand"][h] > 0.0:
                    after = won if h >= pone - i else s["after_hand"][i + h, j]
                    value += s["pone_hand"][h] * after
            s["after_pegging"][i, j] = value


@kernel
def before_pegging(win_table, i_deal, pone, dealer, model, s, i, j):
    """Return the value with ``pone - i`` and ``dealer - j`` points to make, 0 <= i, j <= 1.

    Args:
        model: the record `MODEL`. s: the scratch record after `fill_stages`.
    """
    a = pone - i
    b = dealer - j
    if a <= 0:
        return within(
            win_table, i_deal, 0, max(b, 1)
        )  # pone leads: of two without a way to go, first
    if b <= 0:
        return within(win_table, i_deal, a, 0)
    value = 0.0
    for p in range(min(PLAY_SIZE, a)):
        for d in range(min(PLAY_SIZE, b)):
            if model["pegging"][p, d] > 0.0:
                value += model["pegging"][p, d] * s["after_pegging"][i + p, j + d]
    if a <= MOST_PLAY:
        for d in range(min(PLAY_SIZE, b)):
            value += model["pone_out"][a, d] * within(win_table, i_deal, 0, b - d)
    if b <= MOST_PLAY:
        for p in range(min(PLAY_SIZE, a)):
            value += model["dealer_out"][b, p] * within(win_table, i_deal, a - p, 0)
    return value


@kernel
def expected_win(win_table, i_deal, pone, dealer, model, pone_more, dealer_more, s):
    """Return the value of the deal to this seat before the pegging.

    Args:
        win_table: the table of `win_table`. i_deal: 1 if this seat deals.
        pone: points pone still has to make. dealer: those the dealer has to.
        model: the record `MODEL`, with the pegging and going out in it.
        pone_more: points that pone is expected to peg beyond the mean of its role.
        dealer_more: the same of the dealer.
        s: the scratch record; its ``pone_hand``, ``dealer_hand`` and ``crib`` are the chances of
            what is counted, float64[30].
    """
    to_pone = after_shift(float(pone), pone_more)
    to_dealer = after_shift(float(dealer), dealer_more)
    a = floor(to_pone) + 1
    b = floor(to_dealer) + 1
    x = a - to_pone
    y = b - to_dealer
    fill_stages(win_table, i_deal, a, b, s)
    far = before_pegging(win_table, i_deal, a, b, model, s, 0, 0)
    pone_near = before_pegging(win_table, i_deal, a, b, model, s, 1, 0)
    dealer_near = before_pegging(win_table, i_deal, a, b, model, s, 0, 1)
    near = before_pegging(win_table, i_deal, a, b, model, s, 1, 1)
    return (1.0 - x) * ((1.0 - y) * far + y * dealer_near) + x * ((1.0 - y) * pone_near + y * near)
