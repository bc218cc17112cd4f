"""The states of a count, and how the pegging ends from each.

Two counts are in the same state if later cards score the same after both: equal counts, as many
equal cards at the end, and the same last cards that can still form a run. So the pegging of eight
cards needs thousands of states, while there are millions of sequences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from crib_agents.equilibrium.public_tree import PIPS
from crib_agents.knowledge.pegging import FIRST, LISTED, LOWEST, REPLY, SAME_PLAYER, go_point, holdings, turn_after
from numba import int8, int32, int64, void

from crib_env.engine.hands.counting import sequence_points
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import RANKS, SUITS, how_many
from crib_env.engine.record import NONE

PAIR = how_many(2)
PIP = [int(pip) for pip in PIPS]

State = tuple[int, int, tuple[int, ...]]
"""The count, equal cards at the end, the last cards that can still form a run."""


@dataclass(frozen=True, eq=False)
class Counts:
    """The states of a count, sorted by number of cards.

    A state's number is even, or odd once the count's go point is pegged (H5); 0 is the empty count.
    """

    # int32[K, 13], the state after a card of each rank; NONE where it does not fit
    after: npt.NDArray[np.int32]
    points: npt.NDArray[np.int8]  # int8[K, 13], the points of that card
    count: npt.NDArray[np.int8]  # int8[K]
    # int8[K', 91, 2, 13], by the mover's two cards, the one played first, lower or higher, and the
    # other seat's only card: the mover's points less the other's until the play ends; 0 where the
    # card does not fit. For states in which this can occur.
    last_two: npt.NDArray[np.int8]
    # int8[K', 13, 2, 91], the same with the last three axes reversed
    their_two: npt.NDArray[np.int8]
    # int8[K, 560], by holding: the most points of a seat whose opponent has no cards
    alone: npt.NDArray[np.int8]


def follow(state: State, rank: int, cards: int) -> State:
    """Return the state after a card of a rank; ``cards`` is how many the pegging has at most."""
    count = state[0] + PIP[rank]
    ranks = (*sequence(state), rank)
    alike = 1
    while alike < min(len(ranks), SUITS) and ranks[-1 - alike] == rank:
        alike += 1
    keep = 1
    last: set[int] = set()
    for n, older in enumerate(reversed(ranks), 1):
        if older in last:
            break
        last.add(older)
        missing = set(range(min(last), max(last) + 1)) - last
        if n + len(missing) <= cards and count + sum(PIP[r] for r in missing) <= 31:
            keep = n
    return count, alike, ranks[len(ranks) - keep :]


def sequence(state: State) -> tuple[int, ...]:
    """Return cards that score the same as those of the state."""
    _, alike, last = state
    return last if alike < 2 else last[-1:] * alike


def list_states(cards: int) -> tuple[list[list[int]], list[list[int]], list[int], list[int]]:
    """Return each state's successors and points by rank, counts, and numbers by cards played."""
    numbers: dict[State, int] = {(0, 0, ()): 0}
    level = list(numbers)
    after: list[list[int]] = []
    points: list[list[int]] = []
    within = [1]
    for played in range(cards):
        below: list[State] = []
        for state in level:
            ranks = sequence(state)
            packed = sum(rank << (4 * i) for i, rank in enumerate(reversed(ranks)))
            follows, makes = [NONE] * RANKS, [0] * RANKS
            for rank in range(RANKS):
                count = state[0] + PIP[rank]
                if count > 31:
                    continue
                makes[rank] = int(sequence_points(packed << 4 | rank, len(ranks) + 1, count, 0))
                then = (count, 0, ()) if played + 1 == cards else follow(state, rank, cards)
                if then not in numbers:
                    numbers[then] = len(numbers)
                    below.append(then)
                follows[rank] = numbers[then]
            after.append(follows)
            points.append(makes)
        level = below
        within.append(len(numbers))
    ended = [[NONE] * RANKS for _ in level]
    return after + ended, points + [[0] * RANKS for _ in level], [s[0] for s in numbers], within


@cache
def count_states(cards: int, single_count: bool) -> Counts:
    """Return the states of the counts of a game, and how the pegging ends from each."""
    follows, makes, counted, within = list_states(2 * cards)
    n = len(counted)
    count = np.repeat(np.array(counted, dtype=np.int8), 2)
    plain = np.array(follows, dtype=np.int32)
    after = np.empty((2 * n, RANKS), dtype=np.int32)
    points = np.repeat(np.array(makes, dtype=np.int8), 2, axis=0)
    for go in range(2):
        after[go::2] = np.where(plain == NONE, NONE, 2 * plain + go)
    points[1::2] -= (count[after[1::2]] == 31) & (plain != NONE)  # go pegged: 31 adds one (H6)
    last_two = np.zeros((2 * within[2 * cards - 3], PAIR, 2, RANKS), dtype=np.int8)
    alone = np.zeros((2 * n, FIRST[4]), dtype=np.int8)
    few = 2 * np.array(within, dtype=np.int64)
    fill_endings(after, points, count, int(single_count), holdings(), few, last_two, alone)
    their_two = np.ascontiguousarray(last_two.transpose(0, 3, 2, 1))
    return Counts(after, points, count, last_two, their_two, alone)


@kernel
def gone(state, single_count):
    """Return the state once the other seat cannot play: with the go point pegged."""
    return state if single_count else state | 1


@kernel
def play_out(after, points, count, single_count, state, first, second, other):
    """Return the mover's points less the other's from here on.

    The mover plays ``first``, which fits, then ``second``; ``other`` is the other seat's one rank.
    """
    net = 0
    mine = True
    while True:
        rank = first if mine else other
        net += points[state, rank] if mine else -points[state, rank]
        state = after[state, rank]
        if mine:
            first = second
            second = NONE
        else:
            other = NONE
        here = first if mine else other
        there = other if mine else first
        able = here != NONE and after[state, here] != NONE
        other_able = there != NONE and after[state, there] != NONE
        way, point = turn_after(count[state], state & 1, able, other_able, single_count)
        net += point if mine else -point
        if way == REPLY:
            mine = not mine
        elif way == SAME_PLAYER:
            state = gone(state, single_count)
        elif single_count or (here == NONE and there == NONE):
            return net
        else:
            state = 0
            mine = mine != (there != NONE)


@kernel
def play_alone(after, points, count, single_count, alone, rows, state, holding):
    """Return the most points that a seat makes with these cards; see `Counts.alone`."""
    best = 0
    for rank in range(RANKS):
        rest = rows[holding, rank]
        if rest == NONE or after[state, rank] == NONE:
            continue
        then = after[state, rank]
        able = rest > 0 and count[then] + rows[rest, LOWEST] <= 31
        made = points[state, rank] + go_point(count[then], then & 1, able, single_count)
        if able:
            made += alone[gone(then, single_count), rest]
        elif rest > 0 and not single_count:
            made += alone[0, rest]
        best = max(best, made)
    return best


@entry(void(int32[:, ::1], int8[:, ::1], int8[::1], int64, int64[:, ::1], int64[::1], int8[:, :, :, ::1], int8[:, ::1]))
def fill_endings(after, points, count, single_count, rows, few, last_two, alone):
    """Fill `Counts.last_two` and `Counts.alone`.

    Args:
        rows: of `holdings`. few: for each number of cards, how many states have no more.
    """
    for size in range(1, 4):  # the smaller holdings first: the others build on them
        for holding in range(FIRST[size], FIRST[size + 1]):
            for state in range(few[len(few) - 1 - size]):
                alone[state, holding] = play_alone(after, points, count, single_count, alone, rows, state, holding)
    for state in range(len(last_two)):
        for pair in range(PAIR):
            low = rows[FIRST[2] + pair, LISTED] & 15
            high = max(low, rows[FIRST[2] + pair, LISTED] >> 4)
            for x in range(RANKS):
                if after[state, low] != NONE:
                    last_two[state, pair, 0, x] = play_out(after, points, count, single_count, state, low, high, x)
                if after[state, high] != NONE:
                    last_two[state, pair, 1, x] = play_out(after, points, count, single_count, state, high, low, x)
