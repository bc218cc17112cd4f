"""How a line of pegging ends, for one hand against the range of the other seat, and its regrets.

``w`` is a `crib_training.solve.play.Walk`.
"""

from __future__ import annotations

from crib_agents.data.tables import RANKS
from crib_agents.knowledge.pegging import DISTINCT, FIRST, LISTED, OF_SIZE

from crib_env.engine import stack
from crib_env.engine.jit import kernel
from crib_env.engine.record import NONE
from crib_training.solve.counts import PAIR

LEARN, VALUE, BEST = range(3)
"""What a walk is for: to learn of it, to value the strategy, or to value the best answer to it."""

MIN_WEIGHT = 0.001  # the least weight, so that what hardly happens is learned too
UNFIT = -1e30  # instead of the value of a rank that does not fit


@kernel
def credit(w, level, place, points, path):
    """Add points, weighted by the range, to the whole hand of the other's holding at ``place``."""
    if len(w.by_hand) > 0:
        w.by_hand[w.origin[level, place]] += path * points


@kernel
def count_up(w, level, size, points, path):
    """Return the points of a finished line of pegging, weighted by the range."""
    total = 0.0
    for i in range(OF_SIZE[size]):
        weighed = w.reach[level, i] * points
        total += weighed
        credit(w, level, i, weighed, path)
    return total


@kernel
def count_alone(w, level, size, state, points, path):
    """Return the same where this seat has no cards left, and the other plays on alone."""
    total = 0.0
    for i in range(OF_SIZE[size]):
        weighed = w.reach[level, i] * (points - w.alone[state, FIRST[size] + i])
        total += weighed
        credit(w, level, i, weighed, path)
    return total


@kernel
def their_last_two(w, node, level, state, rank, points, path):
    """Return the same where the other seat plays one of two cards, and this one has one."""
    at = w.offset[node]
    lower = w.theirs[at : at + PAIR]
    makes = w.their_two[state, rank]
    reach = w.reach[level]
    total = 0.0
    for i in range(PAIR):
        share = lower[i]
        total += reach[i] * (points - share * makes[0, i] - (1.0 - share) * makes[1, i])
    if len(w.by_hand) > 0:
        for i in range(PAIR):
            made = points - lower[i] * makes[0, i] - (1.0 - lower[i]) * makes[1, i]
            w.by_hand[w.origin[level, i]] += path * reach[i] * made
    return total


@kernel
def my_last_two(reach, makes, points, action_value):
    """Write the values of the lower and the higher of two cards if the other seat has one.

    Shapes: makes int8[2, 13].
    """
    low = 0.0
    high = 0.0
    for x in range(RANKS):
        low += reach[x] * (points + makes[0, x])
        high += reach[x] * (points + makes[1, x])
    action_value[0] = low
    action_value[1] = high


@kernel
def learn(book, probabilities, page, at, left, slots, action_value, value, gained):
    """Add to the regrets and the average of a holding at a node, and set its next strategy.

    Args:
        book, probabilities: see `Walk`. page, at: where the holding's begin there.
        left: how many cards it has. slots: how many ranks.
        action_value: float64, what each of its ranks brings; `UNFIT` for those that do not fit.
        value: the value of its strategy. gained: the weight of that in the average.
    """
    total = 0.0
    for slot in range(slots):
        regret = book[page + slot]
        if action_value[slot] != UNFIT:
            regret = max(regret + action_value[slot] - value, 0.0)
            book[page + slot] = regret
        total += regret
    rest = 1.0
    for slot in range(slots - 1):
        if total > 0.0:
            probabilities[at + slot] = book[page + slot] / total
        rest -= probabilities[at + slot]
        book[page + left + slot] += gained * probabilities[at + slot]
    book[page + left + slots - 1] += gained * rest


@kernel
def choose_of_two(w, node, level, state, own, points, path):
    """Return what follows where this seat plays one of two cards and the other has one."""
    slots = w.rows[own, DISTINCT]
    place = own - FIRST[2]
    low = w.rows[own, LISTED] & 15
    high = w.rows[own, LISTED] >> 4
    at = w.offset[node] * w.pairs + place * w.pairs + w.pair
    share = w.probabilities[at] if slots > 1 else 1.0
    action_value = stack.floats(2)
    my_last_two(w.reach[level], w.last_two[state, place], points, action_value)
    if len(w.by_hand) > 0:
        makes = w.last_two[state, place]
        for x in range(RANKS):
            made = points + share * makes[0, x] + (1.0 - share) * makes[1, x]
            w.by_hand[w.origin[level, x]] += path * w.reach[level, x] * made
    if slots == 1 or w.after[state, high] == NONE:
        return action_value[0]
    if w.after[state, low] == NONE:
        return action_value[1]
    if w.mode == BEST:
        if len(w.book) > 0:
            w.book[node] = low if action_value[0] >= action_value[1] else high
        return max(action_value[0], action_value[1])
    value = share * action_value[0] + (1.0 - share) * action_value[1]
    if w.mode == LEARN:
        page = (w.pages[node] + 4 * place) * w.pairs + 4 * w.pair
        gained = w.weight * (path + MIN_WEIGHT)
        learn(w.book, w.probabilities, page, at, 2, 2, action_value, value, gained)
    return value
