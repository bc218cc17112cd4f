"""The solver against slow code of its own: counts, ranges, removal, what the play comes to."""

from __future__ import annotations

import copy
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from crib_agents.equilibrium.classes import hand_classes
from crib_agents.equilibrium.tree import multisets, public_tree
from crib_agents.expert.two_hand.pegging.holdings import COUNTED, FIRST, holdings, number
from crib_training.solve.counts import count_states
from crib_training.solve.play import BEST, LEARN, VALUE
from crib_training.solve.ranges import Ranges
from crib_training.solve.walks import Hands, Walker

from crib_env.engine.record import NONE
from crib_env.engine.two_hand.counting import sequence_points
from crib_env.game import Game
from crib_env.rules import TwoHandRules, find_rules

TOY = sum(1 << (4 * rank + suit) for rank in (3, 4, 5, 9, 10) for suit in range(2))
NO_BOOK = np.empty(0, dtype=np.float32)


def holding(ranks: tuple[int, ...]) -> int:
    return number(sum(1 << (4 * rank) for rank in ranks))


@pytest.mark.parametrize(("kept", "single_count"), [(3, True), (2, False)])
def test_states_of_a_count_score_as_its_cards_do(kept: int, single_count: bool) -> None:
    """H4, H6: whatever the order, a state pegs what `sequence_points` makes of all the cards."""
    counts = count_states(kept, single_count)
    rng = np.random.default_rng(3)
    for _ in range(3000):
        state, sequence, total = 0, 0, 0
        for n in range(1, 2 * kept + 1):
            rank = int(rng.choice([*range(13), 4, 5, 6, 6]))
            if total + min(rank + 1, 10) > 31:
                assert counts.after[state, rank] == NONE
                break
            total += min(rank + 1, 10)
            sequence = sequence << 4 | rank
            if Counter(sequence >> (4 * i) & 15 for i in range(n))[rank] > 4:
                break
            for go in range(2):
                made = sequence_points(sequence, n, total, go)
                assert counts.points[state + go, rank] == made, (hex(sequence), n, go)
            state = int(counts.after[state, rank])
            assert counts.count[state] == total


def game_with(rules: TwoHandRules, pone: list[int], dealer: list[int], laid: list[int]) -> Game:
    """Return a game in which these are kept; ``laid`` are pone's two, the dealer's, the starter."""
    deck = [0] * (2 * rules.dealt + 1)
    deck[0 : 2 * rules.dealt : 2] = pone + laid[:2]
    deck[1 : 2 * rules.dealt : 2] = dealer + laid[2:4]
    deck[-1] = laid[4]
    rest = [card for card in range(52) if card not in deck]
    game = Game(rules, episode="play", seed=1)
    game.begin(decks=[deck + rest], dealer=1)
    for card in laid[:4]:
        game.step(card)
    return game


def played_out(game: Game, chances: np.ndarray, walker: Walker) -> float:
    """Return seat 0's points less seat 1's from here on, by every line of play and its chance."""
    if game.over:
        return float(game.scores[0] - game.scores[1])
    view = game.view(game.seat)
    ranks = sorted({card >> 2 for card in game.legal})
    if len(ranks) > 1 and view["other_n"] > 0:
        likely = chances_of(view, chances, walker)
        likely = {rank: likely[rank] for rank in ranks}
    else:
        likely = dict.fromkeys(ranks, 1.0 / len(ranks))
    values = {}
    for rank in ranks:
        branch = copy.deepcopy(game)
        branch.step(next(card for card in branch.legal if card >> 2 == rank))
        values[rank] = played_out(branch, chances, walker)
    if len(ranks) > 1 and view["other_n"] == 0:
        return max(values.values()) if game.seat == 0 else min(values.values())
    return sum(likely[rank] * values[rank] for rank in ranks)


def chances_of(view: np.void, chances: np.ndarray, walker: Walker) -> np.ndarray:
    """Return the chance of each rank, read from the tables by slow code of its own."""
    tree = walker.tree
    node, count = 0, 0
    n = int(view["pile_n"])
    mine = [int(view["pile_mine"]) >> i & 1 for i in range(n)] + [1]
    pips = [min((int(card) >> 2) + 1, 10) for card in view["pile"][:n]]
    for i in range(n):
        count += pips[i]
        ended = int(view["count"]) == 0 if i == n - 1 else count + pips[i + 1] > 31
        way = 2 if ended else 1 if mine[i + 1] == mine[i] else 0
        count = 0 if ended else count
        node = int(tree.child[tree.row[node], way]) + (int(view["pile"][i]) >> 2)
    held = sorted(int(card) >> 2 for card in view["hand"][: view["hand_n"]])
    left = len(held)
    place = holding(tuple(held)) - int(FIRST[left])
    at = int(tree.offset[node]) + place * (left - 1)
    distinct = sorted(set(held))
    found = np.zeros(13)
    for slot, rank in enumerate(distinct[:-1]):
        found[rank] = chances[at + slot]
    found[distinct[-1]] = 1.0 - sum(chances[at : at + len(distinct) - 1])
    return found


def walker_of(rules: TwoHandRules) -> Walker:
    kept = rules.dealt - 2
    counts = count_states(kept, rules.single_count)
    return Walker(public_tree(kept, rules.single_count), counts, rules.single_count, 4)


def lone(kept: int) -> Hands:
    """Return one hand to be walked, its range the first row."""
    one = np.zeros(1, dtype=np.int64)
    return Hands(np.array([kept]), one, one, one, np.ones(1))


def test_a_walk_comes_to_what_the_engine_plays_out() -> None:
    """F4, F5: for random hands and strategies, all lines of play pegged by the engine."""
    rules = TwoHandRules.preset("five_card", for_last=0)
    walker = walker_of(rules)
    rng = np.random.default_rng(8)
    even = walker.even()
    chances = np.where((even > 0) & (even < 1), rng.random(len(even)) * even, even)
    chances = chances.astype(np.float32)
    for _ in range(25):
        cards = rng.permutation(52)[:11].tolist()
        game = game_with(rules, cards[:3], cards[3:6], cards[6:])
        expected = played_out(game, chances, walker)
        hands = [holding(tuple(sorted(c >> 2 for c in kept))) for kept in (cards[:3], cards[3:6])]
        for seat in range(2):
            ranges = np.zeros((1, multisets(3)), dtype=np.float32)
            ranges[0, hands[1 - seat] - FIRST[3]] = 1.0
            values, masses, _, _ = walker.walk(
                seat, VALUE, lone(hands[seat]), ranges, chances, chances, NO_BOOK
            )
            assert masses[0] == 1.0
            assert values[0] == pytest.approx(expected if seat == 0 else -expected, abs=1e-4)


@pytest.mark.slow
def test_a_walk_comes_to_what_the_engine_plays_out_with_four_cards() -> None:
    """H5 to H7, in the same way."""
    rules = find_rules("hoyle", TwoHandRules)
    walker = walker_of(rules)
    rng = np.random.default_rng(9)
    chances = walker.even()
    for _ in range(12):
        cards = rng.permutation(52)[:13].tolist()
        game = game_with(rules, cards[:4], cards[4:8], cards[8:])
        expected = played_out(game, chances, walker)
        hands = [holding(tuple(sorted(c >> 2 for c in kept))) for kept in (cards[:4], cards[4:8])]
        for seat in range(2):
            ranges = np.zeros((1, multisets(4)), dtype=np.float32)
            ranges[0, hands[1 - seat] - FIRST[4]] = 1.0
            values, _, _, _ = walker.walk(
                seat, VALUE, lone(hands[seat]), ranges, chances, chances, NO_BOOK
            )
            assert values[0] == pytest.approx(expected if seat == 0 else -expected, abs=1e-4)


def test_learning_closes_the_gap() -> None:
    """Regret matching against a learning opponent: what best answers gain falls, values agree."""
    rules = find_rules("five_card", TwoHandRules)
    walker = walker_of(rules)
    n = multisets(3)
    rng = np.random.default_rng(4)
    kept = FIRST[3] + rng.choice(n, 40, replace=False)
    ranges = np.zeros((40, n), dtype=np.float32)
    ranges[:, kept - FIRST[3]] = 1.0 / 40
    known = np.ascontiguousarray(holdings()[kept, COUNTED])
    hands = Hands(kept, np.zeros(40, dtype=np.int64), known, np.arange(40), np.ones(40))
    chances = walker.even()
    books = [walker.book(seat) for seat in range(2)]
    gaps = []
    for iteration in range(1, 61):
        for seat in range(2):
            walker.walk(
                seat, LEARN, hands, ranges, chances, chances, books[seat], iteration=iteration
            )
        if iteration in (5, 60):
            mean = chances.copy()
            for seat in range(2):
                walker.average(seat, books[seat], mean)
            best, own = (
                [walker.walk(seat, mode, hands, ranges, mean, mean, NO_BOOK)[0].mean()
                 for seat in range(2)]
                for mode in (BEST, VALUE)
            )  # fmt: skip
            assert own[0] == pytest.approx(-own[1], abs=1e-4)
            gaps.append(sum(best))
    assert 0.0 <= gaps[1] < gaps[0] / 5
    assert gaps[1] < 0.01


def test_ranges_are_what_is_left_of_the_deck() -> None:
    """By counting all hands beside one's own, card by card, in a small deck."""
    classes = hand_classes(4, TOY)
    ranges = Ranges(classes)
    rng = np.random.default_rng(2)
    chances = rng.random((len(classes.codes), len(classes.splits))).astype(np.float32)
    chances /= chances.sum(axis=1, keepdims=True)
    ranges.lay_away(1, chances)
    deck = [card for card in range(52) if TOY >> card & 1]
    hands = ranges.hands
    rows = {tuple(row): i for i, row in enumerate(hands.ranks.tolist())}
    for mine in (deck[:4], deck[2:10:2], [deck[0], deck[1], deck[8], deck[9]]):
        expected: Counter[int] = Counter()
        dealt = 0
        for theirs in combinations([card for card in deck if card not in mine], 4):
            dealt += 1
            row = rows[tuple(sorted(card >> 2 for card in theirs))]
            for split in range(len(classes.splits)):
                expected[int(hands.kept[row, split])] += ranges.strategy[1, row, split]
        found = ranges.kept[0, rows[tuple(sorted(card >> 2 for card in mine))]]
        for kept, likely in enumerate(found):
            assert likely == pytest.approx(expected[kept] / dealt, abs=1e-6)
        assert found.sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.slow
def test_resuming_comes_to_the_same(tmp_path: Path) -> None:
    pytest.importorskip("rich")
    from crib_training.solve.solver import Solver

    rules = find_rules("five_card", TwoHandRules)
    whole, first = Solver(rules, by_starter=False), Solver(rules, by_starter=False)
    whole.iterate()
    first.iterate()
    second = Solver(rules, by_starter=False)
    second.restore(1, {name: array.copy() for name, array in first.tensors().items()})
    whole.iterate()
    second.iterate()
    for name, array in whole.tensors().items():
        np.testing.assert_array_equal(array, second.tensors()[name])
    with pytest.raises(ValueError, match="does not fit"):
        second.restore(1, {})
