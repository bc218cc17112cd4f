"""How `rule_based` plays the games for three and four.

It discards by the exact mean of the hand, plus or minus the mean of the crib with that card. It
pegs what a card makes, less what the seats after it are likely to peg on it: each is taken to hold
any unseen card, and to score if it can. A partner's points count for this side, not against it.
"""

from __future__ import annotations

from crib_env.engine.counting import (
    DECK,
    hand_total,
    sequence_of,
    sequence_points,
    unseen_ranks,
)
from crib_env.engine.jit import kernel
from crib_env.engine.many_hand.counting import certain_points
from crib_env.engine.record import NONE
from crib_env.engine.show import pip

RANKS = 13
REPLY = 0.8  # what a point that the next seat may peg counts: it may play another card
LATER = 0.3  # the same of the seat after it: what that pegs depends on the card between
GO = 1.0  # the point for a go, by how likely nobody else has a card that fits
LOW = 0.1  # a card below five is kept, for each pip below: low cards win the go later
WIN = 1000.0  # more than any sum of the parts: a card that wins the game is played


@kernel
def crib_with(weights, card):
    """Return a mean crib with a card: over all ranks beside it, by the chart of six-card pone."""
    total = 0.0
    r = card >> 2
    for other in range(RANKS):
        total += weights[RANKS * min(r, other) + max(r, other)]
    return total / RANKS


@kernel
def best_discard(v, table, weights):
    """Return the card of the best mean hand and crib; of equals the higher."""
    mine = v["side_of"][v["dealer"]] == 0
    best = NONE
    most = 0.0
    for i in range(v["hand_n"]):
        card = v["hand"][i]
        value = hand_total(v, table, card, card, 1) / (DECK - v["hand_n"])
        crib = crib_with(weights, card)
        value += crib if mine else -crib
        if best == NONE or value > most or (value == most and card > best):
            best = card
            most = value
    return best


@kernel
def danger(v, sequence, n, count, unseen, cards):
    """Return what follows a card, to the gain of this side: the next seats' points, and the go.

    Args:
        sequence, n, count: the play with that card.
        unseen: the ranks not seen. cards: how many cards that is.
    """
    gain = 0.0
    nobody = 1.0  # how likely no seat so far has a card that fits
    worth = REPLY
    for seat in range(1, v["players"]):
        held = v["held_n"][seat]
        if held == 0 or v["passed"] >> seat & 1:
            continue
        fits = 0.0
        scoring = 0.0
        points = 0.0
        for r in range(RANKS):
            total = count + min(r + 1, 10)
            if total > 31:
                break
            share = (unseen >> (4 * r) & 15) / cards
            fits += share
            made = sequence_points(sequence << 4 | r, n + 1, total, 0)
            if made > 0 and share > 0.0:
                chance = min(1.0, held * share)
                scoring += chance
                points += chance * made
        points /= max(1.0, scoring)  # it plays one card, however many would score
        # What one of several other sides gains, this one loses only in part.
        sign = 1.0 if v["side_of"][seat] == 0 else -1.0 / (v["sides"] - 1)
        gain += sign * worth * points
        worth = LATER
        nobody *= (1.0 - min(1.0, fits)) ** held
    return gain + GO * nobody


@kernel
def best_card(v):
    """Return the legal card of the highest value, of equals the higher."""
    unseen = unseen_ranks(v)
    cards = 0
    for r in range(RANKS):
        cards += unseen >> (4 * r) & 15
    sequence = sequence_of(v)
    n = v["pile_n"] - v["pile_from"] + 1
    best = NONE
    most = 0.0
    for k in range(v["hand_n"]):
        if not v["legal"] >> k & 1:
            continue
        card = v["hand"][k]
        count = v["count"] + pip(card)
        now = certain_points(v, k, sequence)
        value = float(now)
        if v["count"] > 0:
            value -= LOW * max(0, 5 - pip(card))
        if now >= v["target"] - v["scores"][0]:
            value += WIN
        if count < 31:
            value += danger(v, sequence << 4 | card >> 2, n, count, unseen, cards)
        if best == NONE or value > most or (value == most and card > best):
            best = card
            most = value
    return best
