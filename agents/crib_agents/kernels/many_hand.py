"""How `rule_based` plays the games for three and four.

It discards by the exact mean of the hand, plus or minus the mean of the crib with that card
(`python -m research.tables many_hand_cribs`). The value of a card in the pegging is its points,
minus the likely points of the next two seats, plus its own likely answer, plus the value of the
cards it keeps. It assumes that a seat may hold any unseen card except those that it would have
played, and scores if it can. A seat's plays and passes limit the cards it may hold. The agent
ignores the score: points of every other side count the same. Weighting them by how near that side
is to winning made no measurable difference.
"""

from __future__ import annotations

from crib_agents.kernels.two_hand import CHARTS_SIZE, WIN
from crib_env.engine.hands import counting
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import DECK, RANKS, pips
from crib_env.engine.record import NONE
from crib_env.engine.show import pip

CRIBS = CHARTS_SIZE  # offset of the mean cribs in the weights: by players, own side's or not, rank

# Values in the pegging, in points.
NEXT = 0.7  # a likely point of the next seat: below 1, because it may play another card
THEN = 0.6  # a likely point of the seats after it
ANSWER = 0.3  # a point of this seat's own next card
GO = 0.5  # the point for a go, times the probability that no other seat has a card that fits
LOW = 0.03  # value of a card in hand beyond one a rank higher: it fits more counts
ACE = 0.12  # extra value of an ace: it fits nearly always, and makes 31 of 30
PAIR = 0.3  # another card of the rank in hand, to pair a card that pairs this one
FIFTEEN = 0.2  # a card in hand that would make the count 15


@kernel
def stake(v, seat):
    """Return the value to this seat of a point of ``seat``: negative, or 0 for a partner."""
    return 0.0 if v["side_of"][seat] == 0 else -1.0 / (v["sides"] - 1)


@kernel
def kept_value(v, table, weights, card):
    """Return the mean points of the hand without a card, plus or minus the mean crib with it."""
    own = v["side_of"][v["dealer"]] == 0
    chart = CRIBS + RANKS * (2 * (v["players"] - 3) + own)
    share = 1.0 if own else stake(v, v["dealer"])
    hand = counting.starters_total(v, table, card, card) / (DECK - v["hand_n"])
    return hand + share * weights[chart + (card >> 2)]


@kernel
def best_discard(v, table, weights):
    """Return the card with the highest `kept_value` to discard; of equal cards, the higher."""
    best = NONE
    most = 0.0
    for i in range(v["hand_n"]):
        card = v["hand"][i]
        value = kept_value(v, table, weights, card)
        if best == NONE or value > most or (value == most and card > best):
            best = card
            most = value
    return best


@kernel
def on_sequence(v, k, seat, sequence, n, count, unseen, known):
    """Return the value to this seat of the next card, by ``seat`` or the first that can play."""
    gain = 0.0
    reached = 1.0
    while seat:
        gain += reached * THEN * stake(v, seat) * counting.reply(v, seat, sequence, n, count, unseen, known)
        reached *= counting.no_fit(v, seat, count, unseen, known)
        seat = counting.able(v, seat + 1)
    return gain + reached * ANSWER * counting.best_answer(v, k, sequence, n, count, 0)


@kernel
def after(v, k, sequence, n, count, unseen, known):
    """Return this side's expected later points in this count after ``hand[k]``."""
    gain = 0.0
    nobody = 1.0  # probability that no seat so far has a card that fits
    seat = counting.able(v, 1)
    while seat:
        cards = counting.cards_of(unseen, known, seat)
        held = v["held_n"][seat]
        mine = stake(v, seat)
        then = counting.able(v, seat + 1)
        scoring = 0.0
        gained = 0.0
        quiet = 0.0
        followed = 0.0
        fits = 0.0
        for r in range(RANKS):
            total = count + pips(r)
            if total > 31:
                break
            share = counting.share_of(unseen, r, known, seat) / cards
            if share == 0.0:
                continue
            fits += share
            longer = sequence << 4 | r
            made = counting.sequence_points(longer, n + 1, total, 0)
            follows = on_sequence(v, k, then, longer, n + 1, total, unseen, known)
            if total == 31:
                follows = 0.0
            if made > 0:
                chance = min(1.0, held * share)
                scoring += chance
                gained += chance * (mine * NEXT * made + follows)
            else:
                quiet += share
                followed += share * follows
        cannot = max(0.0, 1.0 - fits) ** held
        gained /= max(1.0, scoring)
        if quiet > 0.0:
            gained += max(0.0, 1.0 - scoring - cannot) * followed / quiet
        gain += nobody * gained
        nobody *= cannot
        seat = then
    return gain + nobody * (GO + ANSWER * counting.best_answer(v, k, sequence, n, count, 0))


@kernel
def value_left(v, k, count):
    """Return the value of the cards left in hand when ``hand[k]`` brings the count to ``count``.

    It is fitted to the points that followed in self-play with some random cards.
    """
    rank = v["hand"][k] >> 2
    value = LOW * rank - ACE * (rank == 0)
    fifteen = 0
    for i in range(v["hand_n"]):
        if i != k:
            value += PAIR * (v["hand"][i] >> 2 == rank)
            fifteen |= count + pip(v["hand"][i]) == 15
    return value + FIFTEEN * fifteen


@kernel
def best_card(v):
    """Return the legal card with the highest value; of equal cards, the higher."""
    unseen = counting.unseen_ranks(v)
    known = counting.known_of(v)
    sequence = counting.sequence_of(v)
    n = v["pile_n"] - v["pile_from"] + 1
    best = NONE
    most = 0.0
    for k in range(v["hand_n"]):
        if not v["legal"] >> k & 1:
            continue
        card = v["hand"][k]
        count = v["count"] + pip(card)
        now = counting.certain_points(v, k, sequence)
        value = float(now)
        value += value_left(v, k, count)
        if now >= v["target"] - v["scores"][0]:
            value += WIN
        if count < 31:
            value += after(v, k, sequence << 4 | card >> 2, n, count, unseen, known)
        if best == NONE or value > most or (value == most and card > best):
            best = card
            most = value
    return best
