"""What each card that may come next adds to each line and to the crib.

The value of a position after an action is a sum over the lines, the crib and the cards it lacks. A
reply changes two of the lines, or the crib. So the values of all replies to all cards follow from
the gains of eleven places, each computed once.
"""

from __future__ import annotations

from crib_agents.data.tables import RANKS
from crib_agents.expert.table_top.value import (
    MINE,
    THEIRS,
    nob_in,
    owner_moves_next,
    sign_of,
    weight_of,
)
from crib_agents.expert.table_top.values import (
    by_nob,
    by_owed,
    by_rank,
    by_suit,
    crib_value,
    nob_value,
    phase_of,
)
from crib_agents.knowledge.table_top import LINES, open_to_mover
from crib_env.engine.jit import kernel
from crib_env.engine.table_top.cells import bit_count, lowest
from crib_env.engine.table_top.lines import SUIT, most_of_a_suit, nob_of, owed_by
from crib_env.engine.table_top.records import SIZE, TO_CRIB, TURNS

NEVER = -1000.0  # less than the value of any action
CRIB_ROW = LINES  # the row of gains for the crib, after those for the lines
GAINS = LINES + 1
DECK = 52


@kernel
def with_suit(values, cards, suit, most, owner_next, phase, flush_size):
    """Return `by_suit` of a line and one card more, of ``suit``."""
    of_suit = bit_count(cards & SUIT << suit) + 1
    n = bit_count(cards) + 1
    return by_suit(values, n, max(most, of_suit), owner_next, phase, flush_size)


@kernel
def line_gains(v, table, values, surplus, weights, p, line, drawn, gain):
    """Fill ``gain`` (float64[52]) with what each card of ``drawn`` adds to a line for my side.

    Returns:
        the line's value for my side as it lies, once the mover of ``p`` has placed elsewhere.
    """
    cards = p["lines"][line]
    n = bit_count(cards)
    sign = sign_of(v, line)
    weight = weight_of(weights, sign)
    owner_next = 1 - owner_moves_next(sign, p["mover"])  # the other side moves next
    phase = phase_of(TURNS - 1 - p["turn"])
    size = v["flush_size"]
    nob = nob_in(v, line)
    most = most_of_a_suit(cards)
    before = by_rank(values, surplus, table, cards, owner_next, phase)
    before += by_suit(values, n, most, owner_next, phase, size)
    now = before + nob_value(values, nob, cards, owner_next, phase, p["unseen"])
    if n == SIZE:
        return weight * now
    suit_0 = with_suit(values, cards, 0, most, owner_next, phase, size)
    suit_1 = with_suit(values, cards, 1, most, owner_next, phase, size)
    suit_2 = with_suit(values, cards, 2, most, owner_next, phase, size)
    suit_3 = with_suit(values, cards, 3, most, owner_next, phase, size)
    hope = 0.0
    if nob & p["unseen"]:
        hope = by_nob(values, n + 1, owner_next, phase) - by_nob(values, n, owner_next, phase)
    for rank in range(RANKS):
        left = drawn >> (4 * rank) & 15
        if left:
            longer = cards | (left & -left) << (4 * rank)
            more = by_rank(values, surplus, table, longer, owner_next, phase) - before + hope
            gain[4 * rank] = weight * (more + suit_0)
            gain[4 * rank + 1] = weight * (more + suit_1)
            gain[4 * rank + 2] = weight * (more + suit_2)
            gain[4 * rank + 3] = weight * (more + suit_3)
    if nob & drawn:  # wherever it goes no line can hope for it any more: see `lost_hope`
        gain[lowest(nob)] += weight * (1.0 - hope)
    return weight * now


@kernel
def owed_margin(values, weights, owner_next, turns_left, mine, theirs):
    """Return what the cards owed to the crib add for my side: the next mover if ``owner_next``."""
    my_lines = by_owed(values, owner_next, turns_left, mine, theirs)
    their_lines = by_owed(values, 1 - owner_next, turns_left, theirs, mine)
    return weights[MINE] * my_lines - weights[THEIRS] * their_lines


@kernel
def crib_gains(v, table, values, weights, p, drawn, gain):
    """Fill ``gain`` with what each card of ``drawn`` adds for my side if it goes to the crib.

    Returns the value for my side of the crib and of what is owed to it, once the mover of ``p`` has
    placed its card in the layout.
    """
    side = p["mover"] & 1
    turns_left = TURNS - 1 - p["turn"]
    weight = weight_of(weights, 1 if v["my_crib"] else -1)
    nob = nob_of(v)
    mine = owed_by(p, 0)
    theirs = owed_by(p, 1)
    crib = crib_value(values, table, p["crib"], v["my_crib"], nob)
    share = owed_margin(values, weights, side, turns_left, mine, theirs)
    if p["owed"][p["mover"]]:
        less = -share
        less += owed_margin(values, weights, side, turns_left, mine - 1 + side, theirs - side)
        for rank in range(RANKS):
            left = drawn >> (4 * rank) & 15
            if left:
                longer = p["crib"] | (left & -left) << (4 * rank)
                more = less + weight * (crib_value(values, table, longer, v["my_crib"], 0) - crib)
                if nob & p["crib"]:
                    more += weight
                for suit in range(4):
                    gain[4 * rank + suit] = more
        if nob & drawn:
            gain[lowest(nob)] += weight
    return weight * crib + share


@kernel
def fill_gains(v, table, values, surplus, weights, p, drawn, gains):
    """Fill ``gains`` (float64[GAINS, 52]) with what each card of ``drawn`` adds to what it joins.

    Returns:
        the value of the position but for the mover's next card.
    """
    total = crib_gains(v, table, values, weights, p, drawn, gains[CRIB_ROW])
    for i in range(LINES):
        total += line_gains(v, table, values, surplus, weights, p, i, drawn, gains[i])
    return total


@kernel
def gain_of(gains, action, card):
    """Return what an action with the card adds for my side."""
    if action == TO_CRIB:
        return gains[CRIB_ROW, card]
    return gains[action // SIZE, card] + gains[SIZE + action % SIZE, card]


@kernel
def best_gain(gains, actions, card, sign):
    """Return what the best of the actions with a card gains its mover: my side if ``sign`` is 1."""
    best = NEVER
    if actions >> TO_CRIB & 1:
        best = sign * gains[CRIB_ROW, card]
    for row in range(SIZE):
        cells = actions >> (SIZE * row) & 31
        if cells:
            most = NEVER
            for column in range(SIZE):
                if cells >> column & 1:
                    most = max(most, sign * gains[SIZE + column, card])
            best = max(best, most + sign * gains[row, card])
    return best


@kernel
def lost_hope(v, values, weights, p):
    """Return the value of the hopes for his nob to my side: they are gone once it is drawn."""
    nob = nob_of(v)
    phase = phase_of(TURNS - 1 - p["turn"])
    total = 0.0
    if nob & p["unseen"]:
        for line in range(LINES):
            if nob_in(v, line):
                sign = sign_of(v, line)
                owner_next = 1 - owner_moves_next(sign, p["mover"])
                hope = by_nob(values, bit_count(p["lines"][line]), owner_next, phase)
                total += weight_of(weights, sign) * hope
    return total


@kernel
def mean_best_gain(v, values, weights, p, gains):
    """Return the mean for my side, over every next card, of what its best action gains."""
    actions = open_to_mover(p, v["players"], v["adjacency"])
    sign = 1 - 2 * (p["mover"] & 1)
    total = 0.0
    unseen = p["unseen"]
    while unseen:
        total += best_gain(gains, actions, lowest(unseen), sign)
        unseen &= unseen - 1
    return (sign * total - lost_hope(v, values, weights, p)) / bit_count(p["unseen"])
