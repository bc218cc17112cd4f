"""How `rule_based` plays the two-hand games: pairs to discard, and the card to play.

Discarding is two decisions of one card. Both look for the best pair among all the cards dealt,
the second among the pairs with the card already discarded, so they agree on one pair. Values of a
pair must not depend on the order of the cards, or the two decisions could differ by rounding.

It pegs by the points now, minus those of the likely reply, plus those of its answer. It assumes
that the other seat may hold any unseen card, weighted by how often players keep its rank, and
scores if it can. The rules that beginners learn follow from that: do not lead a five or leave a
count of 5 or 21 (sixteen cards count ten), do not pair up or build runs cheaply, lead from a pair
or a low card, take pairs when a third is unlikely. Constants below weigh the parts.
"""

from __future__ import annotations

from crib_agents.data.tables import DEALT, ROLES
from crib_env.engine.hands import counting
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import RANKS, pips
from crib_env.engine.record import NONE
from crib_env.engine.show import pip

# A chart has 13x13 numbers for the two cards a seat discards, one chart for each game and role. It
# is laid out like poker charts: the higher rank's row and the lower's column for two cards of one
# suit, the lower's row and the higher's column for two suits, the diagonal for two of a rank.
CELLS = RANKS * RANKS
CHARTS = len(DEALT) * len(ROLES)


@kernel
def game_of(v):
    """Return the index in `DEALT` of the game of the view ``v``; tables are in that order."""
    return DEALT[0] - v["dealt"]


@kernel
def pair_table_of(v, is_dealer):
    """Return the index of a role's chart in the game of the view ``v``: six-card pone's is 0."""
    return len(ROLES) * game_of(v) + is_dealer


@kernel
def cell(low, high):
    """Return the index in a chart of the pair of card ids ``low`` < ``high``."""
    a = low >> 2
    b = high >> 2
    return RANKS * b + a if low & 3 == high & 3 else RANKS * a + b


@kernel
def sort_dealt(v, cards):
    """Write the cards dealt to the seat into ``cards``, sorted by id; return their number."""
    n = v["hand_n"] + v["discarded_n"]
    for i in range(n):
        card = counting.dealt_card(v, i)
        j = i
        while j > 0 and cards[j - 1] > card:
            cards[j] = cards[j - 1]
            j -= 1
        cards[j] = card
    return n


def choose_pair(pair_value):
    """Return a kernel that finds the best pair, ``64 * higher + lower``; ties: higher cards."""

    @kernel
    def best_pair(v, table, weights):
        n = v["hand_n"] + v["discarded_n"]
        best = NONE
        most = 0.0
        for j in range(n):
            if v["discarded_n"] == 1 and j < n - 1:
                continue  # the discarded card is the last `dealt_card`; pairs must contain it
            for i in range(n if v["discarded_n"] == 1 else j):
                if i == j:
                    continue
                low = min(counting.dealt_card(v, i), counting.dealt_card(v, j))
                high = max(counting.dealt_card(v, i), counting.dealt_card(v, j))
                value = pair_value(v, table, weights, low, high)
                pair = 64 * high + low
                if best == NONE or value > most or (value == most and pair > best):
                    best = pair
                    most = value
        return best

    return best_pair


@kernel
def card_of(v, pair):
    """Return the card of a pair to discard now: the higher card first, then the other."""
    high = pair >> 6
    return pair & 63 if v["discarded_n"] == 1 and v["discarded"][0] == high else high


def discard_by(pair_value):
    """Return a kernel ``discard(view, table, weights) -> card``; see `choose_pair`."""
    best_pair = choose_pair(pair_value)

    @kernel
    def discard(v, table, weights):
        return card_of(v, best_pair(v, table, weights))

    return discard


# Offsets in the weights: the charts of cribs (at 0), then how often each rank is kept.
KEEPING_RATES = CHARTS * CELLS
CHARTS_SIZE = KEEPING_RATES + CHARTS * RANKS

# Values in the pegging, in points.
REPLY = 0.8  # a likely point of the other seat's next card: below 1, because it may err
ANSWER = 0.6  # a point of this seat's answer: less, because the other may play another card
GO = 1.0  # the point for a go or last, times the probability that the other has no card that fits
LOW = 0.1  # keeping a card below five, for each pip below: low cards win the go later
LEAD = 0.2  # the same for a lead in games with a single count: no later count can use it
WIN = 1000.0  # more than any sum of the parts: a card that wins the game is played


@kernel
def held_weight(v, weights, unseen, r):
    """Return the weight of rank ``r`` among the cards that the other seat may hold."""
    chart = pair_table_of(v, v["dealer"])
    return (unseen >> (4 * r) & 15) * weights[KEEPING_RATES + RANKS * chart + r]


@kernel
def after(v, weights, k, sequence, count, go, unseen, least, total):
    """Return this seat's expected later points in this count after ``hand[k]``.

    The other seat holds pips of ``least`` or more; ``total`` is the weight of all it may hold.
    """
    n = v["pile_n"] - v["pile_from"] + 1
    held = v["held_n"][1]
    fits = 0.0
    scoring = 0.0
    loss = 0.0
    answers = 0.0
    quiet = 0.0
    quiet_answers = 0.0
    for r in range(RANKS):
        p = pips(r)
        share = held_weight(v, weights, unseen, r) / total
        if p < least or count + p > 31 or share == 0.0:
            continue
        fits += share
        reply = sequence << 4 | r
        points = counting.sequence_points(reply, n + 1, count + p, go)
        answer = counting.best_answer(v, k, reply, n + 1, count + p, go)
        if points > 0:
            chance = min(1.0, held * share)
            scoring += chance
            loss += chance * points
            answers += chance * answer
        else:
            quiet += share
            quiet_answers += share * answer
    if scoring > 1.0:  # it plays one card, however many would score
        loss /= scoring
        answers /= scoring
        scoring = 1.0
    no_fit = (1.0 - min(1.0, fits)) ** held
    if quiet > 0.0:
        answers += max(0.0, 1.0 - scoring - no_fit) * quiet_answers / quiet
    value = ANSWER * answers - REPLY * loss
    if go == 0:
        value += GO * no_fit
    return value


@kernel
def best_card(v, weights):
    """Return the legal card with the highest value; of equal cards, the higher."""
    unseen = counting.unseen_ranks(v)
    least = counting.least_pip(v)
    total = 0.0
    for r in range(RANKS):
        if pips(r) >= least:
            total += held_weight(v, weights, unseen, r)
    sequence = counting.sequence_of(v)
    mine_alone = counting.alone(v)
    best = NONE
    most = 0.0
    for k in range(v["hand_n"]):
        if not v["legal"] >> k & 1:
            continue
        card = v["hand"][k]
        count = v["count"] + pip(card)
        longer = sequence << 4 | card >> 2
        now = counting.certain_points(v, k, sequence)
        value = float(now)
        low = max(0, 5 - pip(card))
        if v["count"] > 0:
            value -= LOW * low
        elif v["single_count"]:
            value -= LEAD * low
        if now >= v["target"] - v["scores"][0]:
            value += WIN
        if count < 31 and mine_alone:
            n = v["pile_n"] - v["pile_from"] + 1
            # The other seat's go is pegged already, or by this card.
            value += counting.best_answer(v, k, longer, n, count, 1 - v["single_count"])
        elif count < 31 and total > 0.0:
            value += after(v, weights, k, longer, count, v["go"], unseen, least, total)
        if best == NONE or value > most or (value == most and card > best):
            best = card
            most = value
    return best
