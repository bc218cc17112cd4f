"""`equilibrium`: an action in every position, sampling by its stated probabilities, its file."""

from __future__ import annotations

import copy
import json
import pickle
import zlib
from itertools import permutations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from crib_agents.equilibrium import SHIPPED, Equilibrium, Solved, shipped
from crib_agents.equilibrium.classes import HAND, canonical, find_class, hand_classes
from crib_agents.equilibrium.public_tree import find_node, public_tree
from crib_agents.equilibrium.strategy import Strategy
from crib_agents.files import HEADER, read_header
from crib_agents.knowledge.pegging import number
from safetensors.numpy import save

from crib_env.engine.family import find_family
from crib_env.game import Game
from crib_env.policy import StochasticPolicy
from crib_env.rules import TwoHandRules, find_rules
from exploit_toys import pegging_probabilities
from learned_nets import views_of
from two_hand_views import legal_cards


@pytest.fixture(scope="module")
def agent() -> Equilibrium:
    return Equilibrium()


@pytest.mark.parametrize("preset", ["five_card", "hoyle"])
def test_equilibrium_has_an_action_in_every_position(agent: Equilibrium, preset: str) -> None:
    views = views_of(preset, 100, 1)
    probabilities = agent.action_probabilities(views)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    for view, row in zip(views, probabilities, strict=True):
        assert set(np.flatnonzero(row).tolist()) <= set(legal_cards(view))
    assert isinstance(agent, StochasticPolicy)


def test_equilibrium_samples_by_its_probabilities(agent: Equilibrium) -> None:
    views = views_of("five_card", 400, 2)
    probabilities = agent.action_probabilities(views)
    mixed = views[(probabilities.max(axis=1) < 0.8) & (views["phase"] == 1)][:5]
    assert len(mixed) == 5
    expected = agent.action_probabilities(mixed)
    n = 4000
    drawn = agent.act(np.repeat(mixed, n), np.random.default_rng(3)).reshape(5, n)
    for row, actions in zip(expected, drawn, strict=True):
        share = np.bincount(actions, minlength=52) / n
        np.testing.assert_allclose(share, row, atol=4.5 * 0.5 / n**0.5)


def most_points(game: Game, seat: int) -> int:
    """Return the seat's score at the end of a deal that it plays alone in its best order."""
    if game.over:
        return game.scores[seat]
    ends = []
    for card in legal_cards(game.view(seat)):
        game.push(card)
        ends.append(most_points(game, seat))
        game.pop()
    return max(ends)


def test_equilibrium_playing_alone_maximises_points(agent: Equilibrium) -> None:
    """The other seat has played its last card: the order of the rest decides the points."""
    game, rng, met = Game("hoyle", episode="deal"), np.random.default_rng(4), 0
    for seed in range(400):
        game.reset(seed=seed)
        while not game.over:
            seat = game.seat
            view = game.view(seat)
            alone = view["phase"] == 1 and view["held_n"][1] == 0 and view["hand_n"] > 1
            if alone:
                most = most_points(game, seat)
                probabilities = agent.action_probabilities(np.array([view]))
                assert set(np.unique(probabilities)) == {0.0, 1.0}
                met += 1
            game.step(int(agent.act(np.array([view]), rng)[0]))
            if alone:
                assert most_points(game, seat) == most
    assert met > 10


def test_equilibrium_two_discards_come_from_one_pair(agent: Equilibrium) -> None:
    """The probability of two discards, over both orders, is the strategy's for the pair."""
    strategy = next(one.strategy for one in agent.solved if one.rules.name == "five_card")
    game = Game("five_card", episode="deal")
    for seed in range(25):
        game.reset(seed=seed)
        while (view := game.view(game.seat))["phase"] == 0:
            of_class, cards = class_of(tuple(legal_cards(view)), strategy.classes.codes)
            pairs = strategy.discard[int(view["dealer"] == 0), of_class] / 255
            together = np.zeros((52, 52))
            for card, chance in enumerate(agent.action_probabilities(np.array([view]))[0]):
                if chance > 0:
                    game.push(card)
                    together[card] = chance * agent.action_probabilities(np.array([game.view(game.seat)]))[0]
                    game.pop()
            together += together.T
            drawn = [together[cards[first], cards[second]] for first, second in strategy.classes.splits]
            np.testing.assert_allclose(drawn, pairs, atol=1e-12)
            for card in game.legal_actions[:2]:
                game.step(card)


def test_equilibrium_rejects_games_without_strategy(agent: Equilibrium) -> None:
    views = np.zeros(1, dtype=find_family("table_top").view)
    with pytest.raises(ValueError, match="equilibrium does not play table_top or table_top_ship: it plays"):
        agent.act(views, np.random.default_rng(1))
    rules = TwoHandRules.preset("five_card", flush_size=4)
    game = Game(rules, episode="deal", seed=1)
    view = np.array([game.view(game.seat)])
    with pytest.raises(ValueError, match=r"does not play where flush_size is 4: .*research\.solve"):
        agent.action_probabilities(view)


def test_equilibrium_pickle_is_small(agent: Equilibrium, tmp_path: Path) -> None:
    """Workers get it pickled: a shipped strategy as its name, another as large as its file."""
    assert len(pickle.dumps(agent)) < 1_000
    assert pickle.loads(pickle.dumps(agent)).weights is agent.weights
    path = tmp_path / "mine.safetensors"
    path.write_bytes(next(one for one in shipped() if one.rules.name == "five_card").to_bytes())
    mine = Equilibrium.load(path)
    sent = pickle.dumps(mine)
    assert len(sent) < path.stat().st_size + 2_000 < mine.weights.nbytes / 4
    path.unlink()
    again = pickle.loads(sent)
    assert (again.name, again.solved[0].header()) == ("mine", mine.solved[0].header())
    np.testing.assert_array_equal(again.weights, mine.weights)
    assert copy.deepcopy(mine).weights is mine.weights


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": 99}, "expected the format"),
        ({"shapes": {"discard": [1], "pegging": [1]}}, "expected the table 'discard'"),
        ({"rules_fields": {"single_count": True}}, "lacks 'dealt'"),
    ],
)
def test_strategy_file_of_wrong_shape_is_rejected(tmp_path: Path, change: dict[str, object], why: str) -> None:
    about, _ = read_header(next(SHIPPED.glob("five_card.safetensors")))
    about.update(change)
    one = np.frombuffer(zlib.compress(bytes(1)), dtype=np.uint8)
    empty = {"discard": one, "pegging": one}
    path = tmp_path / "bad.safetensors"
    path.write_bytes(save(empty, metadata={HEADER: json.dumps(about)}))
    with pytest.raises(ValueError, match=why):
        Solved.load(path)


# --- classes of hands and the public tree of the play ---------------------------------------------


def class_of(hand: tuple[int, ...], codes: np.ndarray) -> tuple[int, list[int]]:
    order = np.zeros(HAND, dtype=np.int64)
    code = canonical(np.array(hand, dtype=np.int64), len(hand), order)
    return find_class(codes, 0, len(codes), code), [hand[i] for i in order[: len(hand)]]


@pytest.mark.parametrize(("dealt", "classes"), [(5, 134_459), (6, 962_988)])
def test_hand_classes_cover_every_hand(dealt: int, classes: int) -> None:
    """The numbers of classes are those of poker: OEIS A197954."""
    found = hand_classes(dealt)
    assert len(found.codes) == classes
    assert found.hands == comb(52, dealt)


def test_hand_class_is_an_orbit_of_suit_permutations() -> None:
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


@pytest.mark.parametrize(("preset", "deals"), [("five_card", 120), ("hoyle", 60)])
def test_equilibrium_play_follows_the_tree(preset: str, deals: int) -> None:
    """Where a seat has a choice and the other holds cards, each play so far has a separate node."""
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
                seen = (int(view["dealer"] == 0), int(view["hand_n"]), int(view["held_n"][1]), int(view["count"]))
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
    np.testing.assert_allclose(pegging_probabilities(strategy, 0, held), expected)
    twice = number((2 << 0) + (1 << 44))
    play[0, int(tree.offset[0]) + 2 * (twice - 105)] = 255
    assert pegging_probabilities(strategy, 0, twice)[0] == 1.0
