"""Search over the cards to come: every action, the mean over the next card, the best answer to it.

Values are for my side, seat 0's: its expected points minus the other side's, both weighted. The
search can go deeper into the best few replies, chosen by their immediate gain.
"""

from __future__ import annotations

from crib_agents.expert.table_top.gains import (
    CRIB_ROW,
    DECK,
    NEVER,
    crib_gains,
    fill_gains,
    gain_of,
    line_gains,
    mean_best_gain,
)
from crib_agents.expert.table_top.value import value, weigh
from crib_agents.expert.table_top.values import fill_surplus
from crib_agents.knowledge.table_top import open_to_mover, pass_on, put, take_back, take_up
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_env.engine.table_top.cells import bit_count, lowest
from crib_env.engine.table_top.records import SIZE, TO_CRIB, TURNS


@kernel
def copy_row(row, to):
    """Copy the gains of 52 cards."""
    for card in range(DECK):
        to[card] = row[card]


@kernel
def look_ahead(v, table, values, surplus, weights, p, card, actions, after, gains, saved, ahead):
    """Fill ``ahead[action]`` with the value of each action by the best answers to every next card.

    Args:
        card: the mover's, in the position ``p``.
        actions: those to look at, one bit each.
        after: a `POSITION` to work in.
        gains, saved: float64[GAINS, 52] and [2, 52], to work in.
    """
    mover = p["mover"]
    pass_on(p, after, card, v["players"])
    last = after["turn"] == TURNS
    unseen = after["unseen"]
    total = 0.0 if last else fill_gains(v, table, values, surplus, weights, after, unseen, gains)
    while actions:
        action = lowest(actions)
        actions &= actions - 1
        if last:
            put(after, mover, card, action)
            ahead[action] = value(v, table, values, surplus, weights, after)
            take_back(after, mover, card, action)
        elif action == TO_CRIB:
            total_0 = crib_gains(v, table, values, weights, after, unseen, gains[CRIB_ROW])
            put(after, mover, card, action)
            total_1 = crib_gains(v, table, values, weights, after, unseen, gains[CRIB_ROW])
            ahead[action] = (
                total - total_0 + total_1 + mean_best_gain(v, values, weights, after, gains)
            )
            take_back(after, mover, card, action)
            crib_gains(v, table, values, weights, after, unseen, gains[CRIB_ROW])
        else:
            row = action // SIZE
            column = SIZE + action % SIZE
            copy_row(gains[row], saved[0])
            copy_row(gains[column], saved[1])
            changed = -line_gains(v, table, values, surplus, weights, after, row, 0, gains[row])
            changed -= line_gains(
                v, table, values, surplus, weights, after, column, 0, gains[column]
            )
            put(after, mover, card, action)
            changed += line_gains(
                v, table, values, surplus, weights, after, row, unseen, gains[row]
            )
            changed += line_gains(
                v, table, values, surplus, weights, after, column, unseen, gains[column]
            )
            ahead[action] = total + changed + mean_best_gain(v, values, weights, after, gains)
            take_back(after, mover, card, action)
            copy_row(saved[0], gains[row])
            copy_row(saved[1], gains[column])


@kernel
def narrow(scores, actions, breadth, sign):
    """Return the ``breadth`` best of the actions by their scores, the best for my side if +1."""
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
def look_further(
    v, table, values, surplus, weights, p, card, actions, breadth, positions, gains, saved, ahead
):
    """Fill ``ahead[0, action]`` with each action's value by answers that look ahead themselves.

    Args:
        breadth: answers to a card that are looked at, the best by what they gain at once.
        positions: [2] positions to work in.
        gains: float64[2, GAINS, 52]; saved: float64[2, 52]; ahead: float64[2, 26], to work in.
    """
    mover = p["mover"]
    after = positions[0]
    while actions:
        action = lowest(actions)
        actions &= actions - 1
        pass_on(p, after, card, v["players"])
        put(after, mover, card, action)
        if after["turn"] == TURNS:
            ahead[0, action] = value(v, table, values, surplus, weights, after)
            continue
        sign = 1 - 2 * (after["mover"] & 1)
        answers = open_to_mover(after, v["players"], v["adjacency"])
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
                v, table, values, surplus, weights, after, answer_card, best, positions[1],
                gains[1], saved, ahead[1],
            )  # fmt: skip
            total += best_score(ahead[1], best, sign)
        ahead[0, action] = total / bit_count(after["unseen"])


@kernel
def score_now(v, table, values, surplus, weights, p, actions, gains, ahead):
    """Fill ``ahead[action]`` with each action's value without search, of the view's position."""
    card = v["card"]
    total = fill_gains(v, table, values, surplus, weights, p, 1 << card, gains)
    while actions:
        action = lowest(actions)
        actions &= actions - 1
        ahead[action] = total + gain_of(gains, action, card)


@kernel
def score_actions(
    v, table, values, surplus, win_table, weights, actions, answers, positions, gains, saved, ahead
):
    """Fill ``ahead[0, action]`` with the value of each legal action of the view ``v``.

    Args:
        surplus: float64[13], to work in.
        win_table: the chance of winning by what both sides come to, see `weigh`.
        weights: float64[2], filled with the values of their points.
        actions: how many are looked into at most, the best by a ply less; 0 for no search.
        answers: how many answers to each card are looked into, the best by what they gain at
            once; 0 for none.
        positions: [3] positions; gains: float64[2, GAINS, 52]; saved: float64[2, 52];
            ahead: float64[2, 26], to work in. ``positions[0]`` is left with the view's position.

    Returns:
        the actions that were looked into furthest, one bit each.
    """
    p = positions[0]
    legal = v["legal"]
    card = v["card"]
    take_up(v, p)
    fill_surplus(p["unseen"], surplus)
    weigh(v, table, values, surplus, p, win_table, weights)
    if actions == 0:
        score_now(v, table, values, surplus, weights, p, legal, gains[0], ahead[0])
        return legal
    look_ahead(
        v, table, values, surplus, weights, p, card, legal, positions[1], gains[0], saved, ahead[0]
    )
    if answers == 0:
        return legal
    legal = narrow(ahead[0], legal, actions, 1)
    look_further(
        v, table, values, surplus, weights, p, card, legal, answers, positions[1:], gains, saved,
        ahead,
    )  # fmt: skip
    return legal
