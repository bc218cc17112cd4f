"""Discarding: the value of each way to split a hand, and how the solver learns to choose.

The value of a split is the mean show of the kept hand, plus or minus the crib, plus the pegging.
The show is exact with suits, for each class of hands. The crib is exact by ranks against the other
seat's discards, and so is nobs. Flushes in the crib assume that the other seat discards by ranks
alone.
"""

from __future__ import annotations

import numpy as np
from crib_agents.equilibrium.classes import Classes
from crib_agents.equilibrium.tree import PAIRS
from crib_agents.knowledge.pegging import COUNTED, FIRST, KEY, holdings
from numba import float32, float64, int64, void

from crib_env.arrays import Doubles, Floats
from crib_env.engine.hands.counting import DECK, IN_SUIT, starters_total
from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T, array_of
from crib_env.engine.show import FOUR, JACK, KEYS, show_table
from crib_env.engine.two_hand import VIEW
from crib_env.rules import TwoHandRules
from crib_training.solve.ranges import RankHands
from crib_training.tables.dealing import discard_views


@entry(void(array_of(VIEW), TABLE_T, int64[:, ::1], int64[:, ::1], float32[:, ::1]))
def write_shows(views, table, cards, splits, shows):
    """Write the mean points of the kept hand over every starter, for each class and split.

    Shapes: shows float32[C, S].
    """
    v = views[0]
    dealt = cards.shape[1]
    v["hand_n"] = dealt
    for i in range(len(cards)):
        for k in range(dealt):
            v["hand"][k] = cards[i, k]
        for split in range(len(splits)):
            low = cards[i, splits[split, 0]]
            high = cards[i, splits[split, 1]]
            shows[i, split] = starters_total(v, table, low, high) / (DECK - dealt)


@entry(void(int64[:, ::1], int64[:, ::1], int64, float32[:, ::1]))
def write_suits(cards, splits, flush_size, suited):
    """Write the mean crib points from the suits of the discarded cards, float32[C, S]."""
    dealt = cards.shape[1]
    unseen = DECK - dealt
    for i in range(len(cards)):
        for split in range(len(splits)):
            low = cards[i, splits[split, 0]]
            high = cards[i, splits[split, 1]]
            brings = 0.0
            for card in (low, high):
                if card >> 2 == JACK:
                    left = IN_SUIT
                    for k in range(dealt):
                        left -= cards[i, k] & 3 == card & 3
                    brings += left / unseen
            if low & 3 == high & 3:
                left = IN_SUIT
                for k in range(dealt):
                    left -= cards[i, k] & 3 == low & 3
                two = left * (left - 1) / (unseen * (unseen - 1))
                third = (left - 2) / (unseen - 2)
                brings += 5 * two * third
                if flush_size == 4:
                    brings += 4 * two * (1 - third)
            suited[i, split] = brings


def crib_points() -> tuple[Doubles, Doubles]:
    """Return the points of two rank pairs with each starter, float64[91, 91, 13]; and their ranks.

    The second array is int64[91, 13], how many cards of each rank a pair has.
    """
    rows = holdings()[FIRST[2] : FIRST[3]]
    keys = rows[:, None, None, KEY] + rows[None, :, None, KEY] + KEYS
    counts = rows[:, COUNTED, None] >> (4 * np.arange(13)) & 15
    return show_table()[np.minimum(keys, FOUR - 1)].astype(np.float64), counts.astype(np.float64)


@entry(
    void(int64[:, ::1], int64[:, ::1], int64[:, ::1], float32[:, ::1], float32[:, ::1],
         float64[:, ::1], float64[:, :, ::1], float64[:, ::1], float64, float64, float64,
         float64[:, ::1])
)  # fmt: skip
def write_values(
    ranks, holding, pair, holding_range, pair_range, crib, cribs, play, sign, play_sign, starters,
    action_value
):  # fmt: skip
    """Write the value of each multiset's splits in crib and pegging, float64[M, S].

    Args:
        ranks, holding, pair: of `RankHands`. holding_range, pair_range: of `Ranges`, for this seat.
        crib: float64[91, 91], the crib of two pairs added up over all starters but their own cards.
        cribs: float64[91, 91, 13], the same by starter, to remove the seat's own cards.
        play: float64[K, K], points of the pegging by both seats' hands.
        sign: of the crib: 1 for the dealer, -1 for pone. play_sign: of ``play``.
        starters: how many there can be, given the hand and the other's two.
    """
    for hand in range(len(ranks)):
        for split in range(holding.shape[1]):
            same = split - 1
            while same >= 0 and (
                holding[hand, same] != holding[hand, split] or pair[hand, same] != pair[hand, split]
            ):
                same -= 1
            if same >= 0:
                action_value[hand, split] = action_value[hand, same]
                continue
            mine = pair[hand, split]
            of_crib = 0.0
            for theirs in range(pair_range.shape[1]):
                likely = pair_range[hand, theirs]
                if likely > 0.0:
                    points = crib[mine, theirs]
                    for i in range(ranks.shape[1]):
                        points -= cribs[mine, theirs, ranks[hand, i]]
                    of_crib += likely * points
            of_play = 0.0
            for theirs in range(holding_range.shape[1]):
                of_play += holding_range[hand, theirs] * play[holding[hand, split], theirs]
            action_value[hand, split] = sign * of_crib / starters + play_sign * of_play


@entry(
    float64(float32[:, ::1], float32[:, ::1], float32[:, ::1], float32[:, ::1], float64[:, ::1],
            int64[::1], int64[::1], float64)
)  # fmt: skip
def learn_splits(regrets, probabilities, sums, by_class, by_ranks, of_class, sizes, iteration):
    """Learn from the values of splits; return the regret of the current strategy.

    Args:
        regrets, probabilities, sums: float32[C, S]: regrets, the strategy, and what its average
            is of.
        by_class: float32[C, S]. by_ranks: float64[M, S]; a split's value is their sum.
        of_class: of `RankHands`. sizes: of `Classes`.
        iteration: the weight in the average; 0 learns nothing.

    Returns:
        points per deal.
    """
    missed = 0.0
    hands = 0
    splits = probabilities.shape[1]
    for i in range(len(probabilities)):
        value = 0.0
        best = -1e30
        for split in range(splits):
            action_value = by_class[i, split] + by_ranks[of_class[i], split]
            value += probabilities[i, split] * action_value
            best = max(best, action_value)
        missed += sizes[i] * (best - value)
        hands += sizes[i]
        if iteration == 0.0:
            continue
        total = 0.0
        for split in range(splits):
            action_value = by_class[i, split] + by_ranks[of_class[i], split]
            regrets[i, split] = max(regrets[i, split] + action_value - value, 0.0)
            total += regrets[i, split]
        for split in range(splits):
            if total > 0.0:
                probabilities[i, split] = regrets[i, split] / total
            sums[i, split] += iteration * probabilities[i, split]
    return missed / hands


class DiscardSolver:
    """The values of splits, for a game and the current strategies.

    Args:
        rules: of the game. classes: of hands. hands: their rank multisets.
    """

    def __init__(self, rules: TwoHandRules, classes: Classes, hands: RankHands) -> None:
        self.hands = hands
        views = discard_views(rules)[:1]
        shape = len(classes.codes), len(classes.splits)
        shows, suited = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
        write_shows(views, show_table(), classes.cards, classes.splits, shows)
        write_suits(classes.cards, classes.splits, rules.crib_flush_size, suited)
        self.by_class = shows - suited, shows + suited
        self.cribs, counts = crib_points()
        left = hands.copies - counts[:, None] - counts[None]
        there = (hands.counts.sum(axis=0) > 0).astype(np.float64)
        own = hands.copies * there - counts[None]
        self.crib = np.einsum("abs,abs->ab", self.cribs, np.broadcast_to(own, left.shape))
        self.starters = hands.copies * there.sum() - hands.ranks.shape[1] - 2
        assert self.crib.shape == (PAIRS, PAIRS)

    def action_value(
        self, seat: int, holding_range: Floats, pair_range: Floats, play: Doubles
    ) -> Doubles:
        """Return the values of splits in crib and pegging, float64[M, S] (play float64[K, K])."""
        hands = self.hands
        action_value = np.zeros(hands.holding.shape)
        sign = 1.0 if seat else -1.0
        write_values(
            hands.ranks, hands.holding, hands.pair, holding_range, pair_range, self.crib,
            self.cribs, np.ascontiguousarray(play.T) if seat else play, sign, -sign, self.starters,
            action_value,
        )  # fmt: skip
        return action_value
