"""Vector-form CFR+ over a deal: iterations, the average strategy, and bounds on its exploitability.

An iteration walks pone's pegging and then the dealer's. It then updates pone's splits and then the
dealer's, each against the other's current strategy (alternating updates). The average gives
iteration t the weight t (Tammelin, Burch, Johanson, Bowling 2015).

The value of a split is the mean show of the kept hand, plus or minus the crib, plus the pegging.
The show is exact with suits, for each class of hands. The crib is exact by ranks against the other
seat's discards, and so is nobs. Flushes in the crib assume that the other seat discards by ranks
alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from crib_agents.equilibrium.classes import Classes, hand_classes
from crib_agents.equilibrium.public_tree import public_tree
from crib_agents.equilibrium.strategy import WHOLE, Strategy
from crib_agents.knowledge.pegging import COUNTED, FIRST, KEY, holdings
from numba import float32, float64, int64, void

from crib_env.arrays import Doubles, Floats
from crib_env.engine.hands.counting import IN_SUIT, starters_total
from crib_env.engine.jit import entry
from crib_env.engine.ranks import DECK, RANKS, WHOLE_DECK
from crib_env.engine.record import NONE, TABLE_T, array_of
from crib_env.engine.show import FOUR, JACK, KEYS, show_table
from crib_env.engine.two_hand import VIEW
from crib_env.rules import TwoHandRules
from research.solve.counts import count_states
from research.solve.pegging import BEST, LEARN, NO_BOOK, VALUE, Walked, Walker
from research.solve.ranges import Ranges, RankHands
from research.tables.dealing import discard_views

TABLE = float32[:, ::1]


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

    The second array is float64[91, 13], how many cards of each rank a pair has.
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
    ranks, holding, pair, holding_range, pair_range, crib, cribs, play, sign, play_sign, starters, action_value
):
    """Write the value of each multiset's splits in crib and pegging, float64[M, S].

    ``crib``, float64[91, 91], is the crib of two pairs summed over all starters but their own
    cards; ``cribs``, float64[91, 91, 13], by starter, removes the seat's own cards. The crib counts
    times ``sign``, 1 for the dealer. ``play``, float64[K, K], the pegging by both hands, counts
    times ``play_sign``. There are ``starters`` starters. The rest is of `RankHands` and `Ranges`.
    """
    for hand in range(len(ranks)):
        for split in range(holding.shape[1]):
            same = split - 1
            while same >= 0 and (holding[hand, same] != holding[hand, split] or pair[hand, same] != pair[hand, split]):
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


@entry(float64(TABLE, TABLE, TABLE, TABLE, float64[:, ::1], int64[::1], int64[::1], float64))
def learn_splits(regrets, probabilities, sums, by_class, by_ranks, of_class, sizes, iteration):
    """Learn from the values of splits; return the current strategy's regret in points per deal.

    ``sums`` adds up the average strategy with the weight ``iteration``; 0 learns nothing. A split's
    value is ``by_class``, float32[C, S], plus ``by_ranks``, float64[M, S].
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
        there = (hands.counts.sum(axis=0) > 0).astype(np.float64)
        self.crib = np.einsum("abs,bs->ab", self.cribs, hands.copies * there - counts)
        self.starters = hands.copies * there.sum() - hands.ranks.shape[1] - 2

    def action_value(self, seat: int, holding_range: Floats, pair_range: Floats, play: Doubles) -> Doubles:
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


@dataclass(frozen=True)
class ExploitabilityBound:
    """A lower bound on the exploitability of the average strategy, within the abstraction."""

    # points per deal that a seat's best response gains among the strategies with the solver's
    # information: a lower bound on the gain of an unrestricted one
    pone_gains: float
    dealer_gains: float
    value: float  # pone's points per deal less the dealer's, without heels

    @property
    def mean(self) -> float:
        """The mean of both seats' gains."""
        return (self.pone_gains + self.dealer_gains) / 2


class Solver:
    """Solves a deal of a two-hand game for points.

    ``by_starter``: the pegging depends on the starter's rank. ``missed`` is each seat's regret of
    its splits at the last iteration, in points per deal.
    """

    def __init__(self, rules: TwoHandRules, *, by_starter: bool, deck: int = WHOLE_DECK) -> None:
        self.rules = rules
        self.deck = deck
        cards = rules.dealt - 2
        self.classes = hand_classes(rules.dealt, deck)
        self.tree = public_tree(cards, rules.single_count)
        self.ranges = Ranges(self.classes)
        hands = self.ranges.hands
        self.splits = DiscardSolver(rules, self.classes, hands)
        counts = count_states(cards, rules.single_count)
        self.walker = Walker(self.tree, counts, rules.single_count, hands.copies)
        self.starters = range(RANKS) if by_starter else (NONE,)
        self.iteration = 0
        self.missed = [np.inf, np.inf]
        shape = self.splits.by_class[0].shape
        self.regrets = np.zeros((2, *shape), dtype=np.float32)
        self.sums = np.zeros((2, *shape), dtype=np.float32)
        self.probabilities = np.zeros((2, *shape), dtype=np.float32)
        even = self.walker.even()
        self.play = [even.copy() for _ in self.starters]
        self.books = [[self.walker.book(seat) for _ in self.starters] for seat in range(2)]
        first = FIRST[cards]
        self.holding = first + np.arange(hands.holdings)
        possible = np.zeros(hands.holdings)  # probability that a seat can keep each
        for split in range(shape[1]):
            new = (hands.holding[:, :split] != hands.holding[:, split, None]).all(axis=1)
            np.add.at(possible, hands.holding[new, split], hands.chance[new])
        self.possible = np.maximum(possible, 1e-12)
        for seat in range(2):
            best = self.splits.by_class[seat].argmax(axis=1)
            self.probabilities[seat, np.arange(shape[0]), best] = 1.0
            self.ranges.discard(seat, self.probabilities[seat])

    def walk(self, seat: int, mode: int, play: list[Floats], *, by_hand: bool = False) -> tuple[Doubles, Doubles]:
        """Walk all hands of a seat with every starter.

        Returns points of each holding, float64[K], and by the other's hand, float64[K, K].
        """
        joint, likely = self.ranges.joint(seat)
        weights = likely / self.possible
        total: Any = (0.0, 0.0, 0.0, 0.0)
        walk = partial(self.walker.walk, seat, mode, self.holding, weights, joint, by_hand=by_hand)
        for i, starter in enumerate(self.starters):
            book = self.books[seat][i] if mode == LEARN else NO_BOOK
            found = walk(play[i], book, iteration=self.iteration, starter=starter)
            total = Walked(*(a + b for a, b in zip(total, found, strict=True)))
        return (
            total.values / np.maximum(total.masses, 1e-30),
            total.hand_values / np.maximum(total.hand_masses, 1e-30),
        )

    def iterate(self) -> None:
        """Run an iteration."""
        self.iteration += 1
        _, pairs = self.walk(0, LEARN, self.play, by_hand=True)
        self.walk(1, LEARN, self.play)
        for seat in range(2):
            self.missed[seat] = self._splits(seat, self.probabilities[seat], pairs, self.iteration)
            self.ranges.discard(seat, self.probabilities[seat])

    def _splits(
        self, seat: int, probabilities: Floats, pairs: Doubles, iteration: float, more: Doubles | None = None
    ) -> float:
        """Learn a seat's splits, or only measure their regret."""
        hands = self.ranges.hands
        action_value = self.splits.action_value(seat, self.ranges.holding[seat], self.ranges.pair[seat], pairs)
        if more is not None:
            action_value += more[hands.holding]
        by_class, sizes = self.splits.by_class[seat], self.classes.sizes
        tables = self.regrets[seat], probabilities, self.sums[seat], by_class
        return float(learn_splits(*tables, action_value, hands.of_class, sizes, float(iteration)))

    def average(self) -> tuple[Floats, list[Floats]]:
        """Return the average strategy: of discarding, float32[2, C, S], and of the pegging."""
        totals = self.sums.sum(axis=2, keepdims=True)
        discard = np.where(totals > 0, self.sums / np.maximum(totals, 1e-30), self.probabilities)
        play = [probabilities.copy() for probabilities in self.play]
        for seat in range(2):
            for i, probabilities in enumerate(play):
                self.walker.average(seat, self.books[seat][i], probabilities)
        return discard.astype(np.float32), play

    def strategy(self) -> Strategy:
        """Return the average strategy as files store it."""
        discard, play = self.average()
        seldom = np.argsort(discard, axis=2, kind="stable")[:, :, :-2]
        np.put_along_axis(discard, seldom, 0.0, axis=2)  # the agent reads two splits
        discard /= discard.sum(axis=2, keepdims=True)
        packed = np.array([np.rint(probabilities * WHOLE).astype(np.uint8) for probabilities in play])
        whole = np.rint(discard * WHOLE).astype(np.int64)
        top = discard.argmax(axis=2)
        np.put_along_axis(  # the likeliest split takes the rounding error
            whole,
            top[..., None],
            int(WHOLE) - whole.sum(axis=2, keepdims=True) + np.take_along_axis(whole, top[..., None], axis=2),
            axis=2,
        )
        return Strategy(self.rules.dealt, self.rules.single_count, whole.astype(np.uint8), packed, deck=self.deck)

    def gap(self) -> ExploitabilityBound:
        """Return the bound of the average strategy; takes as long as two iterations."""
        discard, play = self.average()
        for seat in range(2):
            self.ranges.discard(seat, discard[seat])
        values, pairs = self.walk(0, VALUE, play, by_hand=True)
        theirs, _ = self.walk(1, VALUE, play)
        gains = []
        for seat, own in enumerate((values, theirs)):
            best, _ = self.walk(seat, BEST, play)
            _, likely = self.ranges.joint(seat)
            # The regret of the splits, if each hand kept then pegs its best response.
            missed = self._splits(seat, discard[seat], pairs, 0, best - own)
            gains.append(missed + float((likely * (best - own)).sum()))
        value = self._value(discard, pairs)
        for seat in range(2):
            self.ranges.discard(seat, self.probabilities[seat])
        return ExploitabilityBound(gains[0], gains[1], value)

    def _value(self, discard: Floats, pairs: Doubles) -> float:
        """Return pone's points per deal: its hand, crib and play, less the dealer's hand."""
        ranges = self.ranges
        action_value = self.splits.action_value(0, ranges.holding[0], ranges.pair[0], pairs)
        mine = action_value[ranges.hands.of_class] + self.splits.by_class[0]
        sizes = self.classes.sizes[:, None] / self.classes.hands
        lead = discard[0] * mine - discard[1] * self.splits.by_class[1]
        return float((sizes * lead).sum())
