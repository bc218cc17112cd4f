"""What a solved strategy is written down by: classes of hands, the public tree of the play."""

from __future__ import annotations

from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from crib_agents.equilibrium.classes import DECK, HAND, canonical, find_class, hand_classes
from crib_agents.equilibrium.strategy import Strategy, pair_number
from crib_agents.equilibrium.tree import PAIRS, find_node, public_tree
from crib_agents.knowledge.pegging import number

from crib_env.engine.family import find_family
from crib_env.game import Game
from crib_env.rules import TwoHandRules, find_rules

TOY = sum(1 << (4 * rank + suit) for rank in (3, 4, 5, 9, 10) for suit in range(2))


def class_of(hand: tuple[int, ...], codes: np.ndarray) -> tuple[int, list[int]]:
    order = np.zeros(HAND, dtype=np.int64)
    code = canonical(np.array(hand, dtype=np.int64), len(hand), order)
    return find_class(codes, 0, len(codes), code), [hand[i] for i in order[: len(hand)]]


@pytest.mark.parametrize(("dealt", "classes"), [(5, 134_459), (6, 962_988)])
def test_every_hand_has_a_class(dealt: int, classes: int) -> None:
    """The numbers of classes are those of poker: OEIS A197954."""
    found = hand_classes(dealt)
    assert len(found.codes) == classes
    assert found.hands == comb(52, dealt)


def test_a_class_is_all_hands_that_suits_renamed_make_of_one() -> None:
    rng = np.random.default_rng(11)
    classes = hand_classes(5)
    for _ in range(40):
        hand = tuple(rng.choice(52, 5, replace=False).tolist())
        number, placed = class_of(hand, classes.codes)
        renamed = set()
        for suits in permutations(range(4)):
            other = tuple(card & ~3 | suits[card & 3] for card in hand)
            renamed.add(frozenset(other))
            where, cards = class_of(other[::-1], classes.codes)
            assert where == number
            assert [card >> 2 for card in cards] == [card >> 2 for card in placed]
        assert classes.sizes[number] == len(renamed)
        assert frozenset(classes.cards[number].tolist()) in renamed


def test_a_small_deck_has_its_own_classes() -> None:
    classes = hand_classes(4, TOY)
    cards = [card for card in range(52) if TOY >> card & 1]
    found = {class_of(hand, classes.codes)[0] for hand in combinations(cards, 4)}
    assert found == set(range(len(classes.codes)))
    assert classes.hands == comb(len(cards), 4)


@pytest.mark.parametrize(("preset", "deals"), [("five_card", 300), ("hoyle", 300)])
def test_the_play_is_walked_along_the_tree(preset: str, deals: int) -> None:
    """Wherever a seat has a choice while the other holds cards, its view is a node of its own."""
    rules = find_rules(preset, TwoHandRules)
    tree = public_tree(rules.dealt - 2, rules.single_count)
    child = tree.child.ravel()
    rng = np.random.default_rng(5)
    game = Game(rules, episode="deal")
    reached: dict[int, tuple[object, ...]] = {}
    for _ in range(deals):
        game.reset(seed=int(rng.integers(1 << 30)))
        while not game.over:
            view = game.view(game.seat)
            if view["phase"] == 1 and view["hand_n"] > 1 and view["held_n"][1] > 0:
                node = find_node(view, tree.row, 0, child, 0)
                seen = (
                    int(view["dealer"] == 0), int(view["hand_n"]), int(view["held_n"][1]),
                    int(view["count"]),
                )  # fmt: skip
                at = (tree.mover[node], tree.left[node], tree.other[node], tree.count[node])
                assert seen == at
                seats, dealer = int(view["pile_seats"]), int(view["dealer"])
                ranks = tuple(
                    (int(card) >> 2, seats >> 2 * i & 1 == dealer, i >= view["pile_from"])
                    for i, card in enumerate(view["pile"][: view["pile_n"]])
                )
                assert reached.setdefault(node, ranks) == ranks
                assert tree.offset[node] >= 0
            game.step(int(rng.choice(game.legal_actions)))
    assert len(reached) > 100


def test_probabilities_of_a_holding() -> None:
    tree = public_tree(3, True)
    play = np.zeros((1, tree.size), dtype=np.uint8)
    held = number((1 << 0) + (1 << 16) + (1 << 44))  # ace, five, queen
    strategy = Strategy(5, True, np.zeros((2, 134_459, 10), np.uint8), play)
    at = int(tree.offset[0]) + 2 * (held - 105)  # 1 + 13 + 91 smaller holdings
    play[0, at : at + 2] = 51, 102
    expected = np.zeros(13)
    expected[[0, 4, 11]] = 0.2, 0.4, 0.4
    np.testing.assert_allclose(strategy.pegging_probabilities(0, held), expected)
    twice = number((2 << 0) + (1 << 44))
    play[0, int(tree.offset[0]) + 2 * (twice - 105)] = 255
    assert strategy.pegging_probabilities(0, twice)[0] == 1.0


def test_pairs_laid_away_are_numbered() -> None:
    numbers = {pair_number(a, b) for a in range(13) for b in range(a + 1)}
    assert numbers == set(range(PAIRS))
    assert DECK.bit_count() == 52
    assert find_family("crib_env.engine.two_hand").name == "two_hand"
