"""The learned agent at the two-hand games: exact parts, and predictions of its networks.

The value of a discard is the exact mean hand, plus or minus the crib, plus the points of the
pegging. Its networks read the row of a pair: they predict the crib's points beyond its mean over
random cards, and the pegging. Inputs do not depend on the order of the cards in the view, so both
decisions of a discard give a pair the same value.

If a seat may go out soon, the value is the probability of winning the game, in the order of the
deal, as in `expert`. The kept hand is known exactly, and the networks predict the means of the crib
and the pegging. Their spread, and the other seat's hand, are measured over all deals
(`knowledge.deal_points`). All but the kept hand is the same for every pair, so those probabilities
are computed beforehand, and stored after the networks.

The value of a card to play is its points now, plus the network's prediction of both seats' later
points. The network reads the observation and the card's row. The agent pegs for points and ignores
the score, but takes a card that wins the game.
"""

from __future__ import annotations

from functools import lru_cache
from math import floor

import numpy as np

from crib_agents.expert.discard import after_shift, between
from crib_agents.kernels.two_hand import discard_by
from crib_agents.knowledge import deal_points
from crib_agents.knowledge.deal_points import COUNT_SIZE
from crib_agents.knowledge.winning import after_hands, win_table
from crib_agents.learned import network
from crib_agents.learned.many_hand import highest
from crib_agents.learned.network import MOST_INPUTS, UNLIKELY, WIDEST, LearnedFamily, Net
from crib_agents.learned.rows import places_read, put_row, put_state, row_inputs
from crib_env.arrays import Doubles
from crib_env.engine import stack
from crib_env.engine.family import offsets
from crib_env.engine.hands import counting, features
from crib_env.engine.hands.encode import TWO, encode_two
from crib_env.engine.hands.features import WIDTH_OF_TWO
from crib_env.engine.hands.records import DISCARD, GAME, MATCH
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import DECK
from crib_env.engine.record import NONE
from crib_env.engine.two_hand import HAND
from crib_env.rules import TwoHandRules

FEATURES_AT = offsets(TWO).end
SIZE_OF_TWO = FEATURES_AT + features.TWO.size
READ = places_read(TWO, features.TWO, ("pile", "count", "other_cards", "dealer", "go"))
SHARED = len(READ)
INPUTS = SHARED + row_inputs(features.TWO)

NEAR = 45  # points to make; if both seats need more, points decide
PLAY = 11  # a seat's points of the pegging, 0 to 10; more, one deal in a hundred, count as ten
BEFORE = PLAY + 1  # scores after the pegging that matter, and one more to interpolate
GRID = BEFORE * BEFORE

# Offsets in the table of `probabilities_of`.
TARGET = 0
MEAN_PEGS = 1  # by role, pone first, without heels
DEAL_CRIB = 3
BOTH_PEG = 4  # [pone's points, dealer's]: their probability in the whole pegging
PONE_OUT = BOTH_PEG + PLAY * PLAY  # the same at the moment when pone first has as many or more
CHANCES = PONE_OUT + PLAY * PLAY  # that pone wins, [role just counted, pone's needs, dealer's]


def probabilities_of(rules: TwoHandRules) -> Doubles:
    """Return the table that `pair_chance` reads for these rules, float64[K]."""
    return _probabilities(rules.dealt, rules.target, rules.heels)


@lru_cache(maxsize=8)
def _probabilities(dealt: int, target: int, heels: int) -> Doubles:
    deal = deal_points.load_outcomes(dealt, heels)
    points, counts = np.arange(deal_points.PLAY_SIZE), np.arange(COUNT_SIZE)
    pegs = deal.pegging.sum(axis=1) @ points, deal.pegging.sum(axis=0) @ points
    pegs = pegs[0], pegs[1] - heels * deal_points.JACK_TURNED
    known = [np.array([target, *pegs, deal.crib @ counts])]
    # Rows of ``pone_out`` are points that pone reaches, not totals: drop those above ten.
    known += [_lumped(table).ravel() for table in (deal.pegging, deal.pone_out[:PLAY])]
    # Pone's probability of winning by the needs of both.
    after = win_table(dealt, target, GAME, heels=heels)[0]
    known += [after_hand.ravel() for after_hand in after_hands(after, deal)]
    found = np.concatenate(known)
    found.setflags(write=False)
    return found


def _lumped(table: Doubles) -> Doubles:
    """Return probabilities of the pegging's points, with more than ten counted as ten."""
    found = np.zeros((PLAY, PLAY))
    rows, columns = (np.arange(size).clip(max=PLAY - 1) for size in table.shape)
    np.add.at(found, (rows[:, None], columns[None, :]), table)
    return found


@kernel
def is_near(v):
    """Return whether pairs are valued by the probability of winning."""
    if v["episode"] != GAME and v["episode"] != MATCH:
        return False
    return min(v["target"] - v["scores"][0], v["target"] - v["scores"][1]) <= NEAR


@kernel
def chance_at(known, role, pone, dealer):
    """Return pone's probability of winning after the hand of ``role``, linear in ``dealer``."""
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
    """Return pone's probability before the pegging, with needs ``pone - i`` and ``dealer - j``."""
    a = pone - i
    b = dealer - j
    if a <= 0:
        return 1.0  # also if neither needs more points: pone leads
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
    """Return the probability of winning the game if a pair is discarded, by its expected points."""
    role = 1 - v["dealer"]
    probabilities = stack.floats(COUNT_SIZE)
    after = stack.floats(GRID)
    counting.count_hand(v, table, low, high, 1.0, probabilities)
    for points in range(COUNT_SIZE):
        probabilities[points] /= DECK - v["hand_n"] - v["discarded_n"]
    own = v["target"] - v["scores"][0]
    other = v["target"] - v["scores"][1]
    more = network.bounded(mine) - known[MEAN_PEGS + role]
    let = network.bounded(theirs) - known[MEAN_PEGS + 1 - role]
    if role:
        to_pone = after_shift(float(other), let)
        to_dealer = after_shift(float(own), more)
    else:
        to_pone = after_shift(float(own), more)
        to_dealer = after_shift(float(other), let)
    pone = floor(to_pone) + 1
    dealer = floor(to_dealer) + 1
    crib = network.bounded(crib) - known[DEAL_CRIB]
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
    chance = between(x, y, far, pone_near, dealer_near, near)
    return 1.0 - chance if role else chance


JUDGE = 3  # index of the offset of the table of `probabilities_of`
CRIB, MY_PLAY, THEIR_PLAY = range(3)  # outputs of a net


@kernel
def expect_pair(v, table, weights, low, high, expected):
    """Write the crib and pegging expected with a pair, float64[3]; return the mean hand."""
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    row = stack.floats(WIDTH_OF_TWO)
    features.pair_row(v, table, low, high, row)
    n = put_row(row, 0, places, values, 0)
    network.forward(weights, int(weights[1 - v["dealer"]]), places, values, n, expected)
    mean_crib = features.EIGHTS * row[features.AT.mean_crib]
    expected[CRIB] += -mean_crib if v["dealer"] else mean_crib
    return features.EIGHTS * row[features.AT.mean_hand]


@kernel
def pair_value(v, table, weights, low, high):
    """Return the value of discarding a pair, in points; ``weights`` begin with the nets."""
    expected = stack.floats(3)
    mean = expect_pair(v, table, weights, low, high, expected)
    crib = -expected[CRIB] if v["dealer"] else expected[CRIB]
    return mean + crib + expected[MY_PLAY] - expected[THEIR_PLAY]


@kernel
def pair_win_value(v, table, weights, low, high):
    """Return `pair_value`, or if a seat may go out soon the probability of winning the game."""
    if not is_near(v):
        return pair_value(v, table, weights, low, high)
    expected = stack.floats(3)
    expect_pair(v, table, weights, low, high, expected)
    return pair_chance(
        v, table, weights[int(weights[JUDGE]) :], low, high, expected[CRIB], expected[MY_PLAY], expected[THEIR_PLAY]
    )


@kernel
def observe(v, table, seen):
    """Write the observation with features, float64[SIZE_OF_TWO]."""
    encode_two(v, seen[:FEATURES_AT])
    features.write_features_of_two(v, table, seen[FEATURES_AT:])


@kernel
def card_inputs(v, seen, k, places, values, n):
    """Append the inputs of playing ``hand[k]`` to the first ``n``; return the new number."""
    at = FEATURES_AT + features.ROWS + WIDTH_OF_TWO * features.place_of(v, k)
    return put_row(seen[at : at + WIDTH_OF_TWO], SHARED, places, values, n)


PEGGING = 2  # the place of the net, after a discard net for each role
MY_REST, THEIR_REST = range(2)  # its outputs: points still to come


@kernel
def card_values(v, table, weights, seen, now, values):
    """Write the value of one card of each legal rank into ``values``; return how many ranks."""
    places = stack.ints(MOST_INPUTS)
    inputs = stack.floats(MOST_INPUTS)
    expected = stack.floats(2)
    sequence = counting.sequence_of(v)
    ranks = 0
    choices = 0
    for k in range(HAND - 1, -1, -1):
        values[k] = UNLIKELY
        now[k] = 0
        if v["legal"] >> k & 1:
            rank = v["hand"][k] >> 2
            if not ranks >> rank & 1:
                ranks |= 1 << rank
                choices += 1
                now[k] = counting.certain_points(v, k, sequence)
                values[k] = float(now[k])
    if choices > 1:
        net = int(weights[PEGGING])
        before = stack.floats(WIDEST)
        hidden = stack.floats(WIDEST)
        observe(v, table, seen)
        shared = put_state(seen, READ, places, inputs)
        network.begin(weights, net, places, inputs, shared, before)
        for k in range(v["hand_n"]):
            if values[k] != UNLIKELY:
                n = card_inputs(v, seen, k, places, inputs, shared)
                network.go_on(before, weights, net, places, inputs, shared, n, hidden)
                network.finish(weights, net, hidden, expected)
                values[k] += expected[MY_REST]
                values[k] -= expected[THEIR_REST]
    return choices


choose_discard = discard_by(pair_win_value)


@kernel
def rules_key(v):
    """Return a key of the rules that the nets depend on: cards dealt, counts, flushes."""
    flushes = v["flush_size"] << 4 | v["crib_flush_size"]
    return v["dealt"] << 12 | v["single_count"] << 8 | flushes


@kernel
def act(v, rng, table, weights):
    """Return the learned card for the view ``v``; NONE under rules it has no nets for."""
    at = network.offset_of_rules(weights, rules_key(v))
    if at == NONE:
        return NONE
    if v["phase"] == DISCARD:
        return choose_discard(v, table, weights[at:])
    seen = stack.floats(SIZE_OF_TWO)
    now = stack.ints(HAND)
    values = stack.floats(HAND)
    card_values(v, table, weights[at:], seen, now, values)
    return highest(v, now, values)


@kernel
def write_values(v, table, weights, values):
    """Write the value of each card, float64[52]; a discard has the value of its best pair."""
    if v["phase"] == DISCARD:
        hand_n = v["hand_n"]
        n = hand_n + v["discarded_n"]
        for i in range(hand_n):
            values[v["hand"][i]] = UNLIKELY
        # the discarded card is the last `dealt_card`; pairs must contain it
        for j in range(n - 1 if v["discarded_n"] == 1 else 1, n):
            for i in range(min(j, hand_n)):
                first, second = counting.dealt_card(v, i), counting.dealt_card(v, j)
                value = pair_win_value(v, table, weights, min(first, second), max(first, second))
                values[first] = max(values[first], value)
                if j < hand_n:
                    values[second] = max(values[second], value)
        return
    seen = stack.floats(SIZE_OF_TWO)
    now = stack.ints(HAND)
    found = stack.floats(HAND)
    card_values(v, table, weights, seen, now, found)
    for i in range(v["hand_n"]):
        for j in range(v["hand_n"] if v["legal"] >> i & 1 else 0):
            if found[j] != UNLIKELY and v["hand"][j] >> 2 == v["hand"][i] >> 2:
                values[v["hand"][i]] = found[j]  # one card of each rank has the value


_DISCARD = Net("two_hand.row", 1, row_inputs(features.TWO), outputs=3)

FAMILY = LearnedFamily(
    name="two_hand",
    nets={
        "discard_pone": _DISCARD,
        "discard_dealer": _DISCARD,
        "pegging": Net("two_hand.observation", 1, INPUTS, outputs=2),
    },
    fields=("dealt", "single_count", "flush_size", "crib_flush_size"),
    rules_key=rules_key,
    act=act,
    values=write_values,
    knows=probabilities_of,
)
"""The two-hand games for `crib_agents.learned.agent`."""
