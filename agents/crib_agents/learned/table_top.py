"""The learned agent at Table Top: a card's value is its effect on two lines, or on the crib.

The value of a line is its points so far plus the network's prediction of later points; a full line
has only its points. The value of a card on a cell is its gain in its own side's line, less its gain
in the other side's. The value of a card in the crib is its gain for the side that counts the crib,
and the side then owes the crib one card less. The agent plays for points and ignores the score.

The inputs of the lines' network come in three groups: of the round, of the side that owns the line,
and of the line. So the first layer adds up common inputs only once. Those of a line are the
environment's features of its cards; a line is valued both without and with the card in turn.
"""

from __future__ import annotations

from crib_agents.learned import network
from crib_agents.learned.network import MOST_INPUTS, UNLIKELY, WIDEST, LearnedFamily, Net
from crib_env.engine import stack
from crib_env.engine.jit import kernel
from crib_env.engine.ranks import bit_count
from crib_env.engine.record import NONE
from crib_env.engine.table_top.features import AT, WIDTH, write_line
from crib_env.engine.table_top.lines import (
    crib_known,
    line_through,
    nob_of,
    nob_through,
    owed_by,
    points_so_far,
    unseen_cards,
)
from crib_env.engine.table_top.records import CELLS, LINES, SIZE, TO_CRIB, TURNS

# Of the round:
PHASE = 0  # turns left after this one, in twos, one-hot
UNSEEN = PHASE + TURNS // 2  # each rank's share of the unseen cards, times 13, minus 1
# Of a side:
ON_TURN = UNSEEN + 13  # it moves next
OWED = ON_TURN + 1  # cards it owes the crib before this turn, in twos
OWED_BY_OTHER = OWED + 1
# Of a line:
LINE_AT = OWED_BY_OTHER + 1  # its ranks as a thermometer, then the features of its cards
OF_LINE = 4 * 13 + WIDTH - AT.cards
LINE_INPUTS = LINE_AT + OF_LINE


@kernel
def put_line(row, place, places, values, n):
    """Append a line's row as inputs from ``place`` on; return the new number of inputs."""
    for r in range(13):
        for i in range(int(row[AT.ranks + r])):
            n = network.put(places, values, n, place + 13 * i + r, 1.0)
    return network.put_all(row[AT.cards :], place + 52, places, values, n)


@kernel
def round_features(turn, unseen, places, values):
    """Write the inputs that all lines share; return their number."""
    n = network.put(places, values, 0, PHASE + (TURNS - 1 - turn) // 2, 1.0)
    each = 13.0 / max(1, bit_count(unseen))
    for r in range(13):
        n = network.put(places, values, n, UNSEEN + r, bit_count(unseen >> (4 * r) & 15) * each - 1.0)
    return n


@kernel
def side_features(on_turn, owed, owed_by_other, places, values):
    """Write the inputs that all lines of a side share; return their number."""
    n = 0
    if on_turn:
        n = network.put(places, values, n, ON_TURN, 1.0)
    n = network.put(places, values, n, OWED, owed / 2.0)
    return network.put(places, values, n, OWED_BY_OTHER, owed_by_other / 2.0)


MINE = OF_LINE  # of the crib, after its features as a line: my side counts it
THEIRS = MINE + 1
CRIB_INPUTS = THEIRS + 1


@kernel
def put_crib(v, table, cards, unseen, places, values):
    """Write the inputs of a crib; return their number."""
    row = stack.floats(WIDTH)
    row[:] = 0.0
    write_line(table, cards, nob_of(v), v["crib_flush_size"], unseen, row)
    n = put_line(row, 0, places, values, 0)
    return network.put(places, values, n, MINE if v["my_crib"] else THEIRS, 1.0)


# The nets in their order, and the table after them.
LINE = 0
CRIB = 1
OWED_TABLE = 2

EACH_TWICE = 2 * LINES  # lines as they lie, then with the card in turn
EVERY_LINE = (1 << LINES) - 1
ROW = (1 << SIZE) - 1
ACTIONS = TO_CRIB + 1

# The table "owing": the value of a side's lines beyond the sum of the single lines, by whether it
# moves next, turns left, cards it owes the crib, and cards the other side owes.
MOST_OWED = 2
OWING = (2, TURNS, MOST_OWED + 1, MOST_OWED + 1)


@kernel
def rules_key(v):
    """Return a key of the view's rules that the nets depend on."""
    return v["adjacency"] << 8 | v["flush_size"] << 4 | v["crib_flush_size"]


@kernel
def owing_place(on_turn, left, owed, owed_by_other):
    """Return the index of a value in the flat table "owing"."""
    each = MOST_OWED + 1
    return ((on_turn * TURNS + left) * each + owed) * each + owed_by_other


@kernel
def lines_open(legal):
    """Return the lines with a legal cell, one bit each."""
    lines = 0
    for row in range(SIZE):
        cells = legal >> (SIZE * row) & ROW
        lines |= cells << SIZE
        if cells:
            lines |= 1 << row
    return lines


@kernel
def line_values(v, table, weights, lines, points, value):
    """Write points and values of lines to their sides, as they lie and with the card in turn."""
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    common = stack.floats(WIDEST)
    of_side = stack.floats(WIDEST)
    row = stack.floats(WIDTH)
    hidden = stack.floats(WIDEST)
    expected = stack.floats(1)
    net = int(weights[LINE])
    unseen = unseen_cards(v)
    card = v["card"]
    n = round_features(v["turn"], unseen, places, values)
    network.begin(weights, net, places, values, n, common)
    for side in range(2):
        rows = v["scores_rows"] ^ side
        n = side_features(side, owed_by(v, side), owed_by(v, 1 - side), places, values)
        network.go_on(common, weights, net, places, values, 0, n, of_side)
        empty = NONE
        for i in range(SIZE):
            line = i if rows else SIZE + i
            if not lines >> line & 1:
                continue
            cell = SIZE * i if rows else i
            cards = line_through(v, cell, rows)
            nob = nob_through(v, cell, rows)
            if cards == 0:  # all empty lines of a side are alike
                if empty != NONE:
                    for k in range(line, EACH_TWICE, LINES):
                        points[k] = points[k - line + empty]
                        value[k] = value[k - line + empty]
                    continue
                empty = line
            for k in range(line, EACH_TWICE, LINES):
                row[:] = 0.0
                now = write_line(table, cards, nob, v["flush_size"], unseen, row)
                points[k] = now
                value[k] = now
                if bit_count(cards) < SIZE:
                    n = put_line(row, LINE_AT, places, values, 0)
                    network.go_on(of_side, weights, net, places, values, 0, n, hidden)
                    network.finish(weights, net, hidden, expected)
                    value[k] += expected[0]
                    cards |= 1 << card


@kernel
def crib_value(v, table, weights, cards, unseen):
    """Return the value of a crib with these known cards to the side that counts it."""
    places = stack.ints(MOST_INPUTS)
    values = stack.floats(MOST_INPUTS)
    expected = stack.floats(1)
    n = put_crib(v, table, cards, unseen, places, values)
    network.forward(weights, int(weights[CRIB]), places, values, n, expected)
    return points_so_far(table, cards, v["crib_flush_size"], nob_of(v)) + expected[0]


@kernel
def owing_value(v, weights, owed):
    """Return the value to my side of the cards owed to the crib after this turn."""
    table = int(weights[OWED_TABLE])
    left = TURNS - 1 - v["turn"]
    theirs = owed_by(v, 1)
    mine = weights[table + owing_place(0, left, owed, theirs)]
    return mine - weights[table + owing_place(1, left, theirs, owed)]


@kernel
def crib_action_value(v, table, weights):
    """Return the value of sending the card in turn to the crib."""
    crib = crib_known(v)
    unseen = unseen_cards(v)
    gain = crib_value(v, table, weights, crib | 1 << v["card"], unseen)
    gain -= crib_value(v, table, weights, crib, unseen)
    owed = owed_by(v, 0)
    paid = owing_value(v, weights, owed - 1) - owing_value(v, weights, owed)
    return (gain if v["my_crib"] else -gain) + paid


@kernel
def action_values(v, table, weights, value, values):
    """Write the value of each action, float64[ACTIONS]; `UNLIKELY` where illegal."""
    legal = v["legal"]
    mine = 1.0 if v["scores_rows"] else -1.0
    for cell in range(CELLS):
        values[cell] = UNLIKELY
        if legal >> cell & 1:
            row = cell // SIZE
            column = SIZE + cell % SIZE
            gain = value[LINES + row] - value[row]
            values[cell] = mine * (gain - value[LINES + column] + value[column])
    values[TO_CRIB] = UNLIKELY
    if legal >> TO_CRIB & 1:
        values[TO_CRIB] = crib_action_value(v, table, weights)


@kernel
def best_legal(values, legal):
    """Return the legal action with the highest value, the first of equal ones; NaN never wins."""
    best = NONE
    for action in range(ACTIONS):
        if legal >> action & 1 and (best == NONE or values[action] > values[best]):
            best = action
    return best


@kernel
def best_action(v, table, weights):
    """Return the legal action with the highest value; of equal actions, the first."""
    if v["legal"] == 1 << TO_CRIB:
        return TO_CRIB
    points = stack.ints(EACH_TWICE)
    value = stack.floats(EACH_TWICE)
    values = stack.floats(ACTIONS)
    line_values(v, table, weights, lines_open(v["legal"]), points, value)
    action_values(v, table, weights, value, values)
    return best_legal(values, v["legal"])


@kernel
def act(v, rng, table, weights):
    """Return the learned action for the view ``v``; NONE under rules it has no nets for."""
    at = network.offset_of_rules(weights, rules_key(v))
    if at == NONE:
        return NONE
    return best_action(v, table, weights[at:])


@kernel
def write_values(v, table, weights, values):
    """Write the value of each legal action, float64[26]; other entries stay."""
    points = stack.ints(EACH_TWICE)
    value = stack.floats(EACH_TWICE)
    found = stack.floats(ACTIONS)
    line_values(v, table, weights, lines_open(v["legal"]), points, value)
    action_values(v, table, weights, value, found)
    for action in range(ACTIONS):
        if found[action] != UNLIKELY:
            values[action] = found[action]


FAMILY = LearnedFamily(
    name="table_top",
    nets={
        "line": Net("table_top.line", 2, LINE_INPUTS, outputs=1),
        "crib": Net("table_top.crib", 2, CRIB_INPUTS, outputs=1),
    },
    # The same nets serve two and four players: sides alternate, and each owes the crib two cards.
    fields=("flush_size", "crib_flush_size", "adjacency"),
    rules_key=rules_key,
    act=act,
    values=write_values,
    tables={"owing": OWING},
)
"""Table Top for `crib_agents.learned.agent`."""
