"""Pegging: the value of a card over every hand that the other seat may hold.

After this seat's card, the hypotheses, or at most 256 drawn from them, are rolled out to the end of
the pegging. The other seat answers with a softmax over the rollout policy's values. Then both seats
play by the rollout policy, which uses only a seat's own information. A win table gives the value of
the end, with the counts still to come.

Near the end of a game the answer often decides which card to lead, and the rollout policy's tables
predict it poorly, so it is searched: this seat's hand is drawn as the other seat may believe it to
be from the starter and the cards played, and each answer is rolled out against the hands drawn.

In the kernels ``p`` is a `POSITION` of a rollout, ``s`` the `SCRATCH` of a search and ``mirror``
that of the other seat, ``j`` the number of a hypothesis, ``hands`` the table of
`knowledge.pegging.holdings`, ``weights`` the rollout policy, ``unseen`` the ranks that the other
seat has not seen, its own cards among them, and ``found`` the findings on one card.

The kernels take their arrays one by one: in a named tuple, a decision took 7 to 40 % longer.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import float32, float64, int64, void

from crib_agents.data import tables
from crib_agents.expert import belief
from crib_agents.expert.endgame import CLASSES, LEAD_UNIT, REACH, standings
from crib_agents.knowledge import pegging
from crib_agents.knowledge.deal_points import COUNT_SIZE, MODEL_T, load_model_for, load_outcomes
from crib_agents.knowledge.pegging import COUNTED, DISTINCT, FIRST, LISTED, LOWEST, ME, MOST, THEM, next_turn, put
from crib_agents.knowledge.winning import WON, after_pegging, group_by_win_table, probabilities
from crib_env.arrays import Doubles, Floats
from crib_env.engine.hands.counting import unseen_ranks
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import RANKS, pips
from crib_env.engine.record import NONE, TABLE_T, array_of
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import HAND, VIEW, VIEWS_T
from crib_env.policy import Actions, Views

# --- rollouts: the pegging played to its end by the rollout policy, and the value of the end ------


def play_out_by(best_rank):
    """Return a kernel that plays the pegging from ``p`` to its end by the kernel ``best_rank``.

    The seats hold ``mine`` and ``theirs``; the other seat's whole hand counts ``others``.
    """

    @kernel
    def play_out(p, seat, mine, theirs, others, s, hands, weights):
        while seat != NONE:
            if seat == ME:
                r = best_rank(p, ME, mine, s["count"], s, hands, weights)
                mine = hands[mine, r]
                put(p, ME, r)
                seat = next_turn(p, s["single"], hands[mine, LOWEST], hands[theirs, LOWEST])
            else:
                r = best_rank(p, THEM, theirs, others, s, hands, weights)
                theirs = hands[theirs, r]
                put(p, THEM, r)
                seat = next_turn(p, s["single"], hands[theirs, LOWEST], hands[mine, LOWEST])

    return play_out


play_far = play_out_by(belief.best_rank)
play_endgame = play_out_by(belief.best_endgame_rank)


@kernel
def roll_out(p, seat, mine, theirs, j, s, hands, weights):
    """Roll out from ``p`` to the end under hypothesis ``j``."""
    if s["endgame"]:
        play_endgame(p, seat, mine, theirs, s["counts"][j], s, hands, weights)
    else:
        play_far(p, seat, mine, theirs, s["counts"][j], s, hands, weights)


@kernel
def counted_value(p, others, s, win_table):
    """Return the value of the end ``p`` of the pegging if the other's hand counts ``others``."""
    mine = p["needs"][ME]
    theirs = p["needs"][THEM]
    if s["i_deal"]:
        return after_pegging(win_table, 1, theirs, mine, others, s["count"], s["crib"])
    return after_pegging(win_table, 0, mine, theirs, s["count"], others, s["crib"])


@kernel
def with_nob(p, others, nob, s, win_table):
    """Return `counted_value`, with nobs in the other seat's hand with probability ``nob``."""
    value = counted_value(p, others, s, win_table)
    if nob > 0.0:
        value += nob * (counted_value(p, others + 1, s, win_table) - value)
    return value


@kernel
def end_value(p, j, s, win_table):
    """Return the value of the end ``p`` of the pegging under hypothesis ``j``."""
    others = s["counts"][j]
    nob = s["nob"][j]
    flush = s["flush"][j]
    value = with_nob(p, others, nob, s, win_table)
    if flush > 0.0:
        value += flush * (with_nob(p, others + s["flush_points"], nob, s, win_table) - value)
    return value


# --- the other seat's answers near the end of a game, found by a search ---------------------------

NEAR = 7  # most points that each seat needs where replies are searched
LAST = 1  # most cards played before; later, replies are the softmax of `belief`
OWN_HANDS = 256  # drawn for this seat
ASKED = 32  # of those per hypothesis; hypotheses take different ones, so that errors average out
FEW = 16  # after this number of hands the search ends if one reply is clearly best
CLEAR = 0.2  # the lead of a clearly best reply, in games
STRIDE = 37  # from one hand to the next, since they are in order of rank
TEMPERATURE = 0.02  # of a softmax over the values of the replies, in games
NOT_PLAYABLE = -belief.OUT  # as the value of a reply


@kernel
def searches_replies(v, s):
    """Return whether the other seat's replies are searched."""
    needed = max(v["target"] - v["scores"][ME], v["target"] - v["scores"][THEM])
    return s["endgame"] and needed <= NEAR and v["pile_n"] <= LAST


@kernel
def see_from_there(v, r, heard, seen):
    """Fill ``seen`` with the other seat's view in ``heard``, after rank ``r``, less its cards."""
    for seat in range(2):
        seen["scores"][seat] = v["target"] - heard["needs"][1 - seat]
    seen["dealt"] = v["dealt"]
    seen["target"] = v["target"]
    seen["single_count"] = v["single_count"]
    seen["heels"] = v["heels"]
    seen["episode"] = v["episode"]
    seen["starter"] = v["starter"]
    seen["pile_from"] = v["pile_from"]
    seen["dealer"] = 1 - v["dealer"]
    seen["hand_n"] = 0
    seen["discarded_n"] = 0
    seen["held_n"][THEM] = v["hand_n"] - 1
    n = v["pile_n"]
    seen["pile_seats"] = 1 << 2 * n
    for i in range(n):
        seen["pile"][i] = v["pile"][i]
        seen["pile_seats"] |= (1 - (v["pile_seats"] >> 2 * i & 1)) << 2 * i
    seen["pile"][n] = 4 * r
    seen["pile_n"] = n + 1


@kernel
def draw_own_hands(seen, p, mirror, hands, weights, keeping_rates, table):
    """Draw this seat's hands by the other seat's belief into ``mirror``; return how many."""
    mirror["single"] = seen["single_count"]
    mirror["i_deal"] = 1 - seen["dealer"]
    n = belief.enumerate_hands(seen, p, mirror, hands, weights, keeping_rates, table)
    return belief.systematic_resample(n, OWN_HANDS, mirror)


@kernel
def find_replies(q, theirs, j, p, unseen, n, s, mirror, hands, weights, win_table):
    """Write into ``s["chance"]`` the other seat's probability of each rank of ``theirs`` in ``q``.

    It believes that this seat has one of the first ``n`` hands of ``mirror``. ``p`` is scratch.
    """
    belief.find_chances(q, theirs, j, s, hands, weights)
    values = s["values"]
    listed = hands[theirs, LISTED]
    replies = hands[theirs, DISTINCT]
    room = 31 - q["count"]
    fitting = 0
    for k in range(replies):
        r = listed >> (4 * k) & 15
        values[k] = NOT_PLAYABLE
        if pips(r) <= room:
            values[k] = 0.0
            fitting += 1
            pegging.copy(q, p)
            put(p, THEM, r)
            if p["needs"][THEM] <= 0:
                return  # `find_chances` expects the card that wins the game
    if fitting < 2:
        return
    my_points = s["count"]
    left = unseen - hands[theirs, COUNTED]
    total = 0.0
    for i in range(min(n, ASKED)):
        m = (j * ASKED + i) * STRIDE % n
        mine = mirror["held"][m]
        counted = hands[mine, COUNTED]
        likely = mirror["ways"][m] * belief.ways_to_draw(counted, left)
        if likely > 0.0:
            likely /= belief.ways_to_draw(counted, unseen)
            total += likely
            s["count"] = mirror["counts"][m]
            for k in range(replies):
                if values[k] > NOT_PLAYABLE:
                    r = listed >> (4 * k) & 15
                    rest = hands[theirs, r]
                    pegging.copy(q, p)
                    put(p, THEM, r)
                    turn = next_turn(p, s["single"], hands[rest, LOWEST], hands[mine, LOWEST])
                    play_endgame(p, turn, mine, rest, s["counts"][j], s, hands, weights)
                    values[k] -= likely * counted_value(p, s["counts"][j], s, win_table)
        if i + 1 == FEW and is_clear(values, replies, total * CLEAR):
            break
    s["count"] = my_points
    if total > 0.0:
        top = NOT_PLAYABLE
        for k in range(replies):
            s["chance"][k] = values[k] / total if values[k] > NOT_PLAYABLE else NOT_PLAYABLE
            top = max(top, s["chance"][k])
        belief.soften(s["chance"], replies, top, TEMPERATURE)


@kernel
def is_clear(values, n, gap):
    """Return whether the best of ``n`` values is ahead of all others by more than ``gap``."""
    best = NOT_PLAYABLE
    second = NOT_PLAYABLE
    for k in range(n):
        second = max(second, min(best, values[k]))
        best = max(best, values[k])
    return best - second > gap


# --- this seat's cards ----------------------------------------------------------------------------

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
        pegging.copy(q, p)
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
            pegging.copy(q, p)
            put(p, THEM, r)
            turn = next_turn(p, s["single"], hands[rest, LOWEST], hands[mine, LOWEST])
            roll_out(p, turn, mine, rest, j, s, hands, weights)
            add_end(p, likely * chance[k], j, s, win_table, found)


@kernel
def begin_card(r, rest, positions, s, hands, found):
    """Play rank ``r``, which leaves this seat ``rest``; start the findings with its points.

    Writes ``positions[1]`` after the card, and ``positions[2]`` if the other then has no card that
    fits. Returns the seat to play in ``positions[2]``, and the most pips that fit in
    ``positions[1]``.
    """
    heard = positions[1]
    passed = positions[2]
    pegging.copy(positions[0], heard)
    put(heard, ME, r)
    pegging.copy(heard, passed)
    nothing = pegging.EMPTY if heard["left"][THEM] == 0 else STUCK
    turn = next_turn(passed, s["single"], hands[rest, LOWEST], nothing)
    found[WIN_VALUE] = 0.0
    found[POINTS_NOW] = positions[0]["needs"][ME] - max(heard["needs"][ME], 0)
    found[MY_POINTS] = max(heard["needs"][ME], 0)
    found[THEIR_POINTS] = heard["needs"][THEM]
    return turn, 31 - heard["count"] if heard["needs"][ME] > 0 else 0


@kernel
def search_card(v, r, mine, n, positions, seen, s, mirror, hands, weights, keeping_rates, win_table, table, found):
    """Write the findings of playing rank ``r`` over ``n`` hypotheses into ``found``."""
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
        ("ways", np.float64, (int(FIRST[MOST + 1] - FIRST[MOST]),)),  # their weights
        # points of the other seat's hand under them, by its ranks
        ("counts", np.int64, (int(FIRST[MOST + 1] - FIRST[MOST]),)),
        ("flush", np.float64, (DRAWN,)),  # the probabilities that it is also a flush
        ("nob", np.float64, (DRAWN,)),  # the probabilities that it holds nobs
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
UNIT = 1024.0  # the file's units per point
ENDGAME_UNIT = 256.0  # the file's units per game


@cache
def read_tables(dealt: int) -> tuple[Floats, Doubles, Doubles]:
    """Return a game's rollout policy, keeping rates by role, and odds ratios of one suit by role.

    The policy's tables, float32, are those by points, then those of the end, at the offsets that
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
    size, at = pegging.OF_SIZE[dealt - 2], FIRST[dealt - 2]
    kept = np.zeros((len(tables.ROLES), CLASSES * CLASSES, pegging.HOLDINGS))
    kept[:, :, at : at + size] = theirs["kept"][game, :, :, :size]
    far = tables.load(tables.HANDS_KEPT)["kept"][game]
    suited = tables.load(tables.ROLLOUT_POLICY)["suited"][game]
    return weights, np.concatenate([far, kept.reshape(-1, pegging.HOLDINGS)]), suited


@kernel
def find(v, hands, weights, keeping_rates, suited, model, win_table, table, positions, seen, s, mirror, found):
    """Write the findings of playing each legal rank of the view into ``found``."""
    s["single"] = v["single_count"]
    s["i_deal"] = 1 - v["dealer"]
    n = belief.enumerate_hands(v, positions[0], s, hands, weights, keeping_rates, table)
    n = belief.systematic_resample(n, DRAWN, s)
    belief.look_ahead(v, n, s, hands, model, suited[v["dealer"]], table)
    ranks = 0
    for k in range(v["hand_n"]):
        ranks |= (v["legal"] >> k & 1) << (v["hand"][k] >> 2)
    mine = pegging.number(pegging.held_ranks(v))
    for r in range(RANKS):
        if ranks >> r & 1:
            search_card(
                v, r, mine, n, positions, seen, s, mirror, hands, weights, keeping_rates, win_table, table, found[r]
            )


@kernel
def only_rank(v):
    """Return the rank of the legal cards if they have only one, else NONE."""
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
        float64[:, :, ::1], TABLE_T, pegging.POSITIONS_T, VIEWS_T, SCRATCH_T, int64,
        float64[:, ::1], float64[:, :, ::1], int64[::1],
    ),
    seconds=12,
)  # fmt: skip
def pegging_views(
    views, hands, weights, keeping_rates, suited, model, win_table, table, positions, seen,
    scratch, forced, bonus, found, actions,
):  # fmt: skip
    """Write a card for each view, all valued by ``win_table``; of equal cards, the higher.

    ``forced`` searches even without a choice. ``bonus``, float64[B, RANKS], is added to the value
    of each rank. ``found``, float64[1 or B, RANKS, FINDINGS], is written for the legal ranks.
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


def choose(views: Views, bonus: Doubles | None = None) -> Actions:
    """Return a card for each view, with a bonus on each rank's value, float64[B, RANKS]."""
    bonus = np.zeros((len(views), RANKS)) if bonus is None else bonus
    return _search(views, bonus, np.zeros((1, RANKS, FINDINGS)), forced=False)


def findings(views: Views) -> Doubles:
    """Return the findings on each card held, for analysis, float64[B, 6, FINDINGS]."""
    by_rank = np.full((max(2, len(views)), RANKS, FINDINGS), np.nan)
    _search(views, np.zeros((len(views), RANKS)), by_rank, forced=True)
    by_card: Doubles = by_rank[np.arange(len(views))[:, None], np.maximum(views["hand"], 0) >> 2]
    by_card[(views["legal"][:, None] >> np.arange(HAND) & 1) == 0] = np.nan
    return by_card


def _search(views: Views, bonus: Doubles, found: Doubles, *, forced: bool) -> Actions:
    """Return a card for each view; see `pegging_views`."""
    positions = np.zeros(POSITIONS, dtype=pegging.POSITION)
    seen, scratch = np.zeros(1, dtype=VIEW), np.zeros(2, dtype=SCRATCH)
    actions = np.empty(len(views), dtype=np.int64)
    for win_table, rows in group_by_win_table(views):
        part = found if len(found) == 1 else found[rows]
        cards = np.empty(len(rows), dtype=np.int64)
        known = read_tables(int(views["dealt"][rows[0]]))
        pegging_views(
            np.ascontiguousarray(views[rows]), pegging.holdings(), *known, load_model_for(views[rows]),
            win_table, show_table(), positions, seen, scratch, forced, bonus[rows], part, cards,
        )  # fmt: skip
        actions[rows] = cards
        if len(found) > 1:
            found[rows] = part
    return actions
