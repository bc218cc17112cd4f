"""Table Top: a round as one side knows it, for search, and the probability of winning.

Seats are numbered to the left from the seat of the view, so a seat's side is its parity. Lines
0 to 4 are the rows, 5 to 9 the columns.

A game is solved backwards over the totals of both sides, with the measured points of a round
(`load_rounds`). It ends when a side has the target or more after a full count; the higher total
wins, and a tie continues (T9). Within a round each side's points are the expected ones plus a
normal error, which shrinks as cards come. Past the target only the difference of the totals
matters, so the tables end some way beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from crib_agents.data import tables
from crib_agents.honours import group_rows
from crib_env.arrays import Doubles, portable
from crib_env.engine.jit import kernel
from crib_env.engine.record import array_of, record
from crib_env.engine.show import JACK
from crib_env.engine.table_top import PLAYERS
from crib_env.engine.table_top.lines import crib_known, line_through, unseen_cards
from crib_env.engine.table_top.records import GAME, LINES, SEATS, SIZE, TO_CRIB, TURNS, open_actions
from crib_env.policy import Views

POSITION = record(
    ("lines", LINES),  # each line's cards as a mask
    "placed",
    "crib",  # the starter and the cards of the crib that my side knows, as a mask
    "unseen",
    "turn",
    "mover",  # in seats to the left of mine
    ("owed", SEATS),
)
POSITIONS_T = array_of(POSITION)


@kernel
def take_up(v, p):
    """Fill the `POSITION` ``p`` from the view ``v``; the card in turn counts as seen."""
    for i in range(SIZE):
        p["lines"][i] = line_through(v, SIZE * i, 1)
        p["lines"][SIZE + i] = line_through(v, i, 0)
    p["placed"] = v["placed"]
    p["crib"] = crib_known(v)
    p["unseen"] = unseen_cards(v)
    p["turn"] = v["turn"]
    p["mover"] = 0
    for seat in range(SEATS):
        p["owed"][seat] = v["owed"][seat]


@kernel
def pass_on(p, after, card, players):
    """Fill ``after`` with the position ``p`` one turn on, the card seen but not yet placed."""
    for i in range(LINES):
        after["lines"][i] = p["lines"][i]
    for seat in range(SEATS):
        after["owed"][seat] = p["owed"][seat]
    after["placed"] = p["placed"]
    after["crib"] = p["crib"]
    after["unseen"] = p["unseen"] & ~(1 << card)
    after["turn"] = p["turn"] + 1
    after["mover"] = (p["mover"] + 1) & (players - 1)


@kernel
def put(p, mover, card, action):
    """Apply an action of ``mover`` with ``card`` to the position."""
    if action == TO_CRIB:
        p["crib"] |= 1 << card
        p["owed"][mover] -= 1
    else:
        p["placed"] |= 1 << action
        p["lines"][action // SIZE] |= 1 << card
        p["lines"][SIZE + action % SIZE] |= 1 << card


@kernel
def take_back(p, mover, card, action):
    """Undo `put`."""
    if action == TO_CRIB:
        p["crib"] &= ~(1 << card)
        p["owed"][mover] += 1
    else:
        p["placed"] &= ~(1 << action)
        p["lines"][action // SIZE] &= ~(1 << card)
        p["lines"][SIZE + action % SIZE] &= ~(1 << card)


@kernel
def open_to_mover(p, players, adjacency):
    """Return the actions open to the mover, one bit each."""
    owed = p["owed"][p["mover"]]
    return open_actions(p["placed"], owed, TURNS - 1 - p["turn"], players, adjacency)


MOST_POINTS = 79  # a side's points of a round above this, never seen so far, count as this many
POINTS = MOST_POINTS + 1


@cache
def load_rounds(score_difference: int, players: int) -> tuple[Doubles, Doubles]:
    """Return the distribution of a round's points, and their spread around expectations.

    Returns:
        points: float64[80, 80], probabilities by the points of the dealing side and of the other,
            heels and crib included; where only the difference counts (T13), one of the two is 0.
        spread: float64[28, 2, 2], by turn, the covariance of both sides' counted points around the
            mover's expectation after it.
    """
    held = tables.load(tables.TABLE_TOP_ROUNDS)
    at = score_difference, PLAYERS.index(players)
    counted = held["counted"][at]
    return counted / counted.sum(), held["spread"][at]


@cache
def probabilities(score_difference: int, players: int, target: int) -> Doubles:
    """Return the dealing side's probability of winning at a round's end, float64[N, N].

    By its total and the other side's, N = target + 80.
    """
    table = solve(load_rounds(score_difference, players)[0], target).clip(0.0, 1.0)
    table.setflags(write=False)
    return table


def solve(points: Doubles, target: int) -> Doubles:
    """Return `probabilities` for rounds of the distribution ``points``, float64[n, n].

    It solves one sum of totals after another, the highest first: a round never lowers the sum. The
    deal passes, so the side that dealt is the other one in the next round.
    """
    n = len(points)
    blank = points[0, 0]  # probability of a round without a point, which only passes the deal
    total = np.arange(target + n)
    ended = won(target + n)
    # A tie past the target goes to the higher score of the next round that is not a tie.
    level = np.trace(points)
    ended[total, total] = 1.0 - (np.tril(points, -1).sum() + level) / (1.0 + level)
    brought = np.argwhere(points > 0.0)
    dealer, other = brought[brought.any(axis=1)].T[:, :, None]
    weights = points[dealer, other].ravel()
    for both in range(2 * target - 2, -1, -1):
        a = np.arange(max(0, both - target + 1), min(target - 1, both) + 1)
        # The part of the next dealer's probability, with total a to b, from rounds with points.
        scored = weights @ ended[a + dealer, both - a + other]
        deals = (scored + blank * (1.0 - scored[::-1] - blank)) / (1.0 - blank**2)
        ended[a, both - a] = 1.0 - deals[::-1]
    return ended


def won(size: int) -> Doubles:
    """Return the result by both totals, float64[size, size]: 1 if the first won, 0.5 at a tie."""
    total = np.arange(size, dtype=np.float64)
    found: Doubles = np.sign(total[:, None] - total[None, :]) / 2.0 + 0.5
    return found


def smoothed(value: Doubles, spread: Doubles) -> Doubles:
    """Return ``value``, [a, b], smoothed by normal errors of covariances ``spread`` [..., 2, 2]."""
    margin = 6 * int(np.ceil(np.sqrt(spread.max()))) + 1  # padding: the transform is periodic
    wide = np.pad(value, margin, mode="edge")
    p, q = (2.0 * np.pi * np.fft.fftfreq(size) for size in wide.shape)
    waves = np.stack(np.broadcast_arrays(p[:, None], q), axis=-1)
    damped = np.exp(-0.5 * np.einsum("abi,...ij,abj->...ab", waves, spread, waves))
    found = np.fft.ifft2(np.fft.fft2(wide) * damped).real
    return portable(found[..., margin:-margin, margin:-margin]).clip(0.0, 1.0)


@lru_cache(maxsize=8)
def win_table(players: int, target: int) -> Doubles:
    """Return `probabilities` by turn and expected totals at the round's end, float64[28, N, N]."""
    return smoothed(probabilities(0, players, target), load_rounds(0, players)[1])


def between(table: Doubles, a: Doubles, b: Doubles) -> Doubles:
    """Interpolate a table linearly at the indices ``a`` and ``b``, float64[n]; NaN at NaN."""
    i, j = (
        np.floor(np.nan_to_num(at)).clip(0, size - 2).astype(np.int64)
        for at, size in zip((a, b), table.shape, strict=True)
    )
    x, y = a - i, b - j
    low = (1.0 - x) * table[i, j] + x * table[i + 1, j]
    high = (1.0 - x) * table[i, j + 1] + x * table[i + 1, j + 1]
    return (1.0 - y) * low + y * high


ALIKE = np.zeros((0, 0, 0))  # an empty win table: all points have the same value
# The fields that a win table depends on; views alike in these share one.
FIELDS = ("episode", "score_difference", "players", "target")


def group_by_win_table(views: Views) -> Iterator[tuple[Doubles, npt.NDArray[np.intp]]]:
    """Yield each `win_table`, or `ALIKE`, and the indices of its views."""
    for key, rows in group_rows(np.stack([views[field] for field in FIELDS], axis=1)):
        episode, score_difference, players, target = key
        weighed = episode == GAME and not score_difference
        yield win_table(players, target) if weighed else ALIKE, rows


def chance_of(view: np.void, mine: Doubles, theirs: Doubles) -> Doubles:
    """Return the probability of winning by both sides' expected points in the round, float64[n]."""
    game, i_deal = view["episode"] == GAME, view["my_crib"] == 1
    dealer, other = (mine, theirs) if i_deal else (theirs, mine)
    if view["starter"] >> 2 == JACK and (view["score_difference"] or not game):
        dealer = dealer + view["heels"]  # T3; elsewhere they are in the score
    target = int(view["target"]) if game else 0
    scores = view["scores"][:: 1 if i_deal else -1].astype(np.int64) if game else np.zeros(2, dtype=np.int64)
    of_dealer, of_other = (scores - max(0, *(scores - target))).clip(0)  # past the target only the difference matters
    points = np.arange(POINTS)
    a, b = np.broadcast_arrays(points[:, None], points[None, :])
    difference, players = int(view["score_difference"]), int(view["players"])
    if difference:
        a, b = (a - b).clip(0), (b - a).clip(0)
    ended = probabilities(difference, players, target) if target else won(POINTS)
    spread = load_rounds(difference, players)[1][view["turn"]]
    table = smoothed(ended[of_dealer + a, of_other + b], spread)
    chance = between(table, dealer, other)
    return chance if i_deal else 1.0 - chance
