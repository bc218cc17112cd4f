"""How much each possible next card adds to each line, by the networks.

After an action the value of a position is a sum over lines, the crib and the cards owed to it. A
reply changes two of the lines, or the crib. So all replies to all cards follow from the gains of
each line, alone and with each card; `expert.table_top.gains` does the same with tables. The
frequencies of unseen ranks, and a nob to come, stay as they are before the next card.
"""

from __future__ import annotations

from crib_agents.learned.network import (
    MOST_INPUTS,
    WIDEST,
    add_inputs,
    begin_hidden,
    finish,
    put,
)
from crib_agents.learned.table_top.act import EACH_TWICE, LINE, LINES
from crib_agents.learned.table_top.line_features import (
    NOB,
    NOB_TO_COME,
    RANKS,
    SUITS,
    put_ranks,
    rank_place,
    round_features,
    side_features,
)
from crib_env.engine import stack
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.table_top.cells import bit_count
from crib_env.engine.table_top.lines import (
    SUIT,
    line_through,
    most_of_a_suit,
    nob_through,
    owed_by,
    rank_points,
)
from crib_env.engine.table_top.records import SIZE

DECK = 52
GAINS = EACH_TWICE * DECK  # of each line as it lies, then with the card in turn, by the next card
UNKNOWN = -1e6


@kernel
def expected_of(weights, net, ranks, wide, n, most, nob_place, hidden, expected, places, values):
    """Return what the net expects of an open line whose ranks are added up in ``ranks``."""
    for j in range(wide):
        hidden[j] = ranks[j]
    k = put(places, values, 0, SUITS + 5 * n + most, 1.0)
    if nob_place != NONE:
        k = put(places, values, k, nob_place, 1.0)
    add_inputs(weights, net, places, values, 0, k, hidden)
    finish(weights, net, hidden, expected)
    return expected[0]


@kernel
def line_gains(cards, nob, unseen, flush_size, table, weights, net, of_line, wide, gain):
    """Write how much each unseen card would add to a line; return the value of the line as it is.

    Args:
        cards: the line's, as a mask. nob: the jack that scores one in it, as a mask, or 0.
        of_line: float64[WIDEST], the net's first layer so far: all but the line's suits.
        gain: float64[DECK].
    """
    n = bit_count(cards)
    most = most_of_a_suit(cards)
    by_rank = rank_points(table, cards)
    now = float(by_rank + (most if most >= flush_size else 0) + (1 if cards & nob else 0))
    if n == SIZE:
        return now
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    hidden = stack.floats(WIDEST)
    longer_ranks = stack.floats(WIDEST)
    expected = stack.floats(1)
    nob_place = NONE
    if cards & nob:
        nob_place = NOB
    elif nob & unseen:
        nob_place = NOB_TO_COME
    before = now + expected_of(
        weights, net, of_line, wide, n, most, nob_place, hidden, expected, places, values
    )
    held = 1.0 if cards & nob else 0.0
    for rank in range(13):
        left = unseen >> (4 * rank) & 15
        if left == 0:
            continue
        points = float(rank_points(table, cards | (left & -left) << (4 * rank)))
        if n < SIZE - 1:
            for j in range(wide):
                longer_ranks[j] = of_line[j]
            k = put(places, values, 0, RANKS + rank_place(cards, 4 * rank), 1.0)
            add_inputs(weights, net, places, values, 0, k, longer_ranks)
        same = UNKNOWN  # the line's value then by its ranks and suits: most as it was,
        more = UNKNOWN  # or one more
        for suit in range(4):
            if not left >> suit & 1:
                continue
            card = 4 * rank + suit
            suited = bit_count(cards & SUIT << suit) + 1
            its_nob = 1 if nob >> card & 1 else 0
            then = max(most, suited)
            value = same if then == most else more
            if its_nob or value == UNKNOWN:
                value = points + held + its_nob + (then if then >= flush_size else 0)
                if n < SIZE - 1:
                    place = NOB if its_nob else nob_place
                    value += expected_of(
                        weights, net, longer_ranks, wide, n + 1, then, place, hidden, expected,
                        places, values,
                    )  # fmt: skip
                if not its_nob:
                    if then == most:
                        same = value
                    else:
                        more = value
            gain[card] = value - before
    return before


@kernel
def fill_gains(v, table, weights, unseen, mine_owed, twice, gains, before):
    """Write what each next card would add to each line, after the answer to the card in turn.

    Args:
        mine_owed: cards that my side then owes the crib.
        twice: 1 for the lines with the card in turn as well.
        gains: float64[GAINS]. before: float64[EACH_TWICE], the value of the lines without it.
    """
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    common = stack.floats(WIDEST)
    of_side = stack.floats(WIDEST)
    of_line = stack.floats(WIDEST)
    net = int(weights[LINE])
    card = v["card"]
    wide = begin_hidden(weights, net, common)
    n = round_features(v["turn"] + 1, unseen, places, values)
    add_inputs(weights, net, places, values, 0, n, common)
    their_owed = owed_by(v, 1)
    for side in range(2):
        rows = v["scores_rows"] ^ side
        for j in range(wide):
            of_side[j] = common[j]
        if side == 0:
            n = side_features(1, mine_owed, their_owed, places, values)
        else:
            n = side_features(0, their_owed, mine_owed, places, values)
        add_inputs(weights, net, places, values, 0, n, of_side)
        empty = NONE
        for i in range(SIZE):
            line = i if rows else SIZE + i
            cell = SIZE * i if rows else i
            cards = line_through(v, cell, rows)
            if cards == 0 and empty != NONE:  # all empty lines of a side are alike
                for k in range(line, LINES + LINES * twice, LINES):
                    before[k] = before[k - line + empty]
                    for c in range(DECK):
                        gains[DECK * k + c] = gains[DECK * (k - line + empty) + c]
                continue
            if cards == 0:
                empty = line
            nob = nob_through(v, cell, rows)
            for k in range(line, LINES + LINES * twice, LINES):
                held = cards if k == line else cards | 1 << card
                if bit_count(held) > SIZE:
                    continue
                for j in range(wide):
                    of_line[j] = of_side[j]
                n = put_ranks(places, values, 0, RANKS, held)
                add_inputs(weights, net, places, values, 0, n, of_line)
                before[k] = line_gains(
                    held, nob, unseen, v["flush_size"], table, weights, net, of_line, wide,
                    gains[DECK * k : DECK * (k + 1)],
                )  # fmt: skip
