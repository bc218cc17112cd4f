"""The agent `master`: `expert`'s values plus a share of `equilibrium`'s log probabilities."""

from __future__ import annotations

import pickle
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from crib_agents import master
from crib_agents.equilibrium import Equilibrium, Solved
from crib_agents.expert import pegging
from crib_agents.expert.discard import SWING, rank_discards
from crib_agents.expert.discard import WIN_VALUE as PAIR_VALUE
from crib_agents.expert.pegging import WIN_VALUE as CARD_VALUE
from crib_agents.knowledge.winning import win_table
from crib_agents.master import Master

from crib_env.engine.hands.records import DISCARD, GAME
from crib_env.game import Game
from crib_env.policy import find_agent
from crib_env.rules import PRESETS, TwoHandRules
from learned_nets import views_of


def cards_of(view: Any) -> list[int]:
    return sorted([*view["hand"][: view["hand_n"]], *view["discarded"][: view["discarded_n"]]])


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    return views_of("five_card", 12, 5, episode="game", agent="rule_based")


def test_master_with_large_lambda_takes_the_equilibriums_mode(views: np.ndarray) -> None:
    probabilities = Equilibrium().action_probabilities(views)
    actions = Master(1e6, 1e6).act(views, np.random.default_rng(1))
    likely = np.sort(probabilities, axis=1)
    sure = (likely[:, -1] > 0.6) & ((views["phase"] != DISCARD) | (likely[:, -2] < 1e-9))
    ranks = probabilities.argmax(axis=1) >> 2
    playing = sure & (views["phase"] != DISCARD)
    assert playing.sum() > 100
    assert (actions[playing] >> 2 == ranks[playing]).all()


def pair_probabilities(game: Game, equilibrium: Equilibrium, cards: list[int]) -> np.ndarray:
    """Return `equilibrium`'s probability of discarding each pair, from its single cards."""
    likely = {}
    for first in cards:
        sure = equilibrium.action_probabilities(np.array([game.view(game.seat)]))[0, first]
        game.push(first)
        then = equilibrium.action_probabilities(np.array([game.view(game.seat)]))[0]
        for second in cards:
            pair = tuple(sorted((first, second)))
            likely[pair] = likely.get(pair, 0.0) + sure * then[second]
        game.pop()
    return np.array([likely[pair] for pair in combinations(cards, 2)])


def point(table: np.ndarray) -> float:
    """Return the value of one more point at the start of a game, the mean over `SWING` points."""
    return float(table[1, -1, -1 - SWING] - table[1, -1, -1]) / SWING


@pytest.mark.parametrize("preset", ["five_card", "hoyle"])
def test_master_discards_by_value_and_probability(preset: str) -> None:
    rules = TwoHandRules.preset(preset)
    equilibrium, agent, rng = Equilibrium(), Master(discard_lambda=0.3), np.random.default_rng(1)
    stake = 0.3 * point(win_table(rules.dealt, rules.target, GAME))
    game = Game(preset, seed=4)
    changed = 0
    for _ in range(12):
        game.reset()
        for _ in range(2):  # pone, then the dealer
            view = np.array([game.view(game.seat)])
            cards = cards_of(view[0])
            likely = pair_probabilities(game, equilibrium, cards)
            value = rank_discards(view)[1][0, : len(likely), PAIR_VALUE]
            total = value + stake * np.log(np.maximum(likely, 1 / 255))
            changed += int(total.argmax() != value.argmax())
            discarded = list(combinations(cards, 2))[int(total.argmax())]
            for _ in range(2):
                card = int(agent.act(np.array([game.view(game.seat)]), rng)[0])
                assert card in discarded
                game.step(card)
    assert changed > 0


def test_master_plays_by_value_and_probability(views: np.ndarray) -> None:
    """The values are those of `expert`'s search."""
    playing = views[views["phase"] != DISCARD]
    agent, equilibrium = Master(pegging_lambda=0.3), Equilibrium()
    value = pegging.findings(playing)[:, :, CARD_VALUE]
    probabilities = equilibrium.action_probabilities(playing).reshape(len(playing), 13, 4).sum(axis=2)
    stake = 0.3 * point(win_table(5, 61, GAME))
    actions = agent.act(playing, np.random.default_rng(1))
    for view, found, likely, action in zip(playing, value, probabilities, actions, strict=True):
        total = {
            int(card) >> 2: found[i] + stake * np.log(max(likely[card >> 2], 1 / 255))
            for i, card in enumerate(view["hand"][: view["hand_n"]])
            if view["legal"] >> i & 1
        }
        assert total[action >> 2] == pytest.approx(max(total.values()), abs=1e-12)


def test_master_without_strategy_plays_as_the_expert() -> None:
    rng = np.random.default_rng(1)
    shown = views_of("table_top", 2, 6, agent="rule_based")
    found = find_agent("master").act(shown, rng)
    assert (found == find_agent("expert").act(shown, rng)).all()


def test_master_answers_views_of_mixed_rules(views: np.ndarray) -> None:
    parts = [
        views[:20],
        *(
            views_of(rules, 1, 6, agent="rule_based")
            for rules in (PRESETS["hoyle"], TwoHandRules.preset("five_card", heels=1))
        ),
    ]
    agent, rng = Master(), np.random.default_rng(1)
    alone = np.concatenate([agent.act(part, rng) for part in parts])
    assert (agent.act(np.concatenate(parts), rng) == alone).all()


def test_master_reads_a_strategy_on_first_use(views: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    read, load = [], Solved.load
    monkeypatch.setattr(master.Solved, "load", lambda path: read.append(path) or load(path))
    master.packed.cache_clear()
    agent = find_agent("master")
    pickle.dumps(agent)
    assert not read
    agent.act(views[:5], np.random.default_rng(1))
    agent.act(views[:5], np.random.default_rng(1))
    assert [path.stem for path in read] == ["five_card"]
    assert len(pickle.dumps(agent)) < 10_000
