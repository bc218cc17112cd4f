"""``equilibrium``: plays for points by the stochastic policy that solves a deal as a zero-sum game.

It looks a position up and draws by the probabilities. The tables of many games lie in one flat
array: compiled agents take only float64, which holds whole numbers up to 2**53 exactly, so six
probabilities go into one. Some positions have no entry, because the choice is certain: only one
rank is legal, or the other seat has no cards left. In the second case the agent tries the orders of
its cards and plays the one with the most points.

`classes` has the hands up to permutations of suits, `public_tree` the tree of the pegging,
`strategy` the tables and their files.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numba import float64, uint8, void

from crib_agents.data.tables import FOLDER
from crib_agents.equilibrium.classes import HAND, canonical, find_class
from crib_agents.equilibrium.public_tree import find_node
from crib_agents.equilibrium.strategy import WHOLE, Solved, Strategy, first_of
from crib_agents.files import name_of
from crib_agents.honours import FOR_POINTS
from crib_agents.kernels.two_hand import sort_dealt
from crib_agents.knowledge.pegging import FIRST, NEW_COUNT, held_ranks, number, turn_after
from crib_agents.learned.network import join, offset_of_rules
from crib_agents.learned.two_hand import rules_key
from crib_env.arrays import Bytes, Doubles
from crib_env.engine import stack
from crib_env.engine.family import check_family
from crib_env.engine.hands.counting import dealt_card, sequence_of, sequence_points
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, WEIGHTS_T, array_of
from crib_env.engine.rng import below
from crib_env.engine.show import pip
from crib_env.engine.two_hand import VIEW
from crib_env.policy import Act, CompiledAgent, Views, one_or_many
from crib_env.rules import Rules

__all__ = ["Equilibrium", "Solved"]

# Indices in the head of a packed strategy: three sizes, then the offsets of its parts.
CLASSES, STARTERS, SIZE, CODES, SPLITS, ROW, CHILD, OFFSET, PEGGING = range(9)
HEAD = 9

IN_ONE = 6  # bytes packed into a float64


def pack_bytes(values: Bytes) -> Doubles:
    """Pack bytes, six to a float64, the first in the lowest bits."""
    words = np.zeros((-(-len(values) // IN_ONE), 8), dtype=np.uint8)
    whole = len(values) // IN_ONE
    words[:whole, :IN_ONE] = values[: whole * IN_ONE].reshape(-1, IN_ONE)
    words[whole:, : len(values) % IN_ONE] = values[whole * IN_ONE :]
    packed: Doubles = words.view("<u8").ravel().astype(np.float64)
    return packed


@entry(void(uint8[:, ::1], float64[::1]))
def fill_splits(discard, packed):
    """Write the two likeliest splits of each class, and the first's probability, as one number."""
    for k in range(discard.shape[0]):
        row = discard[k]
        first = 0
        for split in range(1, row.shape[0]):
            if row[split] >= row[first]:
                first = split
        second = 1 if first == 0 else 0
        for split in range(second + 1, row.shape[0]):
            if split != first and row[split] >= row[second]:
                second = split
        both = max(int(row[first]) + int(row[second]), 1)
        packed[k] = first + 16 * second + 256 * np.rint(255 * row[first] / both)


def pack_splits(discard: Bytes) -> Doubles:
    """Pack discard probabilities, uint8[2, C, S], by `fill_splits` into float64[2 * C]."""
    packed = np.zeros(discard.shape[0] * discard.shape[1])
    fill_splits(np.array(discard).reshape(len(packed), -1), packed)  # a file's arrays are read-only
    return packed


def pack(strategy: Strategy) -> Doubles:
    """Pack a strategy into one array, for kernels."""
    tree = strategy.tree
    bytes_a_number = strategy.play.shape[1]
    parts = [
        strategy.classes.codes.astype(np.float64),
        pack_splits(strategy.discard),
        tree.row.astype(np.float64),
        tree.child.astype(np.float64).ravel(),
        tree.offset.astype(np.float64),
        pack_bytes(strategy.play.ravel()),
    ]
    begins = HEAD + np.cumsum([0, *map(len, parts[:-1])])
    head = [len(parts[0]), len(strategy.play), bytes_a_number, *begins]
    return np.concatenate([np.array(head, dtype=np.float64), *parts])


@kernel
def byte_at(weights, place):
    """Return byte ``place`` of bytes packed by `pack_bytes` at the start of ``weights``."""
    return int(weights[place // IN_ONE]) >> (8 * (place % IN_ONE)) & 255


FINE = 1 << 24  # resolution of a draw
ORDERS = 6  # of playing three cards


@kernel
def split_cards(dealt, split):
    """Return the two places that a split discards, the higher first; see `split_places`."""
    for low in range(dealt):
        for high in range(low + 1, dealt):
            if split == 0:
                return high, low
            split -= 1
    return NONE, NONE


@kernel
def packed_split(v, weights, cards, n, order):
    """Return the packed splits of the class of ``n`` cards; write their ``order`` in it."""
    classes = int(weights[CLASSES])
    at = find_class(weights, int(weights[CODES]), classes, canonical(cards, n, order))
    return int(weights[int(weights[SPLITS]) + classes * (1 - v["dealer"]) + at])


@kernel
def discard_probabilities(v, weights, probabilities):
    """Write the probability of discarding each card now; ``weights`` begin with a strategy.

    The card of a split with the higher place goes first. If the first discard was another card,
    the kernel completes a split with it, or else takes the first card of the likeliest split.
    """
    cards = stack.ints(HAND)
    order = stack.ints(HAND)
    n = v["hand_n"] + v["discarded_n"]
    for i in range(n):
        cards[i] = dealt_card(v, i)
    packed = packed_split(v, weights, cards, n, order)
    for i in range(n):
        probabilities[i] = 0.0
    discarded = NONE  # the place of the card already discarded
    for place in range(n):
        if order[place] >= v["hand_n"]:
            discarded = place
    total = 0.0
    for which in range(2):
        likely = packed >> 8 if which == 0 else 255 - (packed >> 8)
        first, second = split_cards(n, packed >> (4 * which) & 15)
        if discarded == NONE:
            probabilities[order[first]] += likely
            total += likely
        elif discarded == first:
            probabilities[order[second]] += likely
            total += likely
    if total == 0.0:  # the strategy does not discard that card, or not first
        for which in range(2):
            first, second = split_cards(n, packed >> (4 * which) & 15)
            if discarded == second and total == 0.0:
                probabilities[order[first]] = 1.0
                total = 1.0
        if total == 0.0:
            first, second = split_cards(n, packed & 15)
            probabilities[order[first]] = 1.0
            total = 1.0
    for i in range(v["hand_n"]):
        probabilities[i] /= total


@kernel
def order_makes(v, order):
    """Return the points of playing the held cards in an order, without replies; -1 if illegal."""
    n = v["hand_n"]
    places = stack.ints(3)
    first = order % n
    rest = order // n
    second = (first + 1 + rest % max(n - 1, 1)) % n
    places[0] = first
    places[1] = second
    places[2] = 3 - first - second if n == 3 else 0
    sequence = sequence_of(v)
    played = v["pile_n"] - v["pile_from"]
    count = v["count"]
    go = v["go"]
    made = 0
    for i in range(n):
        card = v["hand"][places[i]]
        if count + pip(card) > 31:
            return -1  # a later card fits
        count += pip(card)
        sequence = sequence << 4 | card >> 2
        played += 1
        made += sequence_points(sequence, played, count, go)
        able = False
        for later in range(i + 1, n):
            able = able or count + pip(v["hand"][places[later]]) <= 31
        way, point = turn_after(count, go, able, False, v["single_count"])
        made += point
        go |= point
        if way == NEW_COUNT:
            if v["single_count"]:
                return made
            sequence = 0
            played = 0
            count = 0
            go = 0
    return made


@kernel
def pegging_probabilities(v, weights, probabilities):
    """Write the probability of playing each card now; ``weights`` begin with a strategy."""
    n = v["hand_n"]
    counted = held_ranks(v)
    ranks = 0  # a mask of those that fit
    slots = 0
    for i in range(n):
        probabilities[i] = 0.0
        if v["legal"] >> i & 1:
            ranks |= 1 << (v["hand"][i] >> 2)
    for rank in range(13):
        slots += (counted >> (4 * rank) & 15) > 0
    if ranks & (ranks - 1) == 0:
        for i in range(n):
            if v["legal"] >> i & 1:
                probabilities[i] = 1.0
                return
    if v["held_n"][1] == 0:
        best = -1
        chosen = 0
        for order in range(ORDERS if n == 3 else 2):
            made = order_makes(v, order)
            if made > best:
                best = made
                chosen = order % n
        probabilities[chosen] = 1.0
        return
    node = find_node(v, weights, int(weights[ROW]), weights, int(weights[CHILD]))
    first = first_of(int(weights[int(weights[OFFSET]) + node]), n, number(counted) - FIRST[n])
    if weights[STARTERS] > 1:
        first += (v["starter"] >> 2) * int(weights[SIZE])
    play = weights[int(weights[PEGGING]) :]
    rest = WHOLE
    slot = 0
    total = 0.0
    for rank in range(13):
        if counted >> (4 * rank) & 15 == 0:
            continue
        likely = rest
        if slot < slots - 1:
            likely = float(byte_at(play, first + slot))
            rest -= likely
        slot += 1
        for i in range(n):
            if v["hand"][i] >> 2 == rank and v["legal"] >> i & 1:
                probabilities[i] = max(likely, 0.0)
                total += probabilities[i]
                break
    for i in range(n):
        if total > 0.0:
            probabilities[i] /= total
        elif v["legal"] >> i & 1 and ranks > 0:  # those that fit have probability 0: take the first
            probabilities[i] = 1.0
            total = 1.0


@kernel
def card_probabilities(v, weights, probabilities):
    """Write the probability of each card held, float64[HAND]; return 0 under unknown rules."""
    at = offset_of_rules(weights, rules_key(v))
    if at == NONE:
        return 0
    if v["phase"] == DISCARD:
        discard_probabilities(v, weights[at:], probabilities)
    else:
        pegging_probabilities(v, weights[at:], probabilities)
    return 1


@kernel
def act(v, rng, table, weights):
    """Return a card drawn by the strategy's probabilities; NONE under unknown rules."""
    probabilities = stack.floats(HAND)
    if card_probabilities(v, weights, probabilities) == 0:
        return NONE
    drawn = below(rng, FINE) / FINE
    chosen = NONE
    for i in range(v["hand_n"]):
        if probabilities[i] > 0.0:
            if chosen == NONE or drawn >= 0.0:
                chosen = i
            drawn -= probabilities[i]
    return v["hand"][chosen]


SHIPPED = FOLDER / "equilibrium"
FAMILY = "two_hand"


@cache
def shipped() -> tuple[Solved, ...]:
    """Return the strategies that come with the package, read once in a process."""
    return tuple(Solved.load(path) for path in sorted(SHIPPED.glob("*.safetensors")))


@entry(void(array_of(VIEW), WEIGHTS_T, float64[:, ::1]))
def write_pair_probabilities(views, strategy, probabilities):
    """Write a strategy's probability of each pair of the sorted cards, float64[B, PAIRS]."""
    cards = stack.ints(HAND)
    order = stack.ints(HAND)
    for i in range(views.shape[0]):
        v = views[i]
        n = sort_dealt(v, cards)
        packed = packed_split(v, strategy, cards, n, order)
        for k in range(probabilities.shape[1]):
            probabilities[i, k] = 0.0
        for which in range(2):
            likely = packed >> 8 if which == 0 else 255 - (packed >> 8)
            first, second = split_cards(n, packed >> (4 * which) & 15)
            low = min(order[first], order[second])
            high = max(order[first], order[second])
            probabilities[i, low * (2 * n - low - 1) // 2 + high - low - 1] += likely / 255.0


@entry(void(array_of(VIEW), WEIGHTS_T, float64[:, ::1]))
def write_rank_probabilities(views, strategy, probabilities):
    """Write a strategy's probability of each rank in the pegging, float64[B, 13]."""
    of_hand = stack.floats(HAND)
    for i in range(views.shape[0]):
        v = views[i]
        pegging_probabilities(v, strategy, of_hand)
        for r in range(13):
            probabilities[i, r] = 0.0
        for k in range(v["hand_n"]):
            probabilities[i, v["hand"][k] >> 2] += of_hand[k]


@entry(void(array_of(VIEW), WEIGHTS_T, float64[:, ::1]))
def write_probabilities(views, weights, probabilities):
    """Write each view's action probabilities; a row stays 0 under unknown rules."""
    of_hand = stack.floats(HAND)
    for k in range(views.shape[0]):
        v = views[k]
        if card_probabilities(v, weights, of_hand):
            for i in range(v["hand_n"]):
                probabilities[k, v["hand"][i]] = of_hand[i]


class Equilibrium(CompiledAgent):
    """Plays a solved strategy by its probabilities; it ignores the score.

    It takes the strategy for the rules in the view. Fields on which strategies do not depend, such
    as the target, may have any value.

    Args:
        solved: the strategies, by default those that come with the package.
        name: its name in tables.
    """

    name = "equilibrium"
    acts: ClassVar[dict[str, Act]] = {FAMILY: act}
    draws: ClassVar[bool] = True
    honours = FOR_POINTS
    other_rules = "`python -m research.solve` makes strategies for other rules"

    def __init__(self, solved: Sequence[Solved] | None = None, name: str = "equilibrium") -> None:
        self.solved = shipped() if solved is None else tuple(solved)
        self.name = name
        super().__init__(_joined(self.solved))

    @property
    def known_rules(self) -> tuple[Rules, ...]:
        """The rules that its strategies are for."""
        return tuple(one.rules for one in self.solved)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle neither the joined array nor the shipped strategies, which every process has."""
        return type(self), (None if self.solved is shipped() else self.solved, self.name)

    @classmethod
    def load(cls, path: str | Path, name: str | None = None) -> Equilibrium:
        """Return the agent of one strategy file, by default with the file's name.

        Raises:
            ValueError: the file does not fit; the message names the expected and the found value.
        """
        return cls([Solved.load(path)], name or name_of(path))

    @one_or_many
    def action_probabilities(self, views: Views) -> Doubles:
        """Return the probability of each action, float64[B, 52]; a row adds up to 1.

        Raises:
            ValueError: see `act`.
        """
        family = check_family(self.name, views, self.acts)
        probabilities = np.zeros((len(views), family.actions))
        write_probabilities(np.ascontiguousarray(views), self.weights, probabilities)
        return probabilities


@lru_cache(maxsize=2)  # an entry holds the strategies too: six cards take 150 MB
def _joined(solved: tuple[Solved, ...]) -> Doubles:
    """Join strategies for kernels; agents with the same strategies share the array."""
    return join([one.key() for one in solved], [pack(one.strategy) for one in solved])
