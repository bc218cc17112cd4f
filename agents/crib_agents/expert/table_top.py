"""`expert` at Table Top: every action, the mean over the next card, the best answer to it.

The value of a position without search is each side's points to come, by learned tables. The value
of a line with fewer than five cards is the mean of lines of its ranks in self-play of the expert,
by the turns left and by whether its owner moves next. Separate tables correct for the unseen ranks,
for suits and for nobs. The value of a full line is its points.

Values are for my side, seat 0's: its expected points minus the other side's, both weighted. In a
game, points of the two sides may have different weights: a side that leads near the target wants
the game to end, and a side that is behind does not (T9). Where only the difference counts (T13),
all points have the same weight.

The value of a position after an action is a sum over the lines, the crib and the cards it lacks. A
reply changes two of the lines, or the crib. So the values of all replies to all cards follow from
the gains of eleven places, each computed once. The search can go deeper into the best few replies,
chosen by their immediate gain.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt
from numba import float64, int64, void

from crib_agents.data.tables import TABLE_TOP_VALUES, load
from crib_agents.knowledge import rounds
from crib_agents.knowledge.rounds import POINTS, POSITION, POSITIONS_T
from crib_env.arrays import Doubles
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import DECK, RANKS, bit_count, lowest
from crib_env.engine.record import NONE, TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.table_top.lines import SUIT, most_of_a_suit, nob_of, owed_by, rank_key, rank_points
from crib_env.engine.table_top.records import CENTRE, LINES, SIZE, TO_CRIB, TURNS, VIEWS_T
from crib_env.policy import Actions, Views

# --- the value of a position without search -------------------------------------------------------

OWNERS = 2  # the line's owner does not move next, or does
PHASES = TURNS // 2  # two turns each: the last two turns of a round are phase 0
# Number of the first multiset of n ranks; multisets of up to four ranks, the smaller first.
FIRST_SHAPE = np.array([sum(comb(RANKS + k - 1, k) for k in range(n)) for n in range(SIZE + 1)], dtype=np.int64)
SHAPES = int(FIRST_SHAPE[SIZE])
# A multiset's number within its size is the sum of COUNTED[i, r] over its i-th ranks r, rising.
COUNTED = np.array([[comb(r + i, i + 1) for r in range(RANKS)] for i in range(SIZE)])
OWED = 3  # a side owes the crib two, one or no cards

# Where each table begins in the flat array of values.
LINE = 0  # [OWNERS, PHASES, SHAPES]
SUITED = LINE + OWNERS * PHASES * SHAPES  # [OWNERS, PHASES, cards, most of one suit]
NOB = SUITED + OWNERS * PHASES * SIZE * SIZE  # [OWNERS, PHASES, cards]
CRIB = NOB + OWNERS * PHASES * SIZE  # [the crib is the other side's or mine, SHAPES]
OWED_LINES = CRIB + 2 * SHAPES  # [line owner's OWNERS, PHASES, owner owes, the other side owes]
SURPLUS = OWED_LINES + OWNERS * PHASES * OWED * OWED  # [SHAPES, RANKS]
VALUES = SURPLUS + SHAPES * RANKS


@kernel
def shape(cards):
    """Return the number of the rank multiset of at most four cards."""
    n = 0
    number = 0
    while cards:
        number += COUNTED[n, lowest(cards) >> 2]
        cards &= cards - 1
        n += 1
    return FIRST_SHAPE[n] + number


@kernel
def by_rank(values, surplus, table, cards, owner_next, phase):
    """Return the expected points of a line by its ranks; exact if it is full."""
    if bit_count(cards) == SIZE:
        return float(table[rank_key(cards)])
    at = shape(cards)
    value = values[LINE + (owner_next * PHASES + phase) * SHAPES + at]
    for rank in range(RANKS):
        value += values[SURPLUS + at * RANKS + rank] * surplus[rank]
    return value


@kernel
def by_suit(values, n, most, owner_next, phase, flush_size):
    """Return the points for suits of ``n`` cards, ``most`` of one suit; exact for five cards."""
    if n == SIZE:
        return float(most) if most >= flush_size else 0.0
    return values[SUITED + ((owner_next * PHASES + phase) * SIZE + n) * SIZE + most]


@kernel
def by_nob(values, n, owner_next, phase):
    """Return the value of the unseen jack of the starter's suit to a centre line of ``n`` cards."""
    return 0.0 if n == SIZE else values[NOB + (owner_next * PHASES + phase) * SIZE + n]


@kernel
def nob_value(values, nob, cards, owner_next, phase, unseen):
    """Return the value of nobs in a line: 1 if it is there, `by_nob` if it may still come."""
    if nob & cards:
        return 1.0
    return by_nob(values, bit_count(cards), owner_next, phase) if nob & unseen else 0.0


@kernel
def by_owed(values, owner_next, turns_left, owner_owes, other_owes):
    """Return the value that the cards owed to the crib add to all lines of a side."""
    if turns_left == 0:
        return 0.0
    at = (owner_next * PHASES + phase_of(turns_left)) * OWED + owner_owes
    return values[OWED_LINES + at * OWED + other_owes]


@kernel
def line_value(values, surplus, table, cards, owner_next, phase, flush_size, nob, unseen):
    """Return the expected points of a line; ``nob`` is the jack that would score one in it."""
    value = by_rank(values, surplus, table, cards, owner_next, phase)
    value += by_suit(values, bit_count(cards), most_of_a_suit(cards), owner_next, phase, flush_size)
    return value + nob_value(values, nob, cards, owner_next, phase, unseen)


@kernel
def crib_value(values, table, cards, mine, nob):
    """Return the expected points of a crib with these known cards, the starter among them."""
    value = 1.0 if nob & cards else 0.0
    if bit_count(cards) == SIZE:
        return value + float(rank_points(table, cards))
    return value + values[CRIB + mine * SHAPES + shape(cards)]


@kernel
def phase_of(turns_left):
    """Return the phase of a round with ``turns_left`` turns left."""
    return turns_left >> 1


@kernel
def fill_surplus(unseen, surplus):
    """Fill ``surplus``, float64[13]: each rank's share of the unseen cards, times 13, minus 1."""
    n = bit_count(unseen)
    for rank in range(RANKS):
        surplus[rank] = bit_count(unseen >> (4 * rank) & 15) * RANKS / n - 1.0


MIDDLE = CENTRE % SIZE
MINE, THEIRS = range(2)  # the sides, and the indices of their weights
PAST = POINTS // 2  # totals this far past the target stay inside the table
FLAT = 1e-6  # added to every slope, so that a game as good as decided is played for points


@kernel
def sign_of(v, line):
    """Return 1 for a line of my side, -1 for one of the other's."""
    return 1 if (line < SIZE) == (v["scores_rows"] == 1) else -1


@kernel
def weight_of(weights, sign):
    """Return the value to my side of a point of a side: mine if ``sign`` is 1, else the other."""
    return weights[MINE] if sign == 1 else -weights[THEIRS]


@kernel
def nob_in(v, line):
    """Return the jack that would score in the line, as a mask, 0 off the centre (T8)."""
    return nob_of(v) if line % SIZE == MIDDLE else 0


@kernel
def owner_moves_next(sign, mover):
    """Return 1 if the owner of a line, mine if ``sign`` is 1, is the side of ``mover``."""
    return 1 if (sign == 1) == (mover & 1 == 0) else 0


@kernel
def side_value(v, table, values, surplus, p, side):
    """Return the points that a side is expected to make in the round, at the position ``p``."""
    phase = phase_of(TURNS - p["turn"])
    owner_next = 1 if p["mover"] & 1 == side else 0
    total = by_owed(values, owner_next, TURNS - p["turn"], owed_by(p, side), owed_by(p, 1 - side))
    for i in range(LINES):
        if (sign_of(v, i) == 1) == (side == 0):
            total += line_value(
                values, surplus, table, p["lines"][i], owner_next, phase, v["flush_size"], nob_in(v, i), p["unseen"]
            )
    if (v["my_crib"] == 1) == (side == 0):
        total += crib_value(values, table, p["crib"], v["my_crib"], nob_of(v))
    return total


@kernel
def value(v, table, values, surplus, weights, p):
    """Return the value of a position for my side, without search (weights float64[2])."""
    mine = side_value(v, table, values, surplus, p, MINE)
    theirs = side_value(v, table, values, surplus, p, THEIRS)
    return weights[MINE] * mine - weights[THEIRS] * theirs


@kernel
def weigh(v, table, values, surplus, p, win_table, weights):
    """Fill ``weights`` with a point's value for each side, the slopes of winning; they sum to 2."""
    weights[MINE] = 1.0
    weights[THEIRS] = 1.0
    if win_table.shape[0] == 0:
        return
    dealer = MINE if v["my_crib"] else THEIRS
    a = v["scores"][dealer] + side_value(v, table, values, surplus, p, dealer)
    b = v["scores"][1 - dealer] + side_value(v, table, values, surplus, p, 1 - dealer)
    past = max(max(a, b) - v["target"] - PAST, 0.0)  # only the difference matters there
    i = max(int(a - past + 0.5), 1)
    j = max(int(b - past + 0.5), 1)
    now = win_table[v["turn"]]
    by_dealer = now[i + 1, j] - now[i - 1, j] + FLAT
    by_other = now[i, j - 1] - now[i, j + 1] + FLAT
    weights[dealer] = 2.0 * by_dealer / (by_dealer + by_other)
    weights[1 - dealer] = 2.0 - weights[dealer]


# --- search ---------------------------------------------------------------------------------------

NEVER = -1000.0  # less than the value of any action
CRIB_ROW = LINES  # the row of gains for the crib, after those for the lines
GAINS = LINES + 1


@kernel
def with_suit(values, cards, suit, most, owner_next, phase, flush_size):
    """Return `by_suit` of a line with one more card, of ``suit``."""
    of_suit = bit_count(cards & SUIT << suit) + 1
    n = bit_count(cards) + 1
    return by_suit(values, n, max(most, of_suit), owner_next, phase, flush_size)


@kernel
def line_gains(v, table, values, surplus, weights, p, line, drawn, gain):
    """Fill ``gain`` (float64[52]) with the value that each card of ``drawn`` adds to a line.

    Returns:
        the line's value for my side without a card, after the mover of ``p`` has placed elsewhere.
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
    if nob & drawn:  # once it is drawn no line can expect it: see `lost_hope`
        gain[lowest(nob)] += weight * (1.0 - hope)
    return weight * now


@kernel
def owed_margin(values, weights, owner_next, turns_left, mine, theirs):
    """Return my side's value of the cards owed to the crib; it moves next if ``owner_next``."""
    my_lines = by_owed(values, owner_next, turns_left, mine, theirs)
    their_lines = by_owed(values, 1 - owner_next, turns_left, theirs, mine)
    return weights[MINE] * my_lines - weights[THEIRS] * their_lines


@kernel
def crib_gains(v, table, values, weights, p, drawn, gain):
    """Fill ``gain`` with each card's value in the crib; return the crib's, with cards owed."""
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
    """Fill ``gains`` (float64[GAINS, 52]) with each card's value in the lines and the crib.

    Returns:
        the value of the position without the mover's next card.
    """
    total = crib_gains(v, table, values, weights, p, drawn, gains[CRIB_ROW])
    for i in range(LINES):
        total += line_gains(v, table, values, surplus, weights, p, i, drawn, gains[i])
    return total


@kernel
def gain_of(gains, action, card):
    """Return the gain for my side of an action with the card."""
    if action == TO_CRIB:
        return gains[CRIB_ROW, card]
    return gains[action // SIZE, card] + gains[SIZE + action % SIZE, card]


@kernel
def best_gain(gains, actions, card, sign):
    """Return the largest gain of the actions with a card; ``sign`` is 1 for my side, else -1."""
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
    """Return my side's value of nobs to come in the lines, which is lost once the jack is drawn."""
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
    """Return my side's mean gain, over every next card, from the mover's best action with it."""
    actions = rounds.open_to_mover(p, v["players"], v["adjacency"])
    sign = 1 - 2 * (p["mover"] & 1)
    total = 0.0
    unseen = p["unseen"]
    while unseen:
        total += best_gain(gains, actions, lowest(unseen), sign)
        unseen &= unseen - 1
    return (sign * total - lost_hope(v, values, weights, p)) / bit_count(p["unseen"])


@kernel
def copy_row(row, to):
    """Copy the gains of 52 cards."""
    for card in range(DECK):
        to[card] = row[card]


@kernel
def look_ahead(v, table, values, surplus, weights, p, card, actions, after, gains, saved, ahead):
    """Fill ``ahead[action]`` with each action's value by the best answers to every next card."""
    mover = p["mover"]
    rounds.pass_on(p, after, card, v["players"])
    last = after["turn"] == TURNS
    unseen = after["unseen"]
    total = 0.0 if last else fill_gains(v, table, values, surplus, weights, after, unseen, gains)
    while actions:
        action = lowest(actions)
        actions &= actions - 1
        if last:
            rounds.put(after, mover, card, action)
            ahead[action] = value(v, table, values, surplus, weights, after)
            rounds.take_back(after, mover, card, action)
        elif action == TO_CRIB:
            total_0 = crib_gains(v, table, values, weights, after, unseen, gains[CRIB_ROW])
            rounds.put(after, mover, card, action)
            total_1 = crib_gains(v, table, values, weights, after, unseen, gains[CRIB_ROW])
            ahead[action] = total - total_0 + total_1 + mean_best_gain(v, values, weights, after, gains)
            rounds.take_back(after, mover, card, action)
            crib_gains(v, table, values, weights, after, unseen, gains[CRIB_ROW])
        else:
            row = action // SIZE
            column = SIZE + action % SIZE
            copy_row(gains[row], saved[0])
            copy_row(gains[column], saved[1])
            changed = -line_gains(v, table, values, surplus, weights, after, row, 0, gains[row])
            changed -= line_gains(v, table, values, surplus, weights, after, column, 0, gains[column])
            rounds.put(after, mover, card, action)
            changed += line_gains(v, table, values, surplus, weights, after, row, unseen, gains[row])
            changed += line_gains(v, table, values, surplus, weights, after, column, unseen, gains[column])
            ahead[action] = total + changed + mean_best_gain(v, values, weights, after, gains)
            rounds.take_back(after, mover, card, action)
            copy_row(saved[0], gains[row])
            copy_row(saved[1], gains[column])


@kernel
def narrow(scores, actions, breadth, sign):
    """Return the ``breadth`` best of the actions by score, for my side if ``sign`` is 1."""
    chosen = 0
    while breadth and actions:
        breadth -= 1
        best = NONE
        left = actions
        while left:
            action = lowest(left)
            left &= left - 1
            if best == NONE or sign * scores[action] > sign * scores[best]:
                best = action
        chosen |= 1 << best
        actions &= ~(1 << best)
    return chosen


@kernel
def best_score(scores, actions, sign):
    """Return the best of the actions' scores, for my side if ``sign`` is 1."""
    best = NEVER
    while actions:
        best = max(best, sign * scores[lowest(actions)])
        actions &= actions - 1
    return sign * best


@kernel
def look_further(v, table, values, surplus, weights, p, card, actions, breadth, positions, gains, saved, ahead):
    """Fill ``ahead[0, action]`` with each action's value by answers valued with `look_ahead`.

    Only the ``breadth`` answers to a card with the largest immediate gains are searched.
    """
    mover = p["mover"]
    after = positions[0]
    while actions:
        action = lowest(actions)
        actions &= actions - 1
        rounds.pass_on(p, after, card, v["players"])
        rounds.put(after, mover, card, action)
        if after["turn"] == TURNS:
            ahead[0, action] = value(v, table, values, surplus, weights, after)
            continue
        sign = 1 - 2 * (after["mover"] & 1)
        answers = rounds.open_to_mover(after, v["players"], v["adjacency"])
        unseen = after["unseen"]
        fill_gains(v, table, values, surplus, weights, after, unseen, gains[0])
        total = 0.0
        while unseen:
            answer_card = lowest(unseen)
            unseen &= unseen - 1
            left = answers
            while left:
                answer = lowest(left)
                left &= left - 1
                ahead[1, answer] = gain_of(gains[0], answer, answer_card)
            best = narrow(ahead[1], answers, breadth, sign)
            look_ahead(
                v, table, values, surplus, weights, after, answer_card, best, positions[1], gains[1], saved, ahead[1]
            )
            total += best_score(ahead[1], best, sign)
        ahead[0, action] = total / bit_count(after["unseen"])


@kernel
def score_now(v, table, values, surplus, weights, p, actions, gains, ahead):
    """Fill ``ahead[action]`` with each action's value in the view's position, without search."""
    card = v["card"]
    total = fill_gains(v, table, values, surplus, weights, p, 1 << card, gains)
    while actions:
        action = lowest(actions)
        actions &= actions - 1
        ahead[action] = total + gain_of(gains, action, card)


@kernel
def score_actions(v, table, values, surplus, win_table, weights, actions, answers, positions, gains, saved, ahead):
    """Fill ``ahead[0, action]`` with the value of each legal action of the view ``v``.

    The ``actions`` best actions at one ply less are searched with ``answers`` answers to each card.
    ``positions[0]`` is left with the view's position. Returns the actions that are searched
    furthest, one bit each.
    """
    p = positions[0]
    legal = v["legal"]
    card = v["card"]
    rounds.take_up(v, p)
    fill_surplus(p["unseen"], surplus)
    weigh(v, table, values, surplus, p, win_table, weights)
    if actions == 0:
        score_now(v, table, values, surplus, weights, p, legal, gains[0], ahead[0])
        return legal
    look_ahead(v, table, values, surplus, weights, p, card, legal, positions[1], gains[0], saved, ahead[0])
    if answers == 0:
        return legal
    legal = narrow(ahead[0], legal, actions, 1)
    look_further(v, table, values, surplus, weights, p, card, legal, answers, positions[1:], gains, saved, ahead)
    return legal


ACTIONS = TO_CRIB + 1
# The search of each budget: the number of actions, and of answers to every next card.
BUDGETS = ((0, 0), (ACTIONS, 0), (4, 3), (8, 6))
VALUE, WIN_VALUE = 2, 3  # the columns of an analysis after both sides' points
COLUMNS = 4


@entry(
    void(
        VIEWS_T, int64[::1], TABLE_T, float64[:, ::1], float64[::1], float64[:, :, ::1],
        float64[::1], int64, int64, POSITIONS_T, float64[:, :, ::1], float64[:, ::1],
        float64[:, ::1], int64[::1], float64[:, :, ::1],
    ),
    seconds=9,
)  # fmt: skip
def act_views(
    views, rows, table, values, surplus, win_table, weights, actions, answers, positions, gains,
    saved, ahead, chosen, analysis,
):  # fmt: skip
    """Write an action for each of the views ``rows``, all valued by ``win_table``."""
    for i in rows:
        v = views[i]
        legal = v["legal"]
        if legal & (legal - 1) == 0 and analysis.shape[0] == 0:
            chosen[i] = lowest(legal)
            continue
        learned = values[0 if v["flush_size"] == SIZE else 1]
        best = score_actions(
            v, table, learned, surplus, win_table, weights, actions, answers, positions, gains, saved, ahead
        )
        chosen[i] = lowest(narrow(ahead[0], best, 1, 1))
        if analysis.shape[0] == 0:
            continue
        p = positions[1]
        rounds.pass_on(positions[0], p, v["card"], v["players"])
        while legal:
            action = lowest(legal)
            legal &= legal - 1
            rounds.put(p, 0, v["card"], action)
            for side in range(2):
                analysis[i, action, side] = side_value(v, table, learned, surplus, p, side)
            analysis[i, action, VALUE] = ahead[0, action]
            rounds.take_back(p, 0, v["card"], action)


def scratch() -> tuple[npt.NDArray[np.void], Doubles, Doubles, Doubles]:
    """Return fresh ``positions, gains, saved, ahead`` to search in: threads may share an agent."""
    return (np.zeros(3, dtype=POSITION), np.zeros((2, GAINS, DECK)), np.zeros((2, DECK)), np.zeros((2, ACTIONS)))


def choose(views: Views, budget: int = 3) -> Actions:
    """Return an action for each view of a seat to move, int64[B].

    The ``budget``, 1 to 4, sets how far the search looks: 1, the values after its action alone; 2,
    the best answer to every card that may come next; 3 and 4, a card further; see `BUDGETS`.
    """
    return search(views, BUDGETS[budget - 1], np.zeros((0, ACTIONS, COLUMNS)))


def analyze(view: np.void, budget: int = 3) -> Doubles:
    """Return each action's expected results, for the seat to move of one view, float64[26, 4]."""
    analysis = np.full((ACTIONS, COLUMNS), np.nan)
    actions, answers = BUDGETS[budget - 1]
    search(np.array([view]), (ACTIONS if actions else 0, answers), analysis[None])
    # The points do not depend on the search. The best action's probability follows from its points,
    # another's from these less its loss in value: per point, half a point less for this side and
    # half a point more for the other, since the weights of their points sum to 2.
    mine, theirs, value = analysis[np.nanargmax(analysis[:, VALUE]), [MINE, THEIRS, VALUE]]
    behind = (value - analysis[:, VALUE]) / 2
    analysis[:, WIN_VALUE] = rounds.chance_of(view, mine - behind, theirs + behind)
    return analysis


def search(views: Views, budget: tuple[int, int], analysis: Doubles) -> Actions:
    """Return the best action of each view by one of `BUDGETS`; fill ``analysis`` if it has rows."""
    chosen = np.empty(len(views), dtype=np.int64)
    values, work = load(TABLE_TOP_VALUES)["values"], scratch()
    views = np.ascontiguousarray(views)
    for win_table, rows in rounds.group_by_win_table(views):
        act_views(
            views, rows, show_table(), values, np.zeros(RANKS), win_table, np.ones(2), *budget,
            *work, chosen, analysis,
        )  # fmt: skip
    return chosen
