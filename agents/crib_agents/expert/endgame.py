"""The end of a game: hands kept, play and values by the points that both seats still need.

Where both seats need `REACH` points or less, the order in which they peg decides. The tables come
from self-play in which both seats play to win (`python -m research.tables endgame`).

A seat's standing is its probability of winning if nothing more were pegged, by its role, the points
of its hand and the needs of both. The other hand, the crib and the next deals are averages. The
value of a card is the standing after it, plus five entries of the rollout policy's tables. Each
class of needs and standing has its tables.

Before the pegging, the value of a hand is a share of its mean standing over the starters, plus an
entry for the hand and the needs of both. The share depends on these needs: if each needs one point
it is near 0, because a seat pegs before any hand is counted.
"""

from __future__ import annotations

import numpy as np

from crib_agents.data.tables import DEALT, ENDGAME_SHIFT, load
from crib_agents.knowledge.deal_points import COUNT_SIZE, Outcomes
from crib_agents.knowledge.winning import after_hands, group_by_win_table
from crib_env.arrays import Bools, Doubles, Ints, portable
from crib_env.engine.hands.records import DISCARD, GAME, MATCH
from crib_env.engine.jit import kernel
from crib_env.policy import Views

REACH = 30  # most points that each seat needs near the end
EDGE = REACH + 1
# Classes of a seat's need, for the rollout policy and for the hands kept.
CLASS = np.array([0, 0, 1, 2, 2, 3, 3, 3, 3] + [4] * (REACH - 8), dtype=np.int64)
CLASSES = 5
# Finer classes for values before the pegging. They end earlier: farther out, deals are average.
STEP = np.array([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9, 9, 10, 10, 10, 10], dtype=np.int64)
STEPS = 11
DEAL_REACH = len(STEP) - 1
LOW = 0.25  # up to this a standing is poor
HIGH = 0.75  # above this a standing is good
STANCES = 3
TABLE_SETS = CLASSES * CLASSES * STANCES
LEAD_UNIT = 255.0  # the file has probabilities in 255ths
STANDINGS_SIZE = 2 * COUNT_SIZE * EDGE * EDGE  # by role, points of the hand, both needs


@kernel
def in_game(v):
    """Return whether a view is of an episode that a side can win."""
    return v["episode"] == GAME or v["episode"] == MATCH


@kernel
def within_reach(mine, theirs):
    """Return whether the tables of the end cover these needs."""
    return 0 < mine <= REACH and 0 < theirs <= REACH


@kernel
def pair_class(mine, theirs):
    """Return the class of both needs."""
    return CLASSES * CLASS[mine] + CLASS[theirs]


@kernel
def standing_at(is_dealer, count, pone, dealer):
    """Return the index of a standing; ``pone`` and ``dealer`` are the points they need."""
    return ((is_dealer * COUNT_SIZE + count) * EDGE + pone) * EDGE + dealer


@kernel
def key_of(mine, theirs, standing):
    """Return the set of tables for a card, by the needs and the standing after it."""
    stance = (1 if standing > LOW else 0) + (1 if standing > HIGH else 0)
    return STANCES * pair_class(mine, theirs) + stance


@kernel
def dealt_within_reach(mine, theirs):
    """Return whether the values before the pegging cover these needs."""
    return 0 < mine <= DEAL_REACH and 0 < theirs <= DEAL_REACH


@kernel
def before_at(is_dealer, mine, theirs):
    """Return the row of a role's hands before the pegging."""
    return (is_dealer * STEPS + STEP[mine]) * STEPS + STEP[theirs]


ROWS = 2 * STEPS * STEPS


def standings(win: Doubles, deal: Outcomes) -> Doubles:
    """Return every standing, float64[STANDINGS_SIZE].

    ``win``, float64[EDGE, EDGE]: pone's probability of winning at the start of a deal, by the
    points that pone and the dealer need.
    """
    pone, dealer = after_hands(1.0 - win.T, deal)  # the dealer of a deal is pone in the next
    left = (np.arange(EDGE) - np.arange(COUNT_SIZE)[:, None]).clip(0)  # by the points of the hand
    found = np.stack([pone[left], 1.0 - dealer[:, left].swapaxes(0, 1)])
    found[:, :, 0] = found[..., 0] = 0.0
    return portable(found.ravel())


PAIR, FIRST_CARD, LATER_CARD = range(3)  # kinds of decision


def decided(views: Views) -> Ints:
    """Return the kind of each view's decision, int64[B]: a discard, a first or a later card."""
    kinds = np.full(len(views), LATER_CARD)
    kinds[views["hand_n"] == views["dealt"] - 2] = FIRST_CARD
    kinds[views["phase"] == DISCARD] = PAIR
    return kinds


def near_end(views: Views) -> tuple[Bools, Ints, Ints]:
    """Return a mask of the views near a game's end, with their roles and classes of needs."""
    needs = views["target"][:, None] - views["scores"][:, :2]
    near = np.isin(views["episode"], (GAME, MATCH)) & ((needs > 0) & (needs <= REACH)).all(axis=1)
    classes = CLASSES * CLASS[needs[near, 0]] + CLASS[needs[near, 1]]
    return near, (views["dealer"][near] == 0).astype(np.int64), classes


def as_won(views: Views, values: Doubles) -> Doubles:
    """Return `expert`'s values, float64[B, choices], shifted to its measured share of games won.

    A search picks the highest of its estimates, so near even values it expects too much. The shift
    is largest at even values and 0 at certain ones. It keeps the order of the choices. The value of
    a discard is a sum of estimates; it is clipped to the values of a lost and a won game.
    """
    near, roles, classes = near_end(views)
    found: Doubles = values.copy()
    if not near.any():
        return found
    shift = load(ENDGAME_SHIFT)["shift"][
        [DEALT.index(dealt) for dealt in views["dealt"][near]], decided(views)[near], roles, classes
    ]
    lost, span = np.zeros(len(views)), np.ones(len(views))
    for table, rows in group_by_win_table(views):
        lost[rows], span[rows] = table[0, 1, 0], table[0, 0, 1] - table[0, 1, 0]
    lost, span = lost[near, None], span[near, None]
    share = ((values[near] - lost) / span).clip(0.0, 1.0)
    found[near] = lost + span * (share + shift[:, None] * 4.0 * share * (1.0 - share))
    return found
