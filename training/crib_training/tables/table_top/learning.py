"""Kernels by which the Table Top expert learns its values from self-play.

The expert plays a round by the values alone, without search, and stores every player's position
after each turn. It then learns from the round in one of two ways. `learn_lines` treats each line
separately: the line's final points correct its earlier values. That is quick, but it credits a line
with the points of its neighbours. `learn_sides` continues by temporal differences, TD(lambda): the
later value of a side's lines together corrects the earlier one. So the value of a line becomes its
contribution to the whole.
"""

from __future__ import annotations

from crib_agents.data.tables import RANKS
from crib_agents.expert.table_top import NEVER, score_now
from crib_agents.expert.table_top_values import (
    CRIB,
    LINE,
    NOB,
    OWED,
    OWED_LINES,
    PHASES,
    SHAPES,
    SUITED,
    SURPLUS,
    crib_value,
    fill_surplus,
    line_value,
    nob_in,
    owner_moves_next,
    phase_of,
    shape,
    side_value,
    sign_of,
)
from crib_agents.knowledge.table_top import LINES, POSITIONS_T, pass_on, put, take_up
from numba import float64, int64, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import DECKS_T, LOG_T, NONE, TABLE_T
from crib_env.engine.rng import below
from crib_env.engine.table_top import FAMILY
from crib_env.engine.table_top.cells import bit_count, lowest
from crib_env.engine.table_top.lines import most_of_a_suit, nob_of, owed_by, points_so_far
from crib_env.engine.table_top.records import CRIB_CARDS, SIZE, TO_CRIB, TURNS
from crib_env.engine.table_top.rules import begin_episode, step
from crib_env.engine.table_top.views import view

STATES_T, RULES_T, VIEWS_T = FAMILY.types
TRACE = 0.9  # lambda: the share of a correction that earlier turns get
SLOWER = 0.1  # tables that most lines share learn by so much less in `learn_sides`
SURPLUS_RATE = 0.2  # of the rate in `learn_lines`: thirteen entries share a correction


@kernel
def best_of(ahead, legal):
    """Return the legal action of the highest value, of equals the first."""
    best = TO_CRIB
    most = NEVER
    while legal:
        action = lowest(legal)
        legal &= legal - 1
        if ahead[action] > most:
            best = action
            most = ahead[action]
    return best


@kernel
def any_of(rng, legal):
    """Return one of the legal actions, each as likely."""
    for _ in range(below(rng, bit_count(legal))):
        legal &= legal - 1
    return lowest(legal)


@kernel
def correct(values, visits, at, error, rate):
    """Move a value towards what was found: to the mean of the first finds, then at ``rate``."""
    visits[at] += 1.0
    values[at] += error * max(1.0 / visits[at], rate)


@kernel
def correct_mixed(values, surplus, cards, error):
    """Correct what the unseen ranks add to a line."""
    at = SURPLUS + shape(cards) * RANKS
    for rank in range(RANKS):
        values[at + rank] += error * surplus[rank]


@kernel
def owed_at(owner_next, phase, owner_owes, other_owes):
    """Return where the values hold what is owed to the crib."""
    return OWED_LINES + ((owner_next * PHASES + phase) * OWED + owner_owes) * OWED + other_owes


@kernel
def learn_lines(table, values, visits, surplus, v, q, end, rate):
    """Correct every line of the position ``q`` by what it came to in ``end``.

    Args:
        v: the view in which the mover decided.
    """
    phase = phase_of(TURNS - q["turn"])
    size = v["flush_size"]
    fill_surplus(q["unseen"], surplus)
    mine = 0.0
    theirs = 0.0
    for i in range(LINES):
        cards = q["lines"][i]
        n = bit_count(cards)
        if n == SIZE:
            continue
        sign = sign_of(v, i)
        owner_next = owner_moves_next(sign, q["mover"])
        nob = nob_in(v, i)
        error = points_so_far(table, end["lines"][i], size, nob)
        error -= line_value(
            values, surplus, table, cards, owner_next, phase, size, nob, q["unseen"]
        )
        if sign > 0:
            mine += error
        else:
            theirs += error
        at = owner_next * PHASES + phase
        correct_mixed(values, surplus, cards, error * rate * SURPLUS_RATE)
        correct(values, visits, LINE + at * SHAPES + shape(cards), error, rate)
        correct(values, visits, SUITED + (at * SIZE + n) * SIZE + most_of_a_suit(cards), error,
                rate)  # fmt: skip
        if nob & q["unseen"]:
            correct(values, visits, NOB + at * SIZE + n, error, rate)
    at = owed_at(0, phase, owed_by(q, 0), owed_by(q, 1))
    correct(values, visits, at, mine - values[at], rate)
    at = owed_at(1, phase, owed_by(q, 1), owed_by(q, 0))
    correct(values, visits, at, theirs - values[at], rate)


@kernel
def learn_crib(table, values, visits, v, known, points, rate):
    """Correct the value of a crib with the cards ``known`` by what it came to."""
    if bit_count(known) < SIZE:
        error = points - crib_value(values, table, known, v["my_crib"], nob_of(v))
        correct(values, visits, CRIB + v["my_crib"] * SHAPES + shape(known), error, rate)


@kernel
def lines_of_side(v, table, values, surplus, p, side):
    """Return what a side's five lines are likely to come to: 0 is mine."""
    total = side_value(v, table, values, surplus, p, side)
    if (v["my_crib"] == 1) == (side == 0):
        total -= crib_value(values, table, p["crib"], v["my_crib"], nob_of(v))
    return total


@kernel
def spread(values, surplus, v, q, mine, theirs, rate):
    """Correct the lines of both sides in the position ``q`` by the sides' errors."""
    phase = phase_of(TURNS - q["turn"])
    for i in range(LINES):
        cards = q["lines"][i]
        n = bit_count(cards)
        if n == SIZE:
            continue
        sign = sign_of(v, i)
        error = rate * (mine if sign > 0 else theirs)
        at = owner_moves_next(sign, q["mover"]) * PHASES + phase
        correct_mixed(values, surplus, cards, error)
        values[LINE + at * SHAPES + shape(cards)] += error
        values[SUITED + (at * SIZE + n) * SIZE + most_of_a_suit(cards)] += SLOWER * error
        if nob_in(v, i) & q["unseen"]:
            values[NOB + at * SIZE + n] += SLOWER * error
    values[owed_at(0, phase, owed_by(q, 0), owed_by(q, 1))] += SLOWER * rate * mine
    values[owed_at(1, phase, owed_by(q, 1), owed_by(q, 0))] += SLOWER * rate * theirs


@kernel
def learn_sides(table, values, surplus, views, past, rate):
    """Correct both sides' lines in every position of a round by their values later."""
    v = views[TURNS - 1]
    q = past[TURNS - 1]
    goal = lines_of_side(v, table, values, surplus, q, 0)
    other_goal = lines_of_side(v, table, values, surplus, q, 1)
    for turn in range(TURNS - 2, -1, -1):
        v = views[turn]
        q = past[turn]
        goal, other_goal = other_goal, goal  # the mover before is of the other side
        fill_surplus(q["unseen"], surplus)
        mine = lines_of_side(v, table, values, surplus, q, 0)
        theirs = lines_of_side(v, table, values, surplus, q, 1)
        spread(values, surplus, v, q, goal - mine, other_goal - theirs, rate)
        goal = TRACE * goal + (1.0 - TRACE) * mine
        other_goal = TRACE * other_goal + (1.0 - TRACE) * theirs


@entry(
    void(
        STATES_T, RULES_T, DECKS_T, TABLE_T, float64[::1], float64[::1], float64[::1],
        float64[::1], VIEWS_T, POSITIONS_T, float64[:, ::1], float64[::1], LOG_T, int64, int64,
        int64, float64, int64[:, ::1],
    )
)  # fmt: skip
def self_play(
    states, rules, decks, table, values, visits, surplus, weights, views, past, gains, ahead, log,
    rounds, whole, epsilon, rate, points,
):  # fmt: skip
    """Play rounds and learn from each.

    Args:
        values, visits: float64[VALUES], what is learned and how often it was corrected.
        surplus, gains, ahead: as `score_now` works in.
        weights: float64[2], of the sides' points.
        views: [TURNS] views and past: [TURNS + 1] positions, to work in.
        whole: 1 to learn by sides, 0 by lines.
        epsilon: one action in this many is random; 0 for none.
        points: int64[rounds, 2], filled with what rows and columns scored, heels and crib included.
    """
    s = states[0]
    r = rules[0]
    p = past[TURNS]
    for k in range(rounds):
        begin_episode(s, r, decks, NONE, log)
        while s["over"] == 0:
            turn = s["turn"]
            v = views[turn]
            view(s, r, s["to_move"], v)
            legal = v["legal"]
            take_up(v, p)
            fill_surplus(p["unseen"], surplus)
            score_now(v, table, values, surplus, weights, p, legal, gains, ahead)
            if epsilon and below(s["rng"], epsilon) == 0:
                action = any_of(s["rng"], legal)
            else:
                action = best_of(ahead, legal)
            pass_on(p, past[turn], v["card"], r["players"])
            put(past[turn], 0, v["card"], action)
            step(s, r, decks, table, action, log)
        points[k, 0] = s["scores"][0]
        points[k, 1] = s["scores"][1]
        if whole:
            learn_sides(table, values, surplus, views, past, rate)
            continue
        crib = 1 << views[0]["starter"]
        for i in range(CRIB_CARDS):
            crib |= 1 << s["deck"][s["crib"][i]]
        crib_points = points_so_far(table, crib, r["crib_flush_size"], nob_of(views[0]))
        for turn in range(TURNS - 1):
            v = views[turn]
            q = past[turn]
            learn_lines(table, values, visits, surplus, v, q, past[TURNS - 1], rate)
            learn_crib(table, values, visits, v, q["crib"], crib_points, rate)
            # search needs the crib's value with one of the other side's cards
            known = q["crib"] | 1 << s["deck"][s["crib"][below(s["rng"], CRIB_CARDS)]]
            learn_crib(table, values, visits, v, known, crib_points, rate)
