"""The value of a discard: the exact mean hand, and what the network expects of crib and pegging.

The value is the exact mean hand, plus or minus the crib, plus the points of the pegging. The order
of the cards in the view changes no input: both decisions of a discard must give a pair one value.

If a seat may go out soon, the probability of winning the game decides instead. It follows the order
of the deal, as in `expert`: the pegging, pone's hand, the dealer's hand, the crib; the first to the
target wins (C5). The kept hand is known exactly. The networks predict the mean of the crib and of
the pegging. Their spread, and the other seat's hand, come from measurements over all deals
(`knowledge.two_hand.measured`). Everything except the kept hand is the same for every pair. So
those probabilities are computed beforehand, and lie behind the networks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import floor
from typing import Any

import numpy as np

from crib_agents.expert.two_hand.discard import after_shift
from crib_agents.knowledge.two_hand import measured
from crib_agents.knowledge.two_hand.measured import COUNT_SIZE
from crib_agents.knowledge.two_hand.winning import win_table
from crib_agents.learned.network import (
    MOST_INPUTS,
    bounded,
    forward,
    put,
    put_counts,
)
from crib_env.arrays import Doubles
from crib_env.engine import stack
from crib_env.engine.hands.counting import (
    DECK,
    dealt_card,
    starters_total,
)
from crib_env.engine.hands.records import GAME, MATCH
from crib_env.engine.jit import kernel
from crib_env.engine.show import JACK, KEYS, with_starter
from crib_env.rules import TwoHandRules

HELD = 0  # kept ranks, thermometer
DISCARDED = HELD + 52  # ranks of the pair: the first of a rank, then the second
PAIR = DISCARDED + 26  # which two ranks, one-hot
SUITED = PAIR + 91  # the pair is of one suit
FLUSH = SUITED + 1  # the hand kept is
MEAN = FLUSH + 1  # the mean hand over every starter not seen, in tens of points
DISCARD_INPUTS = MEAN + 1

# Where each two ranks stand among the 91.
CELLS = np.array([[b * (b + 1) // 2 + a for b in range(13)] for a in range(13)], dtype=np.int64)


@kernel
def mean_hand(v, table, low, high):
    """Return the exact mean of the kept hand, in points, if ``low`` and ``high`` are discarded."""
    return starters_total(v, table, low, high) / (DECK - v["hand_n"] - v["discarded_n"])


@kernel
def discard_features(v, low, high, mean, places, values):
    """Write what is seen of discarding the cards ``low`` < ``high``; return how many inputs."""
    held = 0
    suit = -1
    flush = 1
    for i in range(v["hand_n"] + v["discarded_n"]):
        card = dealt_card(v, i)
        if card != low and card != high:
            held += 1 << (4 * (card >> 2))
            if suit == -1:
                suit = card & 3
            elif suit != card & 3:
                flush = 0
    a = low >> 2
    b = high >> 2
    n = put_counts(places, values, 0, HELD, held)
    n = put_counts(places, values, n, DISCARDED, (1 << (4 * a)) + (1 << (4 * b)))
    n = put(places, values, n, PAIR + CELLS[a, b], 1.0)
    if low & 3 == high & 3:
        n = put(places, values, n, SUITED, 1.0)
    if flush:
        n = put(places, values, n, FLUSH, 1.0)
    return put(places, values, n, MEAN, mean / 10.0)


NEAR = 45  # points to make; where both seats have farther to go, points decide
PLAY = 11  # a seat's points of the pegging, 0 to 10; more, one deal in a hundred, count as ten
BEFORE = PLAY + 1  # scores after the pegging that matter, and one more to interpolate
GRID = BEFORE * BEFORE

# Where things stand in what `probabilities_of` makes.
TARGET = 0
MEAN_PEGS = 1  # by role, pone first, without heels
MEAN_CRIB = 3
BOTH_PEG = 4  # [pone's points, dealer's]: how likely they are in a whole play
PONE_OUT = BOTH_PEG + PLAY * PLAY  # the same when pone first has at least as many
CHANCES = PONE_OUT + PLAY * PLAY  # by this seat's role, then points pone has to make, the dealer's


def probabilities_of(rules_fields: Mapping[str, Any]) -> Doubles:
    """Return what the judge of the games of some rules knows, float64[K]."""
    heels = int(rules_fields.get("heels", TwoHandRules.heels))
    return _probabilities(int(rules_fields["dealt"]), int(rules_fields["target"]), heels)


@lru_cache(maxsize=8)
def _probabilities(dealt: int, target: int, heels: int) -> Doubles:
    deal = measured.load_outcomes(dealt, heels)
    points, counts = np.arange(measured.PLAY_SIZE), np.arange(COUNT_SIZE)
    pegs = deal.pegging.sum(axis=1) @ points, deal.pegging.sum(axis=0) @ points
    pegs = pegs[0], pegs[1] - heels * measured.JACK_TURNED
    known = [np.array([target, *pegs, deal.crib @ counts])]
    # A seat with this many points in the pegging may get more later: rows beyond are left.
    known += [_lumped(table).ravel() for table in (deal.pegging, deal.pone_out[:PLAY])]
    # By both's points to make, pone's chance.
    after = win_table(dealt, target, GAME, heels=heels)[0]
    known += [after_hand.ravel() for after_hand in _after_hands(after, deal)]
    found = np.concatenate(known)
    found.setflags(write=False)
    return found


def _lumped(table: Doubles) -> Doubles:
    """Return probabilities of the pegging's points, with those above ten counted as ten."""
    found = np.zeros((PLAY, PLAY))
    rows, columns = (np.arange(size).clip(max=PLAY - 1) for size in table.shape)
    np.add.at(found, (rows[:, None], columns[None, :]), table)
    return found


def _after_hands(after: Doubles, deal: measured.Outcomes) -> tuple[Doubles, Doubles]:
    """Return pone's probabilities after this seat's hand is counted, by points to make."""
    to_make = np.arange(len(after))
    total = np.convolve(deal.dealer_hand, deal.crib)
    by_total, by_crib = (
        sum(chance * after[:, (to_make - n).clip(0)] for n, chance in enumerate(probabilities))
        for probabilities in (total, deal.crib)
    )
    pone, dealer = np.asarray(by_total).copy(), np.zeros_like(after)
    before_crib = np.asarray(by_crib).copy()
    pone[0], pone[1:, 0] = 1.0, 0.0
    before_crib[:, 0] = 0.0
    before_crib[0] = 1.0
    for n, chance in enumerate(deal.pone_hand):
        dealer += chance * before_crib[(to_make - n).clip(0)]
    return pone, dealer


@kernel
def is_near(v):
    """Return whether a pair is to be judged by the probability of winning."""
    if v["episode"] != GAME and v["episode"] != MATCH:
        return False
    return min(v["target"] - v["scores"][0], v["target"] - v["scores"][1]) <= NEAR


@kernel
def hand_probabilities(v, table, low, high, probabilities):
    """Write the probability of each number of points of the kept hand, float64[COUNT_SIZE]."""
    key = 0
    suits = 0
    jacks = 0
    seen = 0
    dealt = v["hand_n"] + v["discarded_n"]
    for i in range(dealt):
        card = dealt_card(v, i)
        seen |= 1 << card
        if card != low and card != high:
            key += KEYS[card >> 2]
            suits += 1 << (8 * (card & 3))
            if card >> 2 == JACK:
                jacks |= 1 << (card & 3)
    for points in range(COUNT_SIZE):
        probabilities[points] = 0.0
    for starter in range(DECK):
        if not seen >> starter & 1:
            points = with_starter(table, key, suits, jacks, dealt - 2, starter, v["flush_size"])
            probabilities[points] += 1.0
    for points in range(COUNT_SIZE):
        probabilities[points] /= DECK - dealt


@kernel
def chance_at(known, role, pone, dealer):
    """Return pone's chance once the hand of ``role`` is counted, linear in the dealer's way."""
    if pone <= 0:
        return 1.0
    last = int(known[TARGET])
    row = CHANCES + (role * (last + 1) + min(pone, last)) * (last + 1)
    low = floor(dealer)
    if low < 0:
        return known[row]
    if low >= last:
        return known[row + last]
    more = dealer - low
    return (1.0 - more) * known[row + low] + more * known[row + low + 1]


@kernel
def before_pegging(known, pone, dealer, i, j, after):
    """Return pone's chance before the pegging, ``pone - i`` and ``dealer - j`` points to make.

    Shapes: after float64[BEFORE * BEFORE].
    """
    a = pone - i
    b = dealer - j
    if a <= 0:
        return 1.0  # pone leads: of two without a way to go the first
    if b <= 0:
        return 0.0
    chance = 0.0
    for p in range(min(PLAY, a)):
        for d in range(min(PLAY, b)):
            chance += known[BOTH_PEG + PLAY * p + d] * after[BEFORE * (i + p) + j + d]
    if a < PLAY:
        for d in range(min(PLAY, b)):
            chance += known[PONE_OUT + PLAY * a + d]
    return chance


@kernel
def pair_chance(v, table, known, low, high, crib, mine, theirs):
    """Return the probability of winning the game if ``low`` and ``high`` are discarded.

    Args:
        known: float64[K], of `probabilities_of`.
        crib: the points expected of the crib. mine, theirs: those of the pegging.
    """
    role = 1 - v["dealer"]
    probabilities = stack.floats(COUNT_SIZE)
    after = stack.floats(GRID)
    hand_probabilities(v, table, low, high, probabilities)
    own = v["target"] - v["scores"][0]
    other = v["target"] - v["scores"][1]
    more = bounded(mine) - known[MEAN_PEGS + role]
    let = bounded(theirs) - known[MEAN_PEGS + 1 - role]
    if role:
        to_pone = after_shift(float(other), let)
        to_dealer = after_shift(float(own), more)
    else:
        to_pone = after_shift(float(own), more)
        to_dealer = after_shift(float(other), let)
    pone = floor(to_pone) + 1
    dealer = floor(to_dealer) + 1
    crib = bounded(crib) - known[MEAN_CRIB]
    for i in range(min(BEFORE, pone)):
        for j in range(min(BEFORE, dealer)):
            chance = 0.0
            for points in range(COUNT_SIZE):
                if probabilities[points] > 0.0:
                    if role:
                        left = dealer - j - points
                        then = chance_at(known, 1, pone - i, left - crib if left > 0 else 0.0)
                    else:
                        then = chance_at(known, 0, pone - i - points, max(dealer - j - crib, 0.5))
                    chance += probabilities[points] * then
            after[BEFORE * i + j] = chance
    x = pone - to_pone
    y = dealer - to_dealer
    far = before_pegging(known, pone, dealer, 0, 0, after)
    pone_near = before_pegging(known, pone, dealer, 1, 0, after)
    dealer_near = before_pegging(known, pone, dealer, 0, 1, after)
    near = before_pegging(known, pone, dealer, 1, 1, after)
    chance = (1.0 - x) * ((1.0 - y) * far + y * dealer_near)
    chance += x * ((1.0 - y) * pone_near + y * near)
    return 1.0 - chance if role else chance


JUDGE = 3  # where the nets have what the judge knows, see `probabilities_of`
CRIB, MY_PLAY, THEIR_PLAY = range(3)  # what a net puts out


@kernel
def expect_pair(v, table, weights, low, high, expected):
    """Write what the net expects of discarding a pair, float64[3]; return the mean hand."""
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    mean = mean_hand(v, table, low, high)
    n = discard_features(v, low, high, mean, places, values)
    forward(weights, int(weights[1 - v["dealer"]]), places, values, n, expected)
    return mean


@kernel
def pair_value(v, table, weights, low, high):
    """Return the value of discarding a pair, in points; ``weights`` begin with the nets."""
    expected = stack.floats(3)
    mean = expect_pair(v, table, weights, low, high, expected)
    crib = -expected[CRIB] if v["dealer"] else expected[CRIB]
    return mean + crib + expected[MY_PLAY] - expected[THEIR_PLAY]


@kernel
def pair_win_value(v, table, weights, low, high):
    """Return `pair_value`, or the probability of winning the game where a seat may go out soon."""
    if not is_near(v):
        return pair_value(v, table, weights, low, high)
    expected = stack.floats(3)
    expect_pair(v, table, weights, low, high, expected)
    return pair_chance(
        v, table, weights[int(weights[JUDGE]) :], low, high, expected[CRIB], expected[MY_PLAY],
        expected[THEIR_PLAY],
    )  # fmt: skip
