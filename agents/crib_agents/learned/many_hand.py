"""The learned agent for three and four: certain points, and what its network adds.

The certain value of a discard is the exact mean hand, that of a card played its points. The network
predicts the points that follow in pegging and crib, this side's less the mean of the others'. It
ignores the score, but takes a card that wins the game.

The others' cards are unknown. So each rank that the next seat may hold stands for a reply, with its
points and its share of the unseen cards, and each seat with its likely points at once.
"""

from __future__ import annotations

import numpy as np
from numba import float64, void

from crib_agents.kernels.many_hand import kept_value
from crib_agents.kernels.two_hand import WIN
from crib_agents.knowledge.pegging import held_ranks
from crib_agents.learned import network
from crib_agents.learned.network import MOST_INPUTS, UNLIKELY, LearnedFamily, Net
from crib_agents.rule_based import default_weights
from crib_env.arrays import Array, Doubles
from crib_env.engine import stack
from crib_env.engine.hands import counting
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import entry, kernel
from crib_env.engine.many_hand import HAND, SEATS, VIEWS_T
from crib_env.engine.ranks import DECK
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.show import pip, show_table
from crib_env.policy import CompiledAgent, Views

# The dealer, in seats to the left, while cards are discarded; then while they are played.
DEALER = 0
KEPT = DEALER + 2 * SEATS  # discarding: ranks kept, thermometer
LAID = KEPT + 52  # the rank discarded
HELD = LAID + 13  # playing: ranks still held, thermometer
SEQUENCE = HELD + 52  # ranks of this count, newest first, one-hot
COUNT = SEQUENCE + 6 * 13  # the count, one-hot
HELD_N = COUNT + 32  # how many cards each seat holds, this one first, one-hot
PASSED = HELD_N + SEATS * 5  # which seats play no more in this count
UNSEEN = PASSED + SEATS  # of each rank how many are not seen, in fourths
NOW = UNSEEN + 13  # points of the card now, in fours
# Of each rank of the next seat's reply:
REPLY = NOW + 1  # its points, in fours
SHARE = REPLY + 13  # its share of the cards that seat may hold, times four; 0 if it does not fit
RISK = SHARE + 13  # share times score
# Of each seat:
LIKELY = RISK + 13  # its likely points at once, in fours
CANNOT = LIKELY + SEATS  # how likely it has no card that fits
INPUTS = CANNOT + SEATS


@kernel
def card_features(v, k, now, places, values):
    """Write the inputs of ``hand[k]``; return how many are not 0."""
    rank = v["hand"][k] >> 2
    rest = held_ranks(v) - (1 << (4 * rank))
    if v["phase"] == DISCARD:
        n = network.put(places, values, 0, DEALER + v["dealer"], 1.0)
        n = network.put_counts(places, values, n, KEPT, rest)
        return network.put(places, values, n, LAID + rank, 1.0)
    n = network.put(places, values, 0, DEALER + SEATS + v["dealer"], 1.0)
    n = network.put_counts(places, values, n, HELD, rest)
    sequence = counting.sequence_of(v) << 4 | rank
    length = v["pile_n"] - v["pile_from"] + 1
    count = v["count"] + pip(v["hand"][k])
    for i in range(min(6, length)):
        n = network.put(places, values, n, SEQUENCE + 13 * i + (sequence >> (4 * i) & 15), 1.0)
    n = network.put(places, values, n, COUNT + count, 1.0)
    for seat in range(v["players"]):
        n = network.put(places, values, n, HELD_N + 5 * seat + v["held_n"][seat], 1.0)
        if v["passed"] >> seat & 1:
            n = network.put(places, values, n, PASSED + seat, 1.0)
    unseen = counting.unseen_ranks(v)
    for r in range(13):
        n = network.put(places, values, n, UNSEEN + r, (unseen >> (4 * r) & 15) / 4.0)
    if now:
        n = network.put(places, values, n, NOW, now / 4.0)
    if count == 31:
        return n
    return reply_features(v, sequence, length, count, unseen, places, values, n)


@kernel
def reply_features(v, sequence, length, count, unseen, places, values, n):
    """Write the others' replies to the card behind the first ``n`` inputs; return their number."""
    known = counting.known_of(v)
    seat = counting.able(v, 1)
    if seat:
        cards = counting.cards_of(unseen, known, seat)
        for r in range(13):
            total = count + min(r + 1, 10)
            share = counting.share_of(unseen, r, known, seat) / cards
            if total > 31 or share == 0.0:
                continue
            n = network.put(places, values, n, SHARE + r, 4.0 * share)
            points = counting.sequence_points(sequence << 4 | r, length + 1, total, 0)
            if points:
                n = network.put(places, values, n, REPLY + r, points / 4.0)
                n = network.put(places, values, n, RISK + r, points * share)
    while seat:
        likely = counting.reply(v, seat, sequence, length, count, unseen, known)
        n = network.put(places, values, n, LIKELY + seat, likely / 4.0)
        n = network.put(
            places, values, n, CANNOT + seat, counting.no_fit(v, seat, count, unseen, known)
        )
        seat = counting.able(v, seat + 1)
    return n


FAMILY_BIT = 1 << 20  # no other family's keys are so large


@kernel
def rules_key(v):
    """Return a number for the view's rules that the net depends on: players, flushes."""
    return FAMILY_BIT | v["players"] << 8 | v["flush_size"] << 4 | v["crib_flush_size"]


@kernel
def certain(v, table, k):
    """Return the certain value of ``hand[k]``: the mean hand without it, or its points now."""
    if v["phase"] == DISCARD:
        card = v["hand"][k]
        return counting.hand_total(v, table, card, card, 1) / (DECK - v["hand_n"])
    return float(counting.certain_points(v, k, counting.sequence_of(v)))


@kernel
def card_values(v, table, weights, now, values):
    """Write the value of each card that may be used; ``weights`` begin with the net."""
    places = stack.ints(MOST_INPUTS)
    inputs = stack.floats(MOST_INPUTS)
    follows = stack.floats(1)
    for k in range(HAND):
        values[k] = UNLIKELY
        if k < v["hand_n"] and v["legal"] >> k & 1:
            now[k] = certain(v, table, k)
            n = card_features(v, k, now[k], places, inputs)
            network.forward(weights, int(weights[0]), places, inputs, n, follows)
            values[k] = now[k] + follows[0]


@kernel
def highest(v, now, values):
    """Return the card of the highest value; one whose play wins the game before all others."""
    need = v["target"] - v["scores"][0]
    best = NONE
    most = UNLIKELY
    for k in range(v["hand_n"]):
        if not v["legal"] >> k & 1:
            continue
        wins = v["phase"] != DISCARD and values[k] != UNLIKELY and now[k] >= need
        value = values[k] + WIN if wins else values[k]
        if best == NONE or value > most:
            best = v["hand"][k]
            most = value
    return best


@kernel
def act(v, rng, table, weights):
    """Return the learned card for the view ``v``; NONE under rules it has no net for."""
    at = network.offset_of_rules(weights, rules_key(v))
    if at == NONE:
        return NONE
    now = stack.floats(HAND)
    values = stack.floats(HAND)
    card_values(v, table, weights[at:], now, values)
    return highest(v, now, values)


@kernel
def write_values(v, table, weights, values):
    """Write the value of each card that may be used, float64[52]; others stay as they are."""
    now = stack.floats(HAND)
    found = stack.floats(HAND)
    card_values(v, table, weights, now, found)
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            values[v["hand"][k]] = found[k]


FAMILY = LearnedFamily(
    name="many_hand",
    nets={"card": Net("many_hand.card", 2, INPUTS, outputs=1)},
    fields=("players", "flush_size", "crib_flush_size"),
    rules_key=rules_key,
    act=act,
    values=write_values,
)
"""What `crib_agents.learned.agent` needs to play these games."""


# --- every choice, for `crib_agents.analyze` ------------------------------------------------------
# A value is the points that a card brings in the rest of the deal, less the mean of the other
# sides. The probability of winning follows by a formula: the log of a side's odds against another
# is `PER_POINT` times the points it is ahead, over the square root of the mean points that sides
# still need, plus `ADDED`. Games of `rule_based` fit it (docs/agents.md).

PER_POINT = 0.95
ADDED = 2.0
# Columns of a card: its certain value, that and the mean crib, its value, the chance of winning.
CERTAIN, WITH_CRIB, VALUE, CHANCE = range(4)
COLUMNS = CHANCE + 1


@entry(
    void(VIEWS_T, TABLE_T, WEIGHTS_T, WEIGHTS_T, float64[:, :, ::1]),
    "learned.many_hand.columns",
    seconds=8,
)
def write_columns(views, table, weights, nets, found):
    """Write all columns but the last, float64[B, HAND, COLUMNS], of cards that may be used.

    ``weights`` are `rule_based`'s, ``nets`` are `learned`'s. Rules without nets leave NaN.
    """
    now = stack.floats(HAND)
    values = stack.floats(HAND)
    for i in range(views.shape[0]):
        v = views[i]
        at = network.offset_of_rules(nets, rules_key(v))
        if at == NONE:
            continue
        card_values(v, table, nets[at:], now, values)
        for k in range(v["hand_n"]):
            if v["legal"] >> k & 1:
                found[i, k, CERTAIN] = now[k]
                found[i, k, VALUE] = values[k]
                if v["phase"] == DISCARD:
                    found[i, k, WITH_CRIB] = kept_value(v, table, weights, v["hand"][k])


def columns(views: Views, learned: CompiledAgent) -> Doubles:
    """Return the columns of each card held, float64[B, HAND, COLUMNS]; NaN where illegal.

    Raises:
        ValueError: rules that ``learned`` has no networks for.
    """
    found = np.full((len(views), HAND, COLUMNS), np.nan)
    views = np.ascontiguousarray(views)
    write_columns(views, show_table(), default_weights(), learned.weights, found)
    if np.isnan(found[..., VALUE]).all(axis=1).any():
        shown = {name: views[name][0].item() for name in ("players", "flush_size")}
        raise ValueError(f"{learned.name} has no networks for these rules ({shown}): "
                         "their choices have no values")  # fmt: skip
    need = views["target"] - views["scores"][:, 0]
    wins = (views["phase"] != DISCARD)[:, None] & (found[..., CERTAIN] >= need[:, None])
    chances = chance_ahead(views, found[..., VALUE])
    found[..., CHANCE] = np.where(wins, 1.0, chances)
    return found


def chance_ahead(views: Views, points: Array) -> Doubles:
    """Return side 0's probability of winning the game if it makes ``points`` more than the others.

    Args:
        views: records [B].
        points: float64[B, K], less the mean of the other sides; NaN stays NaN.

    Returns:
        float64[B, K].
    """
    needs = np.maximum(views["target"][:, None] - views["scores"], 0)
    playing = np.arange(SEATS) < views["sides"][:, None]
    mean = (needs * playing).sum(axis=1) / views["sides"]
    ahead = (needs - needs[:, :1])[:, None] + points[..., None]  # of each side, by this one
    strengths = np.exp(-PER_POINT * ahead / np.sqrt(mean + ADDED)[:, None, None])
    others = (strengths * playing[:, None])[..., 1:].sum(axis=2)
    return np.asarray(1.0 / (1.0 + others))
