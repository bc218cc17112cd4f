"""The end of a game: how seats keep, play and win by the points that both still need.

Where both seats need `REACH` points or less, the order in which they peg decides. The tables here
come from self-play in which both seats play to win. `research` makes them; see docs/data.md.

A seat's standing is its probability of winning if nothing more were pegged, by its role, what its
own hand counts and both needs. The other's hand, the crib and the next deals are averages.
The value of a card is the standing after it, plus five entries of the rollout policy's tables.
Each class of needs and standing has such tables of its own.

Before the pegging, a hand's value is a share of its mean standing over the starters, plus an entry
for the hand and both needs. Both needs give the share: with one to make each it is near 0, since
a seat pegs before any hand is counted.
"""

from __future__ import annotations

import numpy as np

from crib_agents.data.tables import DEALT, ENDGAME_SAID, load
from crib_agents.knowledge.measured import COUNT_SIZE, Outcomes
from crib_agents.knowledge.winning import group_by_win_table
from crib_env.arrays import Bools, Doubles, Ints
from crib_env.engine.hands.records import DISCARD, GAME, MATCH
from crib_env.engine.jit import kernel
from crib_env.policy import Views

REACH = 30  # points that both need at most
EDGE = REACH + 1
# The class of needs, for the rollout policy and for the hands kept.
CLASS = np.array([0, 0, 1, 2, 2, 3, 3, 3, 3] + [4] * (REACH - 8), dtype=np.int64)
CLASSES = 5
# The class for values before the pegging, which are finer and end earlier: farther out, deals are
# average.
STEP = np.array([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9, 9, 10, 10, 10, 10], dtype=np.int64)
STEPS = 11
DEAL_REACH = len(STEP) - 1
LOW = 0.25  # a standing up to this is poor
HIGH = 0.75  # and from this on good
STANCES = 3
TABLE_SETS = CLASSES * CLASSES * STANCES
STANDINGS_SIZE = (
    2 * COUNT_SIZE * EDGE * EDGE
)  # of a game: by role, count, what pone and the dealer need


@kernel
def within_reach(mine, theirs):
    """Return whether the tables of the end are for seats that need so many points."""
    return 0 < mine <= REACH and 0 < theirs <= REACH


@kernel
def pair_class(mine, theirs):
    """Return the class of both needs."""
    return CLASSES * CLASS[mine] + CLASS[theirs]


@kernel
def standing_at(is_dealer, count, pone, dealer):
    """Return where the standings of a game hold one; pone and the dealer need so many points."""
    return ((is_dealer * COUNT_SIZE + count) * EDGE + pone) * EDGE + dealer


@kernel
def key_of(mine, theirs, standing):
    """Return which tables value a card after which the seats need so many points."""
    stance = (1 if standing > LOW else 0) + (1 if standing > HIGH else 0)
    return STANCES * pair_class(mine, theirs) + stance


@kernel
def dealt_within_reach(mine, theirs):
    """Return whether the values before the pegging are for seats that need so many points."""
    return 0 < mine <= DEAL_REACH and 0 < theirs <= DEAL_REACH


@kernel
def before_at(is_dealer, mine, theirs):
    """Return the row of a role's hands before the pegging."""
    return (is_dealer * STEPS + STEP[mine]) * STEPS + STEP[theirs]


ROWS = 2 * STEPS * STEPS


def standings(win: Doubles, deal: Outcomes) -> Doubles:
    """Return every standing, float64[STANDINGS_SIZE], by the chances at a deal's start.

    ``win``, float64[EDGE, EDGE]: pone's chance of winning, by what pone and the dealer need.
    """
    found = np.zeros((2, COUNT_SIZE, EDGE, EDGE))
    total = np.convolve(deal.dealer_hand, deal.crib)
    reach = np.arange(EDGE)
    # The dealer of a deal is pone in the next: `after[a, b]` is pone's chance with a and b to make
    # once pone's hand is counted, `then` once the dealer's is too.
    after, then = np.zeros((2, EDGE, EDGE))
    for b in reach[1:]:
        for chances, of in ((total, after), (deal.crib, then)):
            short = chances[:b]
            of[1:, b] = (short[:, None] * (1.0 - win[b - np.arange(len(short)), 1:])).sum(axis=0)
    for count in range(COUNT_SIZE):
        for a in reach[1:]:
            found[0, count, a, 1:] = 1.0 if count >= a else after[a - count, 1:]
            for b in reach[1:]:
                fewer = np.arange(min(a, COUNT_SIZE))
                short = deal.pone_hand[fewer]
                if count >= b:
                    found[1, count, a, b] = short.sum()
                else:
                    found[1, count, a, b] = short @ (1.0 - then[a - fewer, b - count])
    return found.ravel()


PAIR, FIRST_CARD, LATER_CARD = range(3)  # what is decided


def decided(views: Views) -> Ints:
    """Return what views are about to decide, int64[B]: a discard, a first card or a later one."""
    kinds = np.full(len(views), LATER_CARD)
    kinds[views["hand_n"] == views["dealt"] - 2] = FIRST_CARD
    kinds[views["phase"] == DISCARD] = PAIR
    return kinds


def near_end(views: Views) -> tuple[Bools, Ints, Ints]:
    """Return which views are near a game's end, and of those the roles and classes of needs."""
    needs = views["target"][:, None] - views["scores"][:, :2]
    near = np.isin(views["episode"], (GAME, MATCH)) & ((needs > 0) & (needs <= REACH)).all(axis=1)
    classes = CLASSES * CLASS[needs[near, 0]] + CLASS[needs[near, 1]]
    return near, (views["dealer"][near] == 0).astype(np.int64), classes


def as_won(views: Views, values: Doubles) -> Doubles:
    """Return `expert`'s values, float64[B, choices], moved to what it was measured to win.

    A search takes the best of what it sees, so it says too much, the more the less is sure. The
    order of the choices stays, and so does what is certain.
    """
    near, roles, classes = near_end(views)
    found: Doubles = values.copy()
    if not near.any():
        return found
    shift = load(ENDGAME_SAID)["shift"][
        [DEALT.index(dealt) for dealt in views["dealt"][near]], decided(views)[near], roles, classes
    ]
    lost, span = np.zeros(len(views)), np.ones(len(views))
    for table, rows in group_by_win_table(views):
        lost[rows], span[rows] = table[0, 1, 0], table[0, 0, 1] - table[0, 1, 0]
    lost, span = lost[near, None], span[near, None]
    share = ((values[near] - lost) / span).clip(0.0, 1.0)
    found[near] += span * shift[:, None] * 4.0 * share * (1.0 - share)
    return found
