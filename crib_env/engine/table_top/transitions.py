"""The rules of Table Top (T1 to T13) as kernels over one `TABLE_TOP` record.

`begin_episode` and `step` are all a caller needs; `step` takes a legal action, a bit of
`legal_mask`.
"""

from __future__ import annotations

import numpy as np

from crib_env.engine.jit import kernel
from crib_env.engine.ranks import bit_count, lowest
from crib_env.engine.record import (
    CRIB,
    DIFFERENCE,
    HEELS,
    LINE,
    NONE,
    draw_for_deal,
    has_deck,
    next_card,
    note,
    note_cards,
)
from crib_env.engine.rng import below
from crib_env.engine.show import JACK, KEYS, heels_points
from crib_env.engine.table_top import records


@kernel
def score(s, side, points):
    """Add points to a side's score. There is no cap: the higher total wins (T9)."""
    s["scores"][side] += points
    s["gain"][side] += points


@kernel
def begin_episode(s, rules, decks, dealer, log):
    """Start an episode and its first round with no points but its heels."""
    log[0] = 0
    s["players"] = rules["players"]
    s["deals"] = 0
    s["over"] = 0
    s["winner"] = NONE
    for side in range(2):
        s["scores"][side] = 0
        s["start"][side] = 0
        s["gain"][side] = 0
    s["dealer"] = draw_for_deal(s, rules) if dealer == NONE else dealer
    deal(s, rules, decks, log)


@kernel
def deal(s, rules, decks, log):
    """Deal a round and turn up the starter (T2, T3)."""
    given = has_deck(s)
    used = 0
    for turn in range(records.TURNS + 1):
        card = next_card(s, decks, given, turn, used)
        used |= 1 << card
        s["deck"][turn] = card
    for cell in range(records.CELLS):
        s["layout"][cell] = NONE
        s["turns"][cell] = NONE
    for i in range(records.CRIB_CARDS):
        s["crib"][i] = NONE
    for seat in range(records.SEATS):
        s["owed"][seat] = records.CRIB_CARDS // s["players"] if seat < s["players"] else 0  # T6
    s["given"] += given
    s["deals"] += 1
    s["turn"] = 0
    s["crib_n"] = 0
    s["to_move"] = (s["dealer"] + 1) & (s["players"] - 1)  # T4
    starter = s["deck"][records.TURNS]
    s["layout"][records.CENTRE] = starter
    s["placed"] = 1 << records.CENTRE
    for side in range(2):
        s["scores_before"][side] = s["scores"][side]
    points = heels_points(rules, starter)
    if points:  # T3; where only the difference scores, the count adds it (T13)
        side = rules["side_of"][s["dealer"]]
        note(log, side, points, HEELS, 1 << starter)
        if not rules["score_difference"]:
            score(s, side, points)


@kernel
def legal_mask(s, rules):
    """Return the actions open to the seat to move, one bit each: cells, and `TO_CRIB` (T5 to T7).

    It is 0 only once the episode is over: the shares of T6 leave a vacant cell for every turn
    that may place a card, and some vacant cell always touches a placed one.
    """
    turn = s["turn"]
    if turn == records.TURNS:
        return 0
    owed = s["owed"][s["to_move"]]
    return records.open_actions(s["placed"], owed, records.TURNS - 1 - turn, s["players"], rules["adjacency"])


@kernel
def find_action(s, rules, action):
    """Return ``action``, which may be any number, if the seat to move may choose it, else NONE."""
    legal = 0 <= action <= records.TO_CRIB and legal_mask(s, rules) >> action & 1 == 1
    return action if legal else NONE


@kernel
def draw_action(s, rules, rng):
    """Draw a legal action of the seat to move, uniformly."""
    mask = legal_mask(s, rules)
    for _ in range(below(rng, bit_count(mask))):
        mask &= mask - 1
    return lowest(mask)


@kernel
def tally_column(reason):
    """Return a tally's column for a reason: heels, lines, crib; the difference has none."""
    if reason == DIFFERENCE:
        return NONE
    return 0 if reason == HEELS else (2 if reason == CRIB else 1)


@kernel
def step(s, rules, decks, table, action, log):
    """Take a legal action for the seat to move, and advance; ``log`` gets the points."""
    log[0] = 0
    turn = s["turn"]
    seat = s["to_move"]
    if action == records.TO_CRIB:
        s["crib"][s["crib_n"]] = turn
        s["crib_n"] += 1
        s["owed"][seat] -= 1
    else:
        s["layout"][action] = s["deck"][turn]
        s["turns"][action] = turn
        s["placed"] |= 1 << action
    s["turn"] = turn + 1
    if turn + 1 < records.TURNS:
        s["to_move"] = (seat + 1) & (s["players"] - 1)
    else:
        end_round(s, rules, decks, table, log)


@kernel
def end_round(s, rules, decks, table, log):
    """Count the round (T8, T13); end the episode, or pass the deal to the left (T9)."""
    rows = count_lines(s, rules, table, 0, log)
    columns = count_lines(s, rules, table, 1, log)
    extra = count_crib(s, rules, table, log)
    dealt = rules["side_of"][s["dealer"]]
    if rules["score_difference"]:
        extra += heels_points(rules, s["deck"][records.TURNS])
        margin = rows - columns + (extra if dealt == 0 else -extra)
        side = 0 if margin > 0 else 1
        score(s, side, abs(margin))
        note(log, side, abs(margin), DIFFERENCE, 0)
    else:
        score(s, 0, rows)
        score(s, 1, columns)
        score(s, dealt, extra)
    s["winner"] = leader(s, rules)
    if s["winner"] != NONE or rules["episode"] == records.ROUND:
        s["over"] = 1
        return
    s["dealer"] = (s["dealer"] + 1) & (s["players"] - 1)
    deal(s, rules, decks, log)


@kernel
def leader(s, rules):
    """Return the side that has won after a full count: the higher at the target, or NONE (T9)."""
    margin = s["scores"][0] - s["scores"][1]
    if margin == 0 or max(s["scores"][0], s["scores"][1]) < rules["target"]:
        return NONE
    return 0 if margin > 0 else 1


# --- the count of a round (T8, T12): ten lines of five cards, and the crib with the starter ------

MIDDLE = records.CENTRE % records.SIZE  # the row, and the column, that holds the starter


@kernel
def line_points(table, flush_size, a, b, c, d, e):
    """Return the points of five cards (C2) with a flush of ``flush_size`` or more (T8, T12)."""
    key = KEYS[a >> 2] + KEYS[b >> 2] + KEYS[c >> 2] + KEYS[d >> 2] + KEYS[e >> 2]
    suits = (1 << 8 * (a & 3)) + (1 << 8 * (b & 3)) + (1 << 8 * (c & 3))
    suits += (1 << 8 * (d & 3)) + (1 << 8 * (e & 3))
    points = np.int64(table[key])
    for suit in range(4):
        n = suits >> (8 * suit) & 255
        if n >= flush_size:
            points += n
    return points


@kernel
def nob(starter, cards):
    """Return 1 if the jack of the starter's suit, not the starter, is in a mask, else 0 (C4)."""
    jack = 4 * JACK + (starter & 3)
    return 0 if jack == starter else cards >> jack & 1


@kernel
def count_lines(s, rules, table, side, log):
    """Return and log the points of a side's five lines, also 0: side 0 the rows, 1 the columns."""
    layout = s["layout"]
    starter = layout[records.CENTRE]
    along = 1 if side == 0 else records.SIZE
    across = records.SIZE if side == 0 else 1
    total = 0
    for i in range(records.SIZE):
        at = across * i
        a = layout[at]
        b = layout[at + along]
        c = layout[at + 2 * along]
        d = layout[at + 3 * along]
        e = layout[at + 4 * along]
        cards = (1 << a) | (1 << b) | (1 << c) | (1 << d) | (1 << e)
        points = line_points(table, rules["flush_size"], a, b, c, d, e)
        if i == MIDDLE:
            points += nob(starter, cards)
        note_cards(log, side, points, LINE, cards)
        total += points
    return total


@kernel
def count_crib(s, rules, table, log):
    """Return and log the points of the crib with the starter, for the dealer's side."""
    starter = s["layout"][records.CENTRE]
    a = s["deck"][s["crib"][0]]
    b = s["deck"][s["crib"][1]]
    c = s["deck"][s["crib"][2]]
    d = s["deck"][s["crib"][3]]
    cards = (1 << a) | (1 << b) | (1 << c) | (1 << d) | (1 << starter)
    points = line_points(table, rules["crib_flush_size"], a, b, c, d, starter)
    points += nob(starter, cards)
    note_cards(log, rules["side_of"][s["dealer"]], points, CRIB, cards)
    return points
