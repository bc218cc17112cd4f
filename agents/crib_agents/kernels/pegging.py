"""How `rule_based` pegs: points now, minus those of the likely reply, plus those of its answer.

It assumes that the other seat may hold any unseen card, weighted by how often players keep its
rank, and scores if it can. The rules that beginners learn follow from that: do not lead a five or
leave a count of 5 or 21 (sixteen cards count ten), do not pair up or build runs cheaply, lead from
a pair or a low card, take pairs when a third is unlikely. `HEURISTICS` weighs the parts.
"""

from __future__ import annotations

from crib_agents.data.tables import RANKS
from crib_agents.kernels.discard import CELLS, CHARTS, pair_table_of
from crib_env.engine.hands.counting import (
    alone,
    best_answer,
    certain_points,
    least_pip,
    sequence_of,
    sequence_points,
    unseen_ranks,
)
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.show import pip

HEURISTICS: tuple[tuple[str, float, str], ...] = (
    ("reply", 0.8, "a point the other is likely to peg next costs less than one: it may be wrong"),
    ("answer", 0.6, "a point we could answer with: less still, for it may play something else"),
    ("go", 1.0, "the point for a go or last, by how likely the other has no card that fits"),
    ("low", 0.1, "a card below five is kept, for each pip below: low cards win the go later"),
    ("lead", 0.2, "the same for a lead where there is one count: after 31 none comes to use it in"),
)

# Where the weights hold what: the charts of cribs, how often each rank is kept, `HEURISTICS`.
KEEPING_RATES = CHARTS * CELLS
REPLY = KEEPING_RATES + CHARTS * RANKS
ANSWER = REPLY + 1
GO = REPLY + 2
LOW = REPLY + 3
LEAD = REPLY + 4
WIN = 1000.0  # more than any sum of the parts: a card that wins the game is played


@kernel
def held_weight(v, weights, unseen, r):
    """Return the weight of rank ``r`` among the cards the other seat may hold."""
    chart = pair_table_of(v, v["dealer"])
    return (unseen >> (4 * r) & 15) * weights[KEEPING_RATES + RANKS * chart + r]


@kernel
def after(v, weights, k, sequence, count, go, unseen, least, total):
    """Return what is likely to follow ``hand[k]`` in this count, to this seat's gain.

    Args:
        sequence, count, go: the count's cards with that card, the count, whether the go is pegged.
        unseen: the ranks not seen. least: the least pip value the other seat may hold.
        total: the weight of all the cards it may hold.
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
        p = min(r + 1, 10)
        share = held_weight(v, weights, unseen, r) / total
        if p < least or count + p > 31 or share == 0.0:
            continue
        fits += share
        reply = sequence << 4 | r
        points = sequence_points(reply, n + 1, count + p, go)
        answer = best_answer(v, k, reply, n + 1, count + p, go)
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
    value = weights[ANSWER] * answers - weights[REPLY] * loss
    if go == 0:
        value += weights[GO] * no_fit
    return value


@kernel
def best_card(v, weights):
    """Return the legal card of the highest value, of equals the higher."""
    unseen = unseen_ranks(v)
    least = least_pip(v)
    total = 0.0
    for r in range(RANKS):
        if min(r + 1, 10) >= least:
            total += held_weight(v, weights, unseen, r)
    sequence = sequence_of(v)
    mine_alone = alone(v)
    best = NONE
    most = 0.0
    for k in range(v["hand_n"]):
        if not v["legal"] >> k & 1:
            continue
        card = v["hand"][k]
        count = v["count"] + pip(card)
        longer = sequence << 4 | card >> 2
        now = certain_points(v, k, sequence)
        value = float(now)
        low = max(0, 5 - pip(card))
        if v["count"] > 0:
            value -= weights[LOW] * low
        elif v["single_count"]:
            value -= weights[LEAD] * low
        if now >= v["target"] - v["scores"][0]:
            value += WIN
        if count < 31 and mine_alone:
            n = v["pile_n"] - v["pile_from"] + 1
            # A go the other seat could not answer has been pegged, or is by this card.
            value += best_answer(v, k, longer, n, count, 1 - v["single_count"])
        elif count < 31 and total > 0.0:
            value += after(v, weights, k, longer, count, v["go"], unseen, least, total)
        if best == NONE or value > most or (value == most and card > best):
            best = card
            most = value
    return best
