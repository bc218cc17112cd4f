"""How the learned agent plays the two-hand games: exact parts, and predictions of its networks.

The value of a discard is the exact mean hand, plus or minus the network's crib, plus the predicted
points of the pegging. If a seat may go out soon, the probability of winning decides instead; see
`judge`. The value of a card in the pegging is its points now plus the network's prediction of later
points. The agent pegs for points and ignores the score, but takes a card that wins the game.
"""

from __future__ import annotations

from crib_agents.kernels.discard import discard_by
from crib_agents.kernels.pegging import WIN
from crib_agents.learned.network import (
    MOST_INPUTS,
    WIDEST,
    add_inputs,
    begin_hidden,
    find_rules,
    finish,
    forward,
)
from crib_agents.learned.two_hand.discard_features import discard_features, mean_hand
from crib_agents.learned.two_hand.judge import is_near, pair_chance
from crib_agents.learned.two_hand.pegging_features import card_features, holdable, shared_features
from crib_env.engine import stack
from crib_env.engine.hands.counting import (
    alone,
    certain_points,
    dealt_card,
    least_pip,
    sequence_of,
    unseen_ranks,
)
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.two_hand import HAND

# The nets in their order: one for each role in discarding, one for the pegging.
PEGGING = 2
JUDGE = 3  # behind them, see `judge.probabilities_of`
CRIB, MY_PLAY, THEIR_PLAY = range(3)  # what a net for discarding puts out
MY_REST, THEIR_REST = range(2)  # what the net for the pegging does: points still to come

UNLIKELY = -1e9  # the value of what cannot be chosen


@kernel
def rules_key(v):
    """Return a number for what the rules of a view say that the nets depend on.

    Cards dealt, counts, flushes. No other family's keys are so large.
    """
    flushes = v["flush_size"] << 4 | v["crib_flush_size"]
    return v["dealt"] << 12 | v["single_count"] << 8 | flushes


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


@kernel
def card_points(v, weights, now, mine, theirs):
    """Write what playing each card held brings both seats; return how many ranks can be played.

    Shapes: now int64[HAND]; mine float64[HAND]; theirs float64[HAND].
    """
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    expected = stack.floats(2)
    sequence = sequence_of(v)
    ranks = 0
    choices = 0
    for k in range(HAND - 1, -1, -1):
        mine[k] = UNLIKELY
        theirs[k] = 0.0
        now[k] = 0
        if v["legal"] >> k & 1:
            rank = v["hand"][k] >> 2
            if not ranks >> rank & 1:
                ranks |= 1 << rank
                choices += 1
                now[k] = certain_points(v, k, sequence)
                mine[k] = float(now[k])
    if choices > 1:
        net = int(weights[PEGGING])
        unseen = unseen_ranks(v)
        least = least_pip(v)
        total = holdable(unseen, least)
        is_alone = alone(v)
        shared = shared_features(v, unseen, least, total, is_alone, places, values)
        before = stack.floats(WIDEST)
        hidden = stack.floats(WIDEST)
        wide = begin_hidden(weights, net, before)
        add_inputs(weights, net, places, values, 0, shared, before)
        for k in range(v["hand_n"]):
            if mine[k] != UNLIKELY:
                n = card_features(
                    v, k, now[k], sequence, unseen, least, total, is_alone, places, values, shared
                )
                for j in range(wide):
                    hidden[j] = before[j]
                add_inputs(weights, net, places, values, shared, n, hidden)
                finish(weights, net, hidden, expected)
                mine[k] += expected[MY_REST]
                theirs[k] = expected[THEIR_REST]
    return choices


@kernel
def card_values(v, weights, now, values):
    """Write the value of playing each card held; return how many ranks can be played.

    Shapes: values float64[HAND].
    """
    theirs = stack.floats(HAND)
    choices = card_points(v, weights, now, values, theirs)
    for k in range(HAND):
        if values[k] != UNLIKELY:
            values[k] -= theirs[k]
    return choices


discard = discard_by(pair_win_value)


@kernel
def play(v, weights):
    """Return the card of the highest value; one that wins the game at once before all others."""
    now = stack.ints(HAND)
    values = stack.floats(HAND)
    card_values(v, weights, now, values)
    need = v["target"] - v["scores"][0]
    best = NONE
    most = UNLIKELY
    for k in range(v["hand_n"]):
        if not v["legal"] >> k & 1:
            continue
        value = values[k] + WIN if values[k] != UNLIKELY and now[k] >= need else values[k]
        if best == NONE or value > most:
            best = v["hand"][k]
            most = value
    return best


@kernel
def act(v, rng, table, weights):
    """Return the learned card for the view ``v``; NONE under rules it has no nets for."""
    at = find_rules(weights, rules_key(v))
    if at == NONE:
        return NONE
    if v["phase"] == DISCARD:
        return discard(v, table, weights[at:])
    return play(v, weights[at:])


@kernel
def write_values(v, table, weights, values):
    """Write the value of each card, float64[52]; others stay as they are.

    A discard has the value of the best pair with it, see `pair_win_value`; one to play as
    `card_values` says.
    """
    if v["phase"] == DISCARD:
        n = v["hand_n"] + v["discarded_n"]
        for i in range(v["hand_n"]):
            best = UNLIKELY
            for j in range(n):
                if i == j or (v["discarded_n"] == 1 and j < n - 1):
                    continue  # the card laid is the last of `dealt_card`, and must be of the pair
                low = min(dealt_card(v, i), dealt_card(v, j))
                high = max(dealt_card(v, i), dealt_card(v, j))
                best = max(best, pair_win_value(v, table, weights, low, high))
            values[v["hand"][i]] = best
        return
    now = stack.ints(HAND)
    found = stack.floats(HAND)
    card_values(v, weights, now, found)
    value = UNLIKELY
    for i in range(v["hand_n"] - 1, -1, -1):  # of a rank the last card has the value
        if found[i] != UNLIKELY:
            value = found[i]
        if v["legal"] >> i & 1:
            values[v["hand"][i]] = value
