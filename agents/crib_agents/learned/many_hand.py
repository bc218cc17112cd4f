"""The learned agent for three and four: certain points plus a network's prediction.

The certain value of a discard is the exact mean hand, that of a card played its points. The network
predicts the points that follow in pegging and crib, this side's less the mean of the others'. The
agent ignores the score, but takes a card that wins the game.
"""

from __future__ import annotations

import numpy as np
from numba import float64, void

from crib_agents.kernels.many_hand import kept_value
from crib_agents.kernels.two_hand import WIN
from crib_agents.learned import network
from crib_agents.learned.network import MOST_INPUTS, UNLIKELY, WIDEST, LearnedFamily, Net
from crib_agents.learned.rows import places_read, put_row, put_state, row_inputs
from crib_agents.rule_based import default_weights
from crib_env.arrays import Array, Doubles
from crib_env.engine import stack
from crib_env.engine.family import offsets
from crib_env.engine.hands import features
from crib_env.engine.hands.encode import MANY, encode_many
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import entry, kernel
from crib_env.engine.many_hand import HAND, SEATS, VIEWS_T
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.show import show_table
from crib_env.policy import CompiledAgent, Views

FEATURES_AT = offsets(MANY).end
SIZE_OF_MANY = FEATURES_AT + features.MANY.size
READ = places_read(MANY, features.MANY, ("count", "cards", "passed", "dealer", "pegging"))
SHARED = len(READ)
INPUTS = SHARED + row_inputs(features.MANY)


@kernel
def observe(v, table, seen):
    """Write the observation with features, float64[SIZE_OF_MANY]."""
    encode_many(v, seen[:FEATURES_AT])
    features.write_features_of_many(v, table, seen[FEATURES_AT:])


@kernel
def row_at(v, k):
    """Return the offset of the row of ``hand[k]`` in the observation."""
    return FEATURES_AT + features.ROWS + features.WIDTH_OF_MANY * features.place_of(v, k)


@kernel
def card_inputs(v, seen, k, places, values, n):
    """Append the inputs of using ``hand[k]`` to the first ``n``; return the new number."""
    at = row_at(v, k)
    return put_row(seen[at : at + features.WIDTH_OF_MANY], SHARED, places, values, n)


FAMILY_BIT = 1 << 20  # larger than all keys of other families


@kernel
def rules_key(v):
    """Return a key of the view's rules that the net depends on: players, flushes."""
    return FAMILY_BIT | v["players"] << 8 | v["flush_size"] << 4 | v["crib_flush_size"]


@kernel
def certain(v, seen, k):
    """Return the certain value of ``hand[k]``: the mean hand without it, or its points now."""
    at = row_at(v, k)
    return features.EIGHTS * seen[at + features.AT.mean_hand] if v["phase"] == DISCARD else seen[at + features.AT.sure]


@kernel
def card_values(v, table, weights, seen, now, values):
    """Write each legal card's certain value into ``now``, and its value into ``values``.

    ``seen`` is scratch for the observation, float64[SIZE_OF_MANY].
    """
    places = stack.ints(MOST_INPUTS)
    inputs = stack.floats(MOST_INPUTS)
    before = stack.floats(WIDEST)
    hidden = stack.floats(WIDEST)
    follows = stack.floats(1)
    net = int(weights[0])
    observe(v, table, seen)
    shared = put_state(seen, READ, places, inputs)
    network.begin(weights, net, places, inputs, shared, before)
    for k in range(HAND):
        values[k] = UNLIKELY
        if k < v["hand_n"] and v["legal"] >> k & 1:
            now[k] = certain(v, seen, k)
            n = card_inputs(v, seen, k, places, inputs, shared)
            network.go_on(before, weights, net, places, inputs, shared, n, hidden)
            network.finish(weights, net, hidden, follows)
            values[k] = now[k] + follows[0]


@kernel
def highest(v, now, values):
    """Return the card with the highest value; a card that wins the game comes first."""
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
    seen = stack.floats(SIZE_OF_MANY)
    now = stack.floats(HAND)
    values = stack.floats(HAND)
    card_values(v, table, weights[at:], seen, now, values)
    return highest(v, now, values)


@kernel
def write_values(v, table, weights, values):
    """Write the value of each legal card, float64[52]; other entries stay."""
    seen = stack.floats(SIZE_OF_MANY)
    now = stack.floats(HAND)
    found = stack.floats(HAND)
    card_values(v, table, weights, seen, now, found)
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            values[v["hand"][k]] = found[k]


FAMILY = LearnedFamily(
    name="many_hand",
    nets={"card": Net("many_hand.observation", 1, INPUTS, outputs=1)},
    fields=("players", "flush_size", "crib_flush_size"),
    rules_key=rules_key,
    act=act,
    values=write_values,
)
"""The many-hand games for `crib_agents.learned.agent`."""


# --- every choice, for `crib_agents.analyze` ------------------------------------------------------
# A value is the points that a card brings in the rest of the deal, less the mean of the other
# sides. The probability of winning follows by a formula: the log of a side's odds against another
# is `PER_POINT` times the points it is ahead, over the square root of the mean points that sides
# still need, plus `ADDED`. Games of `rule_based` fit it (docs/agents.md).

PER_POINT = 0.95
ADDED = 2.0
# Columns of a card: certain value, that plus the mean crib, value, probability of winning.
CERTAIN, WITH_CRIB, VALUE, CHANCE = range(4)
COLUMNS = CHANCE + 1


@entry(void(VIEWS_T, TABLE_T, WEIGHTS_T, WEIGHTS_T, float64[:, :, ::1]), "learned.many_hand.columns", seconds=4)
def write_columns(views, table, weights, nets, found):
    """Write all columns but the last, by `rule_based`'s ``weights`` and ``learned``'s ``nets``."""
    seen = stack.floats(SIZE_OF_MANY)
    now = stack.floats(HAND)
    values = stack.floats(HAND)
    for i in range(views.shape[0]):
        v = views[i]
        at = network.offset_of_rules(nets, rules_key(v))
        if at == NONE:
            continue
        card_values(v, table, nets[at:], seen, now, values)
        for k in range(v["hand_n"]):
            if v["legal"] >> k & 1:
                found[i, k, CERTAIN] = now[k]
                found[i, k, VALUE] = values[k]
                if v["phase"] == DISCARD:
                    found[i, k, WITH_CRIB] = kept_value(v, table, weights, v["hand"][k])


def columns(views: Views, learned: CompiledAgent) -> Doubles:
    """Return the columns of each card held, float64[B, HAND, COLUMNS]; NaN where illegal."""
    found = np.full((len(views), HAND, COLUMNS), np.nan)
    views = np.ascontiguousarray(views)
    write_columns(views, show_table(), default_weights(), learned.weights, found)
    if np.isnan(found[..., VALUE]).all(axis=1).any():
        shown = {name: views[name][0].item() for name in ("players", "flush_size")}
        raise ValueError(f"{learned.name} has no networks for these rules ({shown}): their choices have no values")
    need = views["target"] - views["scores"][:, 0]
    wins = (views["phase"] != DISCARD)[:, None] & (found[..., CERTAIN] >= need[:, None])
    chances = chance_ahead(views, found[..., VALUE])
    found[..., CHANCE] = np.where(wins, 1.0, chances)
    return found


def chance_ahead(views: Views, points: Array) -> Doubles:
    """Return the probability of winning with ``points`` above the others' mean, float64[B, K]."""
    needs = np.maximum(views["target"][:, None] - views["scores"], 0)
    playing = np.arange(SEATS) < views["sides"][:, None]
    mean = (needs * playing).sum(axis=1) / views["sides"]
    ahead = (needs - needs[:, :1])[:, None] + points[..., None]  # of each side, by this one
    strengths = np.exp(-PER_POINT * ahead / np.sqrt(mean + ADDED)[:, None, None])
    others = (strengths * playing[:, None])[..., 1:].sum(axis=2)
    return np.asarray(1.0 / (1.0 + others))
