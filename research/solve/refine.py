"""The pegging solved again by seats that remember their discards; the discards stay fixed.

A seat that discarded two fives need not fear them. So a walk follows a kept hand together with its
discard, against the exact range that this hand faces. With fixed discards, the starters are
independent. The solver takes them one by one, and only one needs memory. Each starts with the
regrets of the basic solution, copied to every pair discarded.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from crib_agents.equilibrium.public_tree import PAIRS
from crib_agents.equilibrium.strategy import WHOLE, Strategy
from crib_agents.files import inflate, read_header, to_bytes, write_whole
from crib_agents.knowledge.pegging import DISTINCT, FIRST, LISTED, LOWEST, NEW_COUNT, REPLY, SAME_PLAYER, WAYS
from numba import float64, void

from crib_env.arrays import Bytes, Doubles, Floats, Ints
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import RANKS
from crib_env.engine.record import NONE, tuple_of
from research.solve.counts import gone
from research.solve.pegging import BEST, HANDS_T, LEARN, NO_BOOK, VALUE, WALK_T, Hands, Walk, Walker
from research.solve.ranges import NOBODY, part_of
from research.solve.solver import SeatGains, Solver

T = TypeVar("T", np.float32, np.uint8)

RARE = 0.02  # after rarer discards a hand is played by the basic solution
POWER = 4  # iteration t weighs t**4 in the average: the first ones still play as without the pairs
MEASURED = 8  # one hand in this many is measured


@dataclass(frozen=True)
class Refined:
    """A starter's refined pegging."""

    play: Bytes  # uint8[size * 91], a row of `Strategy.play`
    # each seat's best gain against it, points per deal, within the abstraction
    gains: tuple[float, float]
    weight: float  # the probability of the starter


def spread(
    table: npt.NDArray[T],
    begins: Ints,
    left: Ints,
    width: Callable[[int], int],
    taken: Callable[[int], int] | None = None,
) -> npt.NDArray[T]:
    """Return a table with every holding's entries repeated for every pair discarded.

    Shapes: begins int64[N].
    """
    out = np.zeros(len(table) * PAIRS, dtype=table.dtype)
    for node in np.flatnonzero(begins != NONE):
        size, at = int(left[node]), int(begins[node])
        holdings, wide = int(FIRST[size + 1] - FIRST[size]), width(size)
        end = at + holdings * wide
        many = taken(size) if taken else wide
        rows = out[at * PAIRS : end * PAIRS].reshape(holdings, PAIRS, wide)
        rows[:, :, :many] = table[at:end].reshape(holdings, 1, wide)[:, :, :many]
    return out


def a_chance(size: int) -> int:
    """Return how many probabilities a holding of a size has; see `first_of`."""
    return size - 1


def a_page(size: int) -> int:
    """Return how many numbers it has in a book; see `research.solve.pegging.Walk`."""
    return 2 * size


def regrets(size: int) -> int:
    """Return how many of those are regrets."""
    return size


class Refinement:
    """Solves the pegging of a solved deal again; the seats discard as in files from now on."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self.strategy = solver.strategy()
        _, self.basic = solver.average()
        ranges = solver.ranges
        self.starters = [i for i in range(RANKS) if ranges.hands.counts[:, i].any()]
        for seat in range(2):
            ranges.discard(seat, self.strategy.discard_probabilities(seat))
        self.hands: list[Hands] = []
        self.likely: list[Doubles] = []
        for seat in range(2):
            hands, likely = self._hands(seat)
            self.hands.append(hands)
            self.likely.append(likely)

    def _hands(self, seat: int) -> tuple[Hands, Doubles]:
        """Return a seat's kept cards and discards with their probabilities."""
        dealt = self.solver.ranges.hands
        shape = dealt.holdings, PAIRS
        which, likely = np.full(shape, NONE, dtype=np.int64), np.zeros(shape)
        which[dealt.holding, dealt.pair] = np.arange(len(dealt.holding))[:, None]
        shares = self.solver.ranges.strategy[seat] * dealt.chance[:, None]
        np.add.at(likely, (dealt.holding, dealt.pair), shares)
        often = (which != NONE) & (likely > RARE * dealt.chance[which])
        holding, pair = np.nonzero(often)
        hand = which[often]
        known = (dealt.counts[hand] << 4 * np.arange(RANKS)).sum(axis=1)
        size = dealt.ranks.shape[1] - 2
        walked = Hands(FIRST[size] + holding, pair.copy(), known, hand, np.ones(len(hand)))
        return walked, likely[often]

    def solve(self, starter: int, iterations: int, done: Callable[[int], None] = lambda _: None) -> Refined:
        """Return the pegging after a starter of a rank, solved by ``iterations``."""
        solver = self.solver
        walker, tree = solver.walker, solver.tree
        dealt = solver.ranges.hands
        left = [dealt.copies - dealt.counts[hands.range_of, starter] for hands in self.hands]
        weights = [likely * n for likely, n in zip(self.likely, left, strict=True)]
        probabilities = spread(solver.play[starter], tree.offset, tree.left, a_chance)
        books = []
        for seat in range(2):
            basic_book, pages = solver.books[seat][starter], walker.pages[seat]
            books.append(spread(basic_book, pages, tree.left, a_page, regrets))
        basic = self.basic[starter]
        met = [self._blend(seat, weights[seat], probabilities, basic) for seat in range(2)]
        for iteration in range(1, iterations + 1):
            for seat in range(2):
                walker.walk(
                    seat,
                    LEARN,
                    self.hands[seat],
                    solver.ranges.holding[seat],
                    probabilities,
                    met[1 - seat],
                    books[seat],
                    iteration=float(iteration) ** POWER,
                    starter=starter,
                    pairs=PAIRS,
                )
                met[seat] = self._blend(seat, weights[seat], probabilities, basic)
            done(iteration)
        probabilities = spread(basic, tree.offset, tree.left, a_chance)
        for seat in range(2):
            walker.average(seat, books[seat], probabilities, PAIRS)
        gains = self._gains(starter, weights, probabilities)
        return Refined(np.rint(probabilities * WHOLE).astype(np.uint8), gains, float(weights[0].sum()))

    def _blend(self, seat: int, weights: Doubles, probabilities: Floats, basic: Floats) -> Floats:
        return blend(self.solver.walker, seat, self.hands[seat], weights, probabilities, basic)

    def _gains(self, starter: int, weights: list[Doubles], probabilities: Floats) -> tuple[float, float]:
        """Return the best gain of each seat, from one hand in `MEASURED`."""
        basic = self.basic[starter]
        gains = []
        for seat in range(2):
            theirs = self._blend(1 - seat, weights[1 - seat], probabilities, basic)
            some = slice(None, None, MEASURED)
            hands = Hands(*(array[some].copy() for array in self.hands[seat]))
            action_value = []
            for mode in (BEST, VALUE):
                walked = self.solver.walker.walk(
                    seat,
                    mode,
                    hands,
                    self.solver.ranges.holding[seat],
                    probabilities,
                    theirs,
                    NO_BOOK,
                    starter=starter,
                    pairs=PAIRS,
                )
                action_value.append(walked.values / np.maximum(walked.masses, 1e-30))
            share = weights[seat][some] / weights[seat][some].sum()
            gains.append(float((share * (action_value[0] - action_value[1])).sum()))
        return gains[0], gains[1]

    def strategy_of(self, play: dict[int, Bytes]) -> Strategy:
        """Return the refined strategy, of rows by starter."""
        basic, tree = self.strategy, self.solver.tree
        rows = np.empty((RANKS, tree.size * PAIRS), dtype=np.uint8)
        for starter in range(RANKS):
            rows[starter] = (
                play[starter] if starter in play else spread(basic.play[starter], tree.offset, tree.left, a_chance)
            )
        return Strategy(basic.dealt, basic.single_count, basic.discard, rows, by_discard=True, deck=basic.deck)


FORMAT = "crib_env refinement"


class Starters:
    """The solved starters of a refinement, ``iterations`` each, in a checkpoint."""

    def __init__(self, refinement: Refinement, iterations: int, path: Path) -> None:
        self.refinement = refinement
        self.iterations = iterations
        self.path = path
        self.cpu_seconds = 0.0
        self.packed: dict[int, bytes] = {}
        self.gains: dict[int, tuple[float, float, float]] = {}

    def about(self) -> dict[str, object]:
        """Return the settings that a checkpoint must match."""
        solver = self.refinement.solver
        return {
            "format": FORMAT,
            "rules": solver.rules.name,
            "solved": zlib.crc32(self.refinement.strategy.play.tobytes()),
            "iterations": self.iterations,
        }

    @property
    def left(self) -> list[int]:
        """The ranks of the starters still to be solved."""
        return [starter for starter in self.refinement.starters if starter not in self.packed]

    def solve(self, starter: int, done: Callable[[int], None]) -> Refined:
        """Solve a starter and save all solved ones; see `Refinement.solve`."""
        began = time.process_time()
        refined = self.refinement.solve(starter, self.iterations, done)
        self.packed[starter] = zlib.compress(refined.play.tobytes())
        self.gains[starter] = (*refined.gains, refined.weight)
        self.cpu_seconds += time.process_time() - began
        self.save()
        return refined

    def save(self) -> None:
        """Write the checkpoint."""
        gains = {str(starter): gain for starter, gain in self.gains.items()}
        about = {**self.about(), "cpu_seconds": self.cpu_seconds, "gains": gains}
        tensors = {str(i): np.frombuffer(row, dtype=np.uint8) for i, row in self.packed.items()}
        write_whole(self.path, to_bytes(about, tensors))

    def load(self, path: Path) -> None:
        """Read a checkpoint."""
        about, tensors = read_header(path, sealed=True)
        for name, value in self.about().items():
            if about.get(name) != value:
                raise ValueError(
                    f"{path} is of another refinement: {name!r} is {about.get(name)!r}"
                    f" there, not {value!r}; choose another --out"
                )
        self.packed = {int(name): row.tobytes() for name, row in tensors.items()}
        self.gains = {int(name): tuple(gain) for name, gain in about["gains"].items()}
        self.cpu_seconds = float(about["cpu_seconds"])

    def gain(self) -> SeatGains:
        """Return the best gain against the solved starters, within the abstraction."""
        pone, dealer, weight = np.array([self.gains[starter] for starter in sorted(self.gains)]).T
        share = weight / weight.sum()
        return SeatGains(float(share @ pone), float(share @ dealer))

    def strategy(self) -> Strategy:
        """Return the refined strategy."""
        size = self.refinement.solver.tree.size * PAIRS
        return self.refinement.strategy_of(
            {i: np.frombuffer(inflate(row, size), np.uint8) for i, row in self.packed.items()}
        )


# The refined pegging of a seat depends on the ranks it discarded. Its opponent faces the mean over
# all discards possible with the kept cards, each weighed by its probability times the probability
# that it reaches the node.

MEAN_SMOOTHING = 1e-4  # added to a hand's probability of reaching a node: every node has a mean


@kernel
def add(w, node, own, path, weight, sums, weights):
    """Add the probabilities of a holding at a node to the mean."""
    left = w.left[node]
    place = own - FIRST[left]
    at = w.offset[node] * w.pairs + (place * w.pairs + w.pair) * (left - 1)
    to = w.offset[node] + place * (left - 1)
    share = weight * (path + MEAN_SMOOTHING)
    for slot in range(left - 1):
        sums[to + slot] += share * w.probabilities[at + slot]
        weights[to + slot] += share


@kernel
def follow(w, node, state, own, path, weight, sums, weights):
    """Add a hand's probabilities at a node and all below it; ``w`` is a `Walk`.

    ``path`` is this seat's probability of reaching the node, ``weight`` that of the hand. ``sums``
    receives weighted probabilities in the layout of a strategy without pairs, ``weights`` weights.
    """
    mine = w.mover[node] == w.me
    left = w.left[node]
    at = 0
    choices = RANKS
    if mine:
        add(w, node, own, path, weight, sums, weights)
        choices = w.rows[own, DISTINCT]
        at = w.offset[node] * w.pairs + ((own - FIRST[left]) * w.pairs + w.pair) * (left - 1)
        if w.row[node] == NONE:
            return 0
    rest = 1.0
    for choice in range(choices):
        rank = w.rows[own, LISTED] >> (4 * choice) & 15 if mine else choice
        chance = 1.0
        if mine:
            chance = rest
            if choice < choices - 1:
                chance = w.probabilities[at + choice]
            rest -= chance
        then = w.after[state, rank]
        if then == NONE:
            continue
        holding = w.rows[own, rank] if mine else own
        other = w.other[node] if mine else left - 1
        count = w.count[then]
        able = holding > 0 and count + w.rows[holding, LOWEST] <= 31
        if holding == 0 or other == 0:
            continue
        for way in range(WAYS):
            if way == NEW_COUNT and w.single_count:
                continue
            if part_of(way, mine, count, able, other) == NOBODY:
                continue
            child = w.child[w.row[node], way] + rank
            if w.row[child] == NONE and w.mover[child] != w.me:
                continue
            onward = then if way == REPLY else 0
            if way == SAME_PLAYER:
                onward = gone(then, w.single_count)
            follow(w, child, onward, holding, path * chance, weight, sums, weights)
    return 0


@entry(void(tuple_of(tuple, *WALK_T), HANDS_T, float64[::1], float64[::1], float64[::1]))
def blend_hands(shared, hands, likely, sums, weights):
    """Add up every hand's probabilities; see `walk_hands` and `blend`."""
    begin = np.int64(0)
    for hand in range(len(hands.holding)):
        w = Walk(hands.pair[hand], 0.0, *shared)
        follow(w, begin, begin, hands.holding[hand], 1.0, likely[hand], sums, weights)


def blend(walker: Walker, seat: int, hands: Hands, likely: Doubles, probabilities: Floats, basic: Floats) -> Floats:
    """Return a seat's pegging as the opponent sees it, a strategy without pairs.

    Shapes: likely float64[T].
    """
    sums, weights = np.zeros((2, walker.tree.size))
    shared = walker.shared(seat, VALUE, PAIRS, probabilities, NO_BOOK, NO_BOOK, walker.by_hand[:0])
    blend_hands(shared, hands, likely, sums, weights)
    met = weights > 0.0
    mean = basic.copy()
    mean[met] = sums[met] / weights[met]
    return mean
