"""Vector-form CFR+ over a deal: iterations, the average strategy, and bounds on its exploitability.

An iteration walks pone's pegging and then the dealer's. It then updates pone's splits and then the
dealer's, each against the other's current strategy (alternating updates). The average gives
iteration t the weight t (Tammelin, Burch, Johanson, Bowling 2015).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from crib_agents.data.tables import RANKS
from crib_agents.equilibrium.classes import DECK, hand_classes
from crib_agents.equilibrium.strategy import WHOLE, Strategy
from crib_agents.equilibrium.tree import public_tree
from crib_agents.knowledge.pegging import COUNTED, FIRST, holdings

from crib_env.arrays import Array, Doubles, Floats
from crib_env.engine.record import NONE
from crib_env.rules import TwoHandRules
from crib_training.solve.counts import count_states
from crib_training.solve.discard import DiscardSolver, learn_splits
from crib_training.solve.pegging import BEST, LEARN, NO_BOOK, VALUE, Hands, Walked, Walker
from crib_training.solve.ranges import Ranges

UNKEPT_WEIGHT = 0.01  # weight of a hand that is never kept, so that the solver plays it well too


@dataclass(frozen=True)
class SeatGains:
    """A strategy's exploitability within the abstraction."""

    # pone, dealer: points per deal that the best answer of this seat gains, among all strategies
    # that see what the solver's do: a bound from below on what any answer gains
    pone: float
    dealer: float

    @property
    def mean(self) -> float:
        """The mean of both seats."""
        return (self.pone + self.dealer) / 2


@dataclass(frozen=True)
class ExploitabilityBound(SeatGains):
    """A lower bound on the exploitability of the average strategy."""

    value: float  # pone's points per deal less the dealer's, without heels


class Solver:
    """Solves a deal of a two-hand game for points.

    Args:
        rules: of the game.
        by_starter: whether the pegging depends on the starter's rank.
        deck: the cards that there are; see `hand_classes`.

    Attributes:
        iteration: how many are done.
        missed: each seat's regret of its splits at the last iteration, in points per deal.
    """

    def __init__(self, rules: TwoHandRules, *, by_starter: bool, deck: int = DECK) -> None:
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
        possible = np.zeros(hands.holdings)  # probability of each for a seat that always keeps it
        for split in range(shape[1]):
            new = (hands.holding[:, :split] != hands.holding[:, split, None]).all(axis=1)
            np.add.at(possible, hands.holding[new, split], hands.chance[new])
        self.possible = np.maximum(possible, 1e-12)
        for seat in range(2):
            best = self.splits.by_class[seat].argmax(axis=1)
            self.probabilities[seat, np.arange(shape[0]), best] = 1.0
            self.ranges.discard(seat, self.probabilities[seat])

    def hands(self, likely: Doubles) -> Hands:
        """Return every holding as a hand to walk, kept with probability ``likely``."""
        n = len(self.holding)
        known = np.ascontiguousarray(holdings()[self.holding, COUNTED])
        nothing = np.zeros(n, dtype=np.int64)
        return Hands(self.holding, nothing, known, np.arange(n), likely / self.possible)

    def walk(
        self, seat: int, mode: int, play: list[Floats], seldom: float, *, by_hand: bool = False
    ) -> tuple[Doubles, Doubles]:
        """Walk all hands of a seat with every starter.

        Returns points of each holding, float64[K], and by the other's hand, float64[K, K].
        """
        joint, likely = self.ranges.joint(seat, seldom)
        hands = self.hands(likely)
        total: Any = (0.0, 0.0, 0.0, 0.0)
        for i, starter in enumerate(self.starters):
            book = self.books[seat][i] if mode == LEARN else NO_BOOK
            found = self.walker.walk(
                seat, mode, hands, joint, play[i], play[i], book, iteration=self.iteration,
                starter=starter, by_hand=by_hand,
            )  # fmt: skip
            total = Walked(*(a + b for a, b in zip(total, found, strict=True)))
        return (
            total.values / np.maximum(total.masses, 1e-30),
            total.hand_values / np.maximum(total.hand_masses, 1e-30),
        )

    def iterate(self) -> None:
        """Do an iteration."""
        self.iteration += 1
        _, pairs = self.walk(0, LEARN, self.play, UNKEPT_WEIGHT, by_hand=True)
        self.walk(1, LEARN, self.play, UNKEPT_WEIGHT)
        for seat in range(2):
            self.missed[seat] = self._splits(seat, self.probabilities[seat], pairs, self.iteration)
            self.ranges.discard(seat, self.probabilities[seat])

    def _splits(
        self,
        seat: int,
        probabilities: Floats,
        pairs: Doubles,
        iteration: float,
        more: Doubles | None = None,
    ) -> float:
        """Learn a seat's splits, or only measure their regret."""
        hands = self.ranges.hands
        action_value = self.splits.action_value(
            seat, self.ranges.holding[seat], self.ranges.pair[seat], pairs
        )
        if more is not None:
            action_value += more[hands.holding]
        return float(learn_splits(
            self.regrets[seat], probabilities, self.sums[seat], self.splits.by_class[seat],
            action_value, hands.of_class, self.classes.sizes, float(iteration),
        ))  # fmt: skip

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
        """Return the average strategy in the form of files."""
        discard, play = self.average()
        seldom = np.argsort(discard, axis=2, kind="stable")[:, :, :-2]
        np.put_along_axis(discard, seldom, 0.0, axis=2)  # two splits are all that the agent reads
        discard /= discard.sum(axis=2, keepdims=True)
        packed = np.array(
            [np.rint(probabilities * WHOLE).astype(np.uint8) for probabilities in play]
        )
        whole = np.rint(discard * WHOLE).astype(np.int64)
        top = discard.argmax(axis=2)
        np.put_along_axis(  # what rounding lost or won is the likeliest split's
            whole, top[..., None],
            int(WHOLE) - whole.sum(axis=2, keepdims=True)
            + np.take_along_axis(whole, top[..., None], axis=2), axis=2,
        )  # fmt: skip
        return Strategy(
            self.rules.dealt, self.rules.single_count, whole.astype(np.uint8), packed,
            deck=self.deck,
        )  # fmt: skip

    def gap(self) -> ExploitabilityBound:
        """Return the bound of the average strategy; takes as long as two iterations."""
        discard, play = self.average()
        for seat in range(2):
            self.ranges.discard(seat, discard[seat])
        values, pairs = self.walk(0, VALUE, play, UNKEPT_WEIGHT, by_hand=True)
        theirs, _ = self.walk(1, VALUE, play, UNKEPT_WEIGHT)
        gains = []
        for seat, own in enumerate((values, theirs)):
            best, _ = self.walk(seat, BEST, play, UNKEPT_WEIGHT)
            _, likely = self.ranges.joint(seat, 0.0)
            # The best splits, if each hand kept is then played as well as can be.
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

    def tensors(self) -> dict[str, Array]:
        """Return all that the next iteration needs, by name."""
        arrays: dict[str, Array] = {
            "regrets": self.regrets, "sums": self.sums, "probabilities": self.probabilities,
        }  # fmt: skip
        for i in range(len(self.starters)):
            arrays[f"play.{i}"] = self.play[i]
            for seat in range(2):
                arrays[f"book.{seat}.{i}"] = self.books[seat][i]
        return arrays

    def restore(self, iteration: int, tensors: Mapping[str, Array]) -> None:
        """Continue from what `tensors` returned after ``iteration`` iterations."""
        for name, array in self.tensors().items():
            if name not in tensors or tensors[name].shape != array.shape:
                raise ValueError(f"the checkpoint's {name} does not fit the game")
            array[...] = tensors[name]
        self.iteration = iteration
        for seat in range(2):
            self.ranges.discard(seat, self.probabilities[seat])
