"""Agents in plain Python: the arguments of their methods, and the actions played for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from crib_agents.adapters.plain import Deal, Go, PlainAgent, Play
from crib_training.evaluation.duplicate import play_pairs

from crib_env import find_agent, five_card_v0, format_card, parse_cards, six_card_v0, table_top_v0
from crib_env.batch import GameBatch
from crib_env.cards import pip
from crib_env.game import Game
from crib_env.rules import PRESETS
from examples.plain_player import KeepsFives


class Recorder(KeepsFives):
    """Plays as KeepsFives and records its arguments and the deal."""

    def __init__(self) -> None:
        self.discards: list[tuple[Any, ...]] = []
        self.plays: list[tuple[Any, ...]] = []
        self.known: list[Deal] = []

    def choose_discard(self, hand: list[str], is_dealer: bool, scores: tuple[int, int]) -> list[str]:
        pair = super().choose_discard(hand, is_dealer, scores)
        self.discards.append((tuple(hand), is_dealer, scores, tuple(pair)))
        return pair

    def choose_card(self, *asked: Any) -> str:
        card = super().choose_card(*asked)
        self.known.append(self.deal)
        self.plays.append((*asked, card))
        return card


@pytest.fixture(params=[six_card_v0, five_card_v0], ids=lambda module: module.__name__)
def game(request: pytest.FixtureRequest) -> Any:
    """A deal of the recorder, in seat 0, against greedy, its decisions one by one."""
    env = request.param.raw_env(episode="deal")
    env.reset(seed=4)
    recorder, greedy, rng = Recorder(), find_agent("greedy"), np.random.default_rng(0)
    start = [card for card in env.view(0)["hand"] if card >= 0]
    done = []
    while env.agents and not any(env.terminations.values()):
        seat = env.possible_agents.index(env.agent_selection)
        view = np.array([env.view(seat)])
        action = int((greedy if seat else recorder).act(view, rng)[0])
        done.append((seat, action, view[0]))
        env.step(action)
    return recorder, start, done


def test_plain_agent_discards_the_chosen_pair(game: Any) -> None:
    recorder, start, done = game
    assert len(recorder.discards) == 1
    hand, is_dealer, scores, pair = recorder.discards[0]
    assert hand == tuple(format_card(card) for card in sorted(start))
    discarded = [format_card(card) for seat, card, view in done if seat == 0 and view["phase"] == 0]
    assert tuple(discarded) == pair
    first = next(view for seat, _, view in done if seat == 0)
    assert is_dealer == bool(first["dealer"] == 0)
    assert scores == tuple(first["scores"])


def test_plain_agent_sees_the_pile_in_order(game: Any) -> None:
    recorder, _, done = game
    mine = [(card, view) for seat, card, view in done if seat == 0 and view["phase"] == 1]
    assert len(mine) == len(recorder.plays) >= 2
    played: list[str] = []
    asked = iter(recorder.plays)
    for seat, card, view in done:
        if view["phase"] != 1:
            continue
        if seat == 0:
            hand, pile, count, gone, starter, is_dealer, _, answer = next(asked)
            assert gone + pile == played
            assert count == sum(pip(c) for c in parse_cards(" ".join(pile)))
            assert answer == format_card(card)
            assert answer in hand
            assert starter == format_card(int(view["starter"]))
            assert is_dealer == bool(view["dealer"] == 0)
        played.append(format_card(card))


@pytest.mark.parametrize(("rules", "least"), [("hoyle", 50), ("five_card", 1)])
def test_plain_agent_deal_has_discards_plays_and_gos(rules: str, least: int) -> None:
    """Compared with the full state, move by move, over whole games."""
    greedy, rng = find_agent("greedy"), np.random.default_rng(0)
    told = 0
    for seed in range(6):
        recorder, game = Recorder(), Game(rules, seed=seed)
        discarded: list[str] = []
        plays: list[Play] = []
        gos: list[Go] = []
        while not game.over:
            state = game.states[0]
            deal, count = int(state["deals"]), int(state["count"])
            phase, seat = int(state["phase"]), game.seat
            asked = len(recorder.plays)
            card = int((greedy if seat else recorder).act(np.array([game.view(seat)]), rng)[0])
            if phase == 0 and seat == 0:
                discarded.append(format_card(card))
                assert len(recorder.discards) == deal
            if len(recorder.plays) > asked:
                known = recorder.known[-1]
                assert (known.number, set(known.discarded)) == (deal, set(discarded))
                assert list(known.plays) == plays
                assert list(known.gos) == gos
                told += len(gos)
            game.step(card)
            if phase == 1:
                plays.append(Play(format_card(card), seat == 0))
                gos += unable(game.states[0], count + pip(card), seat, gos, plays)
            if int(game.states[0]["deals"]) != deal:
                discarded, plays, gos = [], [], []
    assert told >= least


def unable(state: Any, count: int, last: int, gos: list[Go], plays: list[Play]) -> list[Go]:
    """Return the seats that cannot play at this count, hold cards, and have not yet said go."""
    held = [
        [int(c) for i, c in enumerate(state["dealt"][6 * seat : 6 * seat + 6]) if int(state["held"][seat]) >> i & 1]
        for seat in range(2)
    ]
    began = len(plays)
    while began and sum(pip(parse_cards(p.card)[0]) for p in plays[began - 1 :]) <= count:
        began -= 1
    own = {go.mine for go in gos if go.after > began}
    stuck = [seat for seat in (1 - last, last) if held[seat] and all(count + pip(card) > 31 for card in held[seat])]
    if count == 31 or (1 - last not in stuck and held[1 - last]):
        return []
    return [Go(count, seat == 0, len(plays)) for seat in stuck if (seat == 0) not in own]


class Discards(KeepsFives):
    """Discards as a function of the hand says, and notes what."""

    def __init__(self, choose: Callable[[list[str]], list[str]]) -> None:
        self.choose = choose
        self.chosen: list[set[str]] = []

    def choose_discard(self, hand: list[str], *_: Any) -> list[str]:
        pair = self.choose(hand)
        self.chosen.append(set(pair))
        return pair


def drawing(seed: int) -> Discards:
    """Return a player that draws another pair each time, though the hand be the same."""
    rng = np.random.default_rng(seed)
    return Discards(lambda hand: [hand[i] for i in rng.choice(len(hand), size=2, replace=False)])


def test_plain_agent_keeps_pairs_of_parallel_games_apart() -> None:
    agent = drawing(3)
    games = GameBatch(PRESETS["hoyle"], 40, episode="deal", seed=1)
    deck = np.random.default_rng(4).permutation(52)
    games.reset(decks=deck[None], dealer=0)  # forty times the same cards
    rng = np.random.default_rng(0)
    lanes = np.arange(40)
    for part in (lanes[:25], lanes[25:], lanes[::-1].copy()):
        games.ask(agent, part, rng)
    assert len(agent.chosen) == 40
    discarded = [{format_card(int(c)) for c in view["discarded"]} for view in games.views(lanes, lanes * 0 + 1)]
    assert all(pair in agent.chosen for pair in discarded)


@pytest.mark.parametrize("pair", [["2C", "2C"], ["2C"], ["xx", "yy"]])
def test_plain_agent_rejects_invalid_pair(pair: list[str]) -> None:
    env = six_card_v0.raw_env()
    env.reset(seed=1)
    view = np.array([env.view(env.dealer ^ 1)])
    with pytest.raises(ValueError, match="to discard are two cards of"):
        Discards(lambda hand: pair).act(view, np.random.default_rng(0))


def test_plain_agent_rejects_table_top() -> None:
    env = table_top_v0.raw_env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="keeps_fives plays only hoyle or five_card, got views of"):
        KeepsFives().act(np.array([env.view(0)]), np.random.default_rng(0))


def test_plain_agent_needs_both_methods() -> None:
    with pytest.raises(TypeError, match="choose_card"):
        type("Half", (PlainAgent,), {"choose_discard": lambda *a: []})()


def test_magmacrunch_plays_and_loses_to_rule_based() -> None:
    pytest.importorskip("cribbage", reason="magmacrunch-cribbage is not installed: make bench")
    agent = find_agent("examples.magmacrunch:Magmacrunch")
    rules = PRESETS["hoyle"]
    games = play_pairs(rules, "game", find_agent("rule_based"), agent, 20, 1)
    assert games.shares_won.mean() > 0.6
