"""Pegging: the value of a card over every hand that the other seat may hold.

After this seat's card, the hypotheses, or at most 256 drawn from them, are rolled out to the end of
the pegging. The other seat answers with a softmax over the rollout policy's values, and near the
end of a game over those of a search (`expert.replies`). Then both seats play by the rollout policy,
which uses only a seat's own information. A win table gives the value of the end, with the counts
still to come. `PeggingExpert` does not discard; `PhasedAgent` combines it with an agent that does.

In the kernels ``p`` is a `POSITION` of a rollout, ``s`` the `SCRATCH` of a search, ``j`` the
number of a hypothesis, ``hands`` the table of `knowledge.pegging.holdings`, ``weights`` the rollout
policy, and ``found`` the findings on one card.

The kernels take their arrays one by one: in a named tuple, a decision took 7 to 40 % longer.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import float32, float64, int64, void

from crib_agents.data import tables
from crib_agents.expert import belief
from crib_agents.expert.endgame import CLASSES, LEAD_UNIT, REACH, standings
from crib_agents.expert.replies import draw_own_hands, find_replies, searches_replies, see_from_there
from crib_agents.expert.rollouts import end_value, roll_out
from crib_agents.honours import HONOURS, presets_of, refuse_other_views
from crib_agents.knowledge.deal_points import COUNT_SIZE, MODEL_T, load_model_for, load_outcomes
from crib_agents.knowledge.pegging import (
    DISTINCT,
    EMPTY,
    FIRST,
    HOLDINGS,
    LISTED,
    LOWEST,
    ME,
    MOST,
    OF_SIZE,
    POSITION,
    POSITIONS_T,
    THEM,
    copy,
    held_ranks,
    holdings,
    next_turn,
    number,
    put,
)
from crib_agents.knowledge.winning import WON, group_by_win_table, probabilities
from crib_env.arrays import Doubles, Floats
from crib_env.engine.family import find_family
from crib_env.engine.hands.counting import unseen_ranks
from crib_env.engine.hands.records import PEGGING
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import RANKS
from crib_env.engine.record import NONE, TABLE_T, array_of
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import HAND, VIEW, VIEWS_T
from crib_env.policy import Actions, Views, one_or_many

STUCK = 32  # as a least pip: the seat holds cards, but none that fits

# The columns of the findings on a card.
WIN_VALUE = 0
POINTS_NOW = 1  # points pegged when it is played
MY_POINTS = 2  # expected of the rest of the pegging, without those
THEIR_POINTS = 3
FINDINGS = 4


@kernel
def add_end(p, likely, j, s, win_table, found):
    """Add the end ``p`` of the pegging under hypothesis ``j`` to the findings, by its weight."""
    found[WIN_VALUE] += likely * end_value(p, j, s, win_table)
    found[MY_POINTS] -= likely * max(p["needs"][ME], 0)
    found[THEIR_POINTS] -= likely * max(p["needs"][THEM], 0)


@kernel
def add_ends(q, seat, likely, mine, theirs, j, p, unseen, own, s, mirror, hands, weights, win_table, found):
    """Add to the findings the ends of hypothesis ``j`` from ``q`` on; ``p`` is scratch.

    ``seat`` is to play, or NONE. The other seat may play any of its cards. With ``own`` above 0 its
    reply is searched, against that number of hands in ``mirror``.
    """
    if seat != THEM:
        copy(q, p)
        roll_out(p, seat, mine, theirs, j, s, hands, weights)
        add_end(p, likely, j, s, win_table, found)
        return
    chance = s["chance"]
    if own > 0:
        find_replies(q, theirs, j, p, unseen, own, s, mirror, hands, weights, win_table)
    else:
        belief.find_chances(q, theirs, j, s, hands, weights)
    listed = hands[theirs, LISTED]
    for k in range(hands[theirs, DISTINCT]):
        if chance[k] > 0.0:
            r = listed >> (4 * k) & 15
            rest = hands[theirs, r]
            copy(q, p)
            put(p, THEM, r)
            turn = next_turn(p, s["single"], hands[rest, LOWEST], hands[mine, LOWEST])
            roll_out(p, turn, mine, rest, j, s, hands, weights)
            add_end(p, likely * chance[k], j, s, win_table, found)


@kernel
def begin_card(r, rest, positions, s, hands, found):
    """Play rank ``r``, which leaves this seat ``rest``; start the findings with its points.

    Writes ``positions[1]`` after the card, and ``positions[2]`` if the other then has no card that
    fits. Returns the seat to play in that, and the most pips of a card that fits in the first.
    """
    heard = positions[1]
    passed = positions[2]
    copy(positions[0], heard)
    put(heard, ME, r)
    copy(heard, passed)
    nothing = EMPTY if heard["left"][THEM] == 0 else STUCK
    turn = next_turn(passed, s["single"], hands[rest, LOWEST], nothing)
    found[WIN_VALUE] = 0.0
    found[POINTS_NOW] = positions[0]["needs"][ME] - max(heard["needs"][ME], 0)
    found[MY_POINTS] = max(heard["needs"][ME], 0)
    found[THEIR_POINTS] = heard["needs"][THEM]
    return turn, 31 - heard["count"] if heard["needs"][ME] > 0 else 0


@kernel
def search_card(v, r, mine, n, positions, seen, s, mirror, hands, weights, keeping_rates, win_table, table, found):
    """Write what playing rank ``r`` brings over ``n`` hypotheses into ``found``."""
    held = s["held"]
    ways = s["ways"]
    heard = positions[1]
    passed = positions[2]
    rest = hands[mine, r]
    turn, room = begin_card(r, rest, positions, s, hands, found)
    own = 0
    unseen = 0
    if room > 0:
        belief.all_shared_values(heard, THEM, weights, s["shared"])
        if searches_replies(v, s):
            see_from_there(v, r, heard, seen)
            unseen = unseen_ranks(seen)
            own = draw_own_hands(seen, positions[4], mirror, hands, weights, keeping_rates, table)
        for j in range(n):
            if hands[held[j], LOWEST] <= room:
                add_ends(heard, THEM, ways[j], rest, held[j], j, positions[3], unseen, own, s,
                         mirror, hands, weights, win_table, found)  # fmt: skip
    if turn == THEM:
        belief.all_shared_values(passed, THEM, weights, s["shared"])
    for j in range(n):
        if hands[held[j], LOWEST] > room:
            add_ends(passed, turn, ways[j], rest, held[j], j, positions[3], unseen, 0, s, mirror,
                     hands, weights, win_table, found)  # fmt: skip


DRAWN = 256  # hypotheses searched, of up to 1,820


SCRATCH = np.dtype(
    [
        ("held", np.int64, (int(FIRST[MOST + 1] - FIRST[MOST]),)),  # hypotheses: holdings
        ("ways", np.float64, (int(FIRST[MOST + 1] - FIRST[MOST]),)),  # and their weights
        # points of the other seat's hand under them, by its ranks
        ("counts", np.int64, (int(FIRST[MOST + 1] - FIRST[MOST]),)),
        ("flush", np.float64, (DRAWN,)),  # and the probabilities that it is also a flush
        ("nob", np.float64, (DRAWN,)),  # or holds nobs
        ("shared", np.float64, (RANKS,)),
        ("chance", np.float64, (MOST,)),
        ("values", np.float64, (MOST,)),  # of the replies searched
        ("crib", np.float64, (COUNT_SIZE,)),
        ("count", np.int64),  # the points of this seat's hand
        ("flush_points", np.int64),  # of a flush, without the starter's point
        ("single", np.int64),
        ("i_deal", np.int64),
        ("needs", np.int64, (2,)),  # points that the seats needed before the lead
        ("endgame", np.int64),  # whether the tables of the end are used
    ],
    align=True,
)
SCRATCH_T = array_of(SCRATCH)
POSITIONS = 5  # that a search needs
UNIT = 1024.0  # parts of a point in the file
ENDGAME_UNIT = 256.0  # parts of a game


@cache
def read_tables(dealt: int) -> tuple[Floats, Doubles, Doubles]:
    """Return a game's rollout policy, the rates of hands kept by role, and those of flushes.

    The policy's tables, float32, are those by points, then those of the end, at the indices that
    `belief` names.
    """
    game = tables.DEALT.index(dealt)
    endgame, theirs = tables.load(tables.ENDGAME), tables.load(tables.ENDGAME_BELIEF)
    pone = probabilities(dealt, REACH)[0, ..., WON].sum(axis=-1)
    weights = np.concatenate(
        [
            tables.load(tables.CHOICES)["tables"][game] / UNIT,
            np.divide(endgame["tables"][game].ravel(), ENDGAME_UNIT, dtype=np.float32),
            standings(pone, load_outcomes(dealt)),
            np.divide(theirs["leads"][game].ravel(), LEAD_UNIT, dtype=np.float32),
        ],
        dtype=np.float32,
    )
    size, at = OF_SIZE[dealt - 2], FIRST[dealt - 2]
    kept = np.zeros((len(tables.ROLES), CLASSES * CLASSES, HOLDINGS))
    kept[:, :, at : at + size] = theirs["kept"][game, :, :, :size]
    far = tables.load(tables.HANDS_KEPT)["kept"][game]
    suited = tables.load(tables.ROLLOUT_POLICY)["suited"][game]
    return weights, np.concatenate([far, kept.reshape(-1, HOLDINGS)]), suited


@kernel
def find(v, hands, weights, keeping_rates, suited, model, win_table, table, positions, seen, s, mirror, found):
    """Write what each rank of the view that may be played brings into ``found``."""
    s["single"] = v["single_count"]
    s["i_deal"] = 1 - v["dealer"]
    n = belief.enumerate_hands(v, positions[0], s, hands, weights, keeping_rates, table)
    n = belief.systematic_resample(n, DRAWN, s)
    belief.look_ahead(v, n, s, hands, model, suited[v["dealer"]], table)
    ranks = 0
    for k in range(v["hand_n"]):
        ranks |= (v["legal"] >> k & 1) << (v["hand"][k] >> 2)
    mine = number(held_ranks(v))
    for r in range(RANKS):
        if ranks >> r & 1:
            search_card(
                v, r, mine, n, positions, seen, s, mirror, hands, weights, keeping_rates, win_table, table, found[r]
            )


@kernel
def only_rank(v):
    """Return the rank of the cards that may be played if they are of one, else NONE."""
    only = NONE
    for k in range(v["hand_n"]):
        if v["legal"] >> k & 1:
            r = v["hand"][k] >> 2
            if only != NONE and only != r:
                return NONE
            only = r
    return only


@entry(
    void(
        VIEWS_T, int64[:, ::1], float32[::1], float64[:, ::1], float64[::1], MODEL_T,
        float64[:, :, ::1], TABLE_T, POSITIONS_T, VIEWS_T, SCRATCH_T, int64,
        float64[:, ::1], float64[:, :, ::1], int64[::1],
    ),
    seconds=14,
)  # fmt: skip
def pegging_views(
    views, hands, weights, keeping_rates, suited, model, win_table, table, positions, seen,
    scratch, forced, bonus, found, actions,
):  # fmt: skip
    """Write a card for each view, all judged by ``win_table``; of equal value the higher.

    ``forced`` searches even where there is no choice. ``bonus``, float64[B, RANKS], is added to the
    value of each rank. ``found``, float64[1 or B, RANKS, FINDINGS], is written for the ranks that
    may be played.
    """
    for i in range(views.shape[0]):
        v = views[i]
        at = found[i if found.shape[0] > 1 else 0]
        open_choice = only_rank(v) == NONE
        if open_choice or forced:
            find(
                v, hands, weights, keeping_rates, suited, model[0], win_table, table, positions,
                seen[0], scratch[0], scratch[1], at,
            )  # fmt: skip
            for r in range(RANKS):
                at[r, WIN_VALUE] += bonus[i, r]
        card = NONE
        for k in range(v["hand_n"]):
            if v["legal"] >> k & 1:
                c = v["hand"][k]
                if card == NONE or (c >> 2 == card >> 2 and c > card):
                    card = c
                elif open_choice:
                    more = at[c >> 2, WIN_VALUE] - at[card >> 2, WIN_VALUE]
                    if more > 0.0 or (more == 0.0 and c > card):
                        card = c
        actions[i] = card


class PeggingExpert:
    """Plays the cards by belief and search."""

    name = "pegging_expert"
    honours = HONOURS
    known_rules = presets_of("two_hand")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return a legal card for each view, int64[B]; ``rng`` is not used."""
        return self.choose(views, np.zeros((len(views), RANKS)))

    def choose(self, views: Views, bonus: Doubles) -> Actions:
        """Return a card for each view, with a bonus on each rank's value, float64[B, RANKS]."""
        return self._play(views, bonus, np.zeros((1, RANKS, FINDINGS)), forced=False)

    def findings(self, views: Views) -> Doubles:
        """Return the findings on each card held, for analysis, float64[B, 6, FINDINGS]."""
        by_rank = np.full((max(2, len(views)), RANKS, FINDINGS), np.nan)
        self._play(views, np.zeros((len(views), RANKS)), by_rank, forced=True)
        hands = views["hand"]
        rows = np.arange(len(views))[:, None]
        by_card: Doubles = by_rank[rows, np.maximum(hands, 0) >> 2]
        by_card[(views["legal"][:, None] >> np.arange(HAND) & 1) == 0] = np.nan
        return by_card

    def _play(self, views: Views, bonus: Doubles, found: Doubles, *, forced: bool) -> Actions:
        refuse_other_views(self.name, views, find_family("two_hand"))
        if (views["phase"] != PEGGING).any():
            raise ValueError(
                f"{self.name} only pegs and cannot discard: for whole deals use PhasedAgent(discard=..., pegging=...)"
            )
        positions = np.zeros(POSITIONS, dtype=POSITION)
        seen, scratch = np.zeros(1, dtype=VIEW), np.zeros(2, dtype=SCRATCH)
        actions = np.empty(len(views), dtype=np.int64)
        for win_table, rows in group_by_win_table(views):
            part = found if len(found) == 1 else found[rows]
            cards = np.empty(len(rows), dtype=np.int64)
            known = read_tables(int(views["dealt"][rows[0]]))
            pegging_views(
                np.ascontiguousarray(views[rows]), holdings(), *known, load_model_for(views[rows]),
                win_table, show_table(), positions, seen, scratch, forced, bonus[rows], part, cards,
            )  # fmt: skip
            actions[rows] = cards
            if len(found) > 1:
                found[rows] = part
        return actions
