"""How the learned agent plays for three and four: certain points, and what its network adds.

The certain value of a discard is the exact mean hand, that of a card played its points. The network
predicts the points that follow in pegging and crib, this side's less the mean of the others'. It
ignores the score, but takes a card that wins the game.
"""

from __future__ import annotations

from crib_agents.kernels.many_hand import WIN
from crib_agents.learned.many_hand.features import card_features
from crib_agents.learned.network import MOST_INPUTS, find_rules, forward
from crib_env.engine import stack
from crib_env.engine.hands.counting import DECK, certain_points, hand_total, sequence_of
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import kernel
from crib_env.engine.many_hand import HAND
from crib_env.engine.record import NONE

UNLIKELY = -1e9  # the value of what cannot be chosen
FAMILY_BIT = 1 << 20  # no other family's keys are so large


@kernel
def rules_key(v):
    """Return a number for what the view says that the net depends on: players, flushes."""
    return FAMILY_BIT | v["players"] << 8 | v["flush_size"] << 4 | v["crib_flush_size"]


@kernel
def certain(v, table, k):
    """Return what is certain of ``hand[k]``: the mean hand without it, or what it pegs now."""
    if v["phase"] == DISCARD:
        card = v["hand"][k]
        return hand_total(v, table, card, card, 1) / (DECK - v["hand_n"])
    return float(certain_points(v, k, sequence_of(v)))


@kernel
def card_values(v, table, weights, now, values):
    """Write the value of each card that may be used; ``weights`` begin with the net.

    Shapes: now float64[HAND]; values float64[HAND].
    """
    places = stack.ints(MOST_INPUTS)
    inputs = stack.floats(MOST_INPUTS)
    follows = stack.floats(1)
    for k in range(HAND):
        values[k] = UNLIKELY
        if k < v["hand_n"] and v["legal"] >> k & 1:
            now[k] = certain(v, table, k)
            n = card_features(v, k, now[k], places, inputs)
            forward(weights, int(weights[0]), places, inputs, n, follows)
            values[k] = now[k] + follows[0]


@kernel
def act(v, rng, table, weights):
    """Return the learned card for the view ``v``; NONE under rules it has no net for."""
    at = find_rules(weights, rules_key(v))
    if at == NONE:
        return NONE
    now = stack.floats(HAND)
    values = stack.floats(HAND)
    card_values(v, table, weights[at:], now, values)
    need = v["target"] - v["scores"][0]
    best = NONE
    most = UNLIKELY
    for k in range(v["hand_n"]):
        if not v["legal"] >> k & 1:
            continue
        value = values[k] + WIN if v["phase"] != DISCARD and now[k] >= need else values[k]
        if best == NONE or value > most:
            best = v["hand"][k]
            most = value
    return best


@kernel
def write_values(v, table, weights, values):
    """Write the value of each card that may be used, float64[52]; others stay as they are."""
    now = stack.floats(HAND)
    found = stack.floats(HAND)
    card_values(v, table, weights, now, found)
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            values[v["hand"][k]] = found[k]
