"""Discarding: the mean hand, mean crib, expected pegging and value of every pair.

The mean hand is exact over the unseen starters. The mean crib is exact under the other role's
discard rates, plus a measured correction (see `crib`). The pegging is the mean of hands with the
kept ranks. Far from the end a pair's value is linear in these. If a seat may go out in this deal or
the next, `expected_win` computes it, which knows who counts first.
"""

from __future__ import annotations

import numpy as np
from numba import float64, from_dtype, int64, types, void

from crib_agents.checks import HONOURS, presets_of
from crib_agents.data.tables import RANKS
from crib_agents.expert.two_hand.discard.crib import (
    DECK,
    SUITS,
    fill_crib,
    mean,
    shift,
    weigh_pairs,
)
from crib_agents.expert.two_hand.discard.expected_win import (
    BEFORE_HANDS,
    BEFORE_PLAY,
    TOTAL_SIZE,
    expected_win,
)
from crib_agents.kernels.discard import card_of, cell
from crib_agents.knowledge.two_hand.measured import COUNT_SIZE, JACK_TURNED, MODEL_T, load_model_for
from crib_agents.knowledge.two_hand.pegging import FIRST, number
from crib_agents.knowledge.two_hand.winning import after_deal, group_by_win_table, slope
from crib_env.answers import one_or_many
from crib_env.arrays import Doubles
from crib_env.engine.hands.counting import dealt_card
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, TABLE_T
from crib_env.engine.show import JACK, KEYS, show_table, with_starter
from crib_env.engine.two_hand import HAND, VIEW, VIEWS_T
from crib_env.policy import Actions, Views

PAIRS = 15  # of six cards; ten of five
# Points to make within which a seat may well go out in this deal or the next. Beyond, choosing by
# the linear value costs a hundredth of a percent of a game or less.
NEAR = 45
SWING = 10  # points each way over which value is taken as linear farther from the end

# The columns of what is known of a pair to discard.
HAND_MEAN = 0  # mean points of the hand kept
CRIB_MEAN = 1  # mean points of the crib, less than 0 if it is the other's
OWN_PEGS = 2  # points this seat is expected to peg
OTHER_PEGS = 3  # points the other is
WIN_VALUE = 4  # the value of the pair, 0 to 1
COLUMNS = 5

SCRATCH = np.dtype(
    [
        ("cards", np.int64, (HAND,)),
        ("unseen", np.int64, (DECK,)),
        ("in_suit", np.int64, (SUITS,)),
        ("ranks", np.float64, (RANKS, RANKS)),
        ("starter", np.float64, (SUITS,)),
        ("both", np.float64, (SUITS,)),
        ("flush", np.float64, (SUITS,)),
        ("nob", np.float64),
        ("pone_hand", np.float64, (COUNT_SIZE,)),
        ("dealer_hand", np.float64, (COUNT_SIZE,)),
        ("crib", np.float64, (COUNT_SIZE,)),
        ("total", np.float64, (TOTAL_SIZE,)),
        ("after_hand", np.float64, (BEFORE_HANDS, BEFORE_PLAY)),
        ("after_pegging", np.float64, (BEFORE_PLAY, BEFORE_PLAY)),
    ],
    align=True,
)
SCRATCH_T = types.Array(from_dtype(SCRATCH), 1, "C")


@kernel
def sort_cards(v, s):
    """Write the cards dealt to the seat, in order of ids, to ``s["cards"]``; return how many."""
    n = v["hand_n"] + v["discarded_n"]
    for i in range(n):
        card = dealt_card(v, i)
        j = i
        while j > 0 and s["cards"][j - 1] > card:
            s["cards"][j] = s["cards"][j - 1]
            j -= 1
        s["cards"][j] = card
    return n


@kernel
def fill_hand(table, s, n, i, j, flush_size, hand):
    """Fill ``hand`` (float64[30]) with the probabilities of its points without two cards.

    Over every starter not seen, flushes and his nob included (C2, C4, H8, F6).

    Returns the hand's place among the holdings of its size.
    """
    key = 0
    suits = 0
    jacks = 0
    counted = 0
    seen = 0
    for k in range(n):
        card = s["cards"][k]
        seen |= 1 << card
        if k != i and k != j:
            key += KEYS[card >> 2]
            suits += 1 << (8 * (card & 3))
            if card >> 2 == JACK:
                jacks |= 1 << (card & 3)
            counted += 1 << (4 * (card >> 2))
    for points in range(COUNT_SIZE):
        hand[points] = 0.0
    chance = 1.0 / (DECK - n)
    for starter in range(DECK):
        if seen >> starter & 1 == 0:
            hand[with_starter(table, key, suits, jacks, n - 2, starter, flush_size)] += chance
    return number(counted) - FIRST[n - 2]


@kernel
def fill_columns(v, win_table, model, table, near, s, columns):
    """Fill ``columns`` (float64[15, COLUMNS]) for every pair the seat of ``v`` was dealt.

    Row k is of the k-th pair of its cards in order, as ``itertools.combinations`` counts pairs. It
    does not depend on which card has been laid already, nor on the order of the cards.
    """
    n = sort_cards(v, s)
    i_deal = 1 - v["dealer"]
    mine = v["target"] - v["scores"][0]
    theirs = v["target"] - v["scores"][1]
    pone = theirs if i_deal else mine
    dealer = mine if i_deal else theirs
    unseen = 0
    ranks = 0
    for card in range(DECK):
        unseen |= 1 << card
        ranks += 1 << (4 * (card >> 2))
    for k in range(n):
        unseen ^= 1 << s["cards"][k]
        ranks -= 1 << (4 * (s["cards"][k] >> 2))
    weigh_pairs(model["discard_rate"][1 - i_deal], unseen, s)
    hand = s["dealer_hand"] if i_deal else s["pone_hand"]
    other = s["pone_hand"] if i_deal else s["dealer_hand"]
    for points in range(COUNT_SIZE):
        other[points] = model["hand"][1 - i_deal, points]
    # Where a deal is expected to end, and the value of a point more there to either seat.
    heels = v["heels"] * JACK_TURNED
    by_pone = int(model["mean_pegs"][0] + model["mean_hand"][0])
    by_dealer = int(model["mean_pegs"][1] + heels + model["mean_hand"][1] + model["mean_crib"])
    level = after_deal(win_table, i_deal, pone - by_pone, dealer - by_dealer)
    pone_point = slope(win_table, i_deal, pone - by_pone, dealer - by_dealer, 0, SWING)
    dealer_point = slope(win_table, i_deal, pone - by_pone, dealer - by_dealer, 1, SWING)
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            row = columns[k]
            k += 1
            at = fill_hand(table, s, n, i, j, v["flush_size"], hand)
            low = s["cards"][i]
            high = s["cards"][j]
            fill_crib(table, s, ranks, low, high, v["crib_flush_size"], s["crib"])
            shift(s["crib"], model["excess"][i_deal, cell(low, high)])
            crib = mean(s["crib"])
            row[HAND_MEAN] = mean(hand)
            row[CRIB_MEAN] = crib if i_deal else -crib
            row[OWN_PEGS] = model["pegs"][i_deal, at, 0]
            row[OTHER_PEGS] = model["pegs"][i_deal, at, 1]
            if min(mine, theirs) <= near:
                more = row[OWN_PEGS] - model["mean_pegs"][i_deal]
                let = row[OTHER_PEGS] - model["mean_pegs"][1 - i_deal]
                row[WIN_VALUE] = expected_win(
                    win_table, i_deal, pone, dealer, model, let if i_deal else more,
                    more if i_deal else let, s,
                )  # fmt: skip
            else:
                own = row[HAND_MEAN] + row[OWN_PEGS]
                others = model["mean_hand"][1 - i_deal] + row[OTHER_PEGS]
                pone_more = (others if i_deal else own) - by_pone
                dealer_more = (own if i_deal else others) + heels + crib - by_dealer
                row[WIN_VALUE] = level + pone_point * pone_more + dealer_point * dealer_more
    return k


@kernel
def best_pair(v, s, columns):
    """Return the best pair to discard as ``64 * higher + lower`` card id; ties: the higher cards.

    Once a card is laid, the best pair with it; that is the same pair if the card was of it.
    """
    n = v["hand_n"] + v["discarded_n"]
    discarded = v["discarded"][0] if v["discarded_n"] == 1 else NONE
    best = NONE
    most = 0.0
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            low = s["cards"][i]
            high = s["cards"][j]
            value = columns[k, WIN_VALUE]
            k += 1
            if discarded != NONE and discarded != low and discarded != high:
                continue
            pair = 64 * high + low
            if best == NONE or value > most or (value == most and pair > best):
                best = pair
                most = value
    return best


@entry(
    void(
        VIEWS_T, int64[::1], float64[:, :, ::1], MODEL_T, TABLE_T, int64, SCRATCH_T,
        float64[:, :, ::1], int64[::1],
    )
)  # fmt: skip
def discard_views(views, rows, win_table, model, table, near, scratch, columns, actions):
    """Fill the columns and choose the card for the views ``rows``, all judged by one table.

    Args:
        columns: float64[B, 15, COLUMNS]. actions: int64[B].
    """
    for k in rows:
        fill_columns(views[k], win_table, model[0], table, near, scratch[0], columns[k])
        actions[k] = card_of(views[k], best_pair(views[k], scratch[0], columns[k]))


def rank_discards(views: Views, near: int = NEAR) -> tuple[Actions, Doubles]:
    """Return the cards to discard, and what is known of every pair, int64[B]."""
    if views.dtype != VIEW or (views["phase"] != DISCARD).any():
        raise ValueError("discard_expert only discards: pair it with an agent that pegs, as in "
                         "PhasedAgent(discard=DiscardExpert(), pegging='rule_based')")  # fmt: skip
    views = np.ascontiguousarray(views)
    actions = np.empty(len(views), dtype=np.int64)
    columns = np.zeros((len(views), PAIRS, COLUMNS))
    scratch = np.zeros(1, dtype=SCRATCH)
    for judge, rows in group_by_win_table(views):
        model = load_model_for(views[rows])
        discard_views(views, rows, judge, model, show_table(), near, scratch, columns, actions)
    return actions, columns


class DiscardExpert:
    """Discards as `expert` does; it does not play the cards.

    Attributes:
        name: what tables call it.
    """

    name = "discard_expert"
    honours = HONOURS
    known_rules = presets_of("two_hand")

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return the card to discard for each view, int64[B]."""
        return rank_discards(views)[0]
