"""Agents in plain Python: the arguments of their methods, and the actions played for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from crib_agents.adapters.plain import Deal, Go, PlainAgent, Play
from crib_training.evaluation.duplicate import play_pairs

from crib_env import find_agent, format_card, parse_cards, six_card_v0
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


@pytest.mark.parametrize(("rules", "least"), [("hoyle", 50), ("five_card", 1)])
def test_plain_agent_sees_its_cards_the_pile_and_the_deal(rules: str, least: int) -> None:
    """Compared with the full state, move by move, over whole games."""
    greedy, rng = find_agent("greedy"), np.random.default_rng(0)
    told = 0
    for seed in range(4):
        recorder, game = Recorder(), Game(rules, seed=seed)
        discarded: list[str] = []
        plays: list[Play] = []
        gos: list[Go] = []
        while not game.over:
            state = game.states[0]
            deal, count = int(state["deals"]), int(state["count"])
            phase, seat = int(state["phase"]), game.seat
            asked, dealer, scores = len(recorder.plays), state["dealer"] == 0, game.scores
            start, starter = game.hand(game.view(0)), format_card(int(state["starter"]))
            card = int((greedy if seat else recorder).act(np.array([game.view(seat)]), rng)[0])
            if phase == 0 and seat == 0:
                discarded.append(format_card(card))
                hand, is_dealer, told_scores, pair = recorder.discards[-1]
                assert (len(recorder.discards), is_dealer, told_scores) == (deal, dealer, scores)
                assert discarded == list(pair[: len(discarded)])
                assert set(map(format_card, start)) <= set(hand)
            if len(recorder.plays) > asked:
                known = recorder.known[-1]
                assert (known.number, set(known.discarded)) == (deal, set(discarded))
                assert list(known.plays) == plays
                assert list(known.gos) == gos
                told += len(gos)
                hand, pile, so_far, gone, turned, is_dealer, _, answer = recorder.plays[-1]
                assert (so_far, turned, is_dealer, answer) == (count, starter, dealer, format_card(card))
                assert gone + pile == [play.card for play in plays]
                assert sum(pip(one) for one in parse_cards(" ".join(pile))) == count
                assert hand == [format_card(one) for one in sorted(start)]
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
    """Discards by a function of the hand, and records the pairs."""

    def __init__(self, choose: Callable[[list[str]], list[str]]) -> None:
        self.choose = choose
        self.chosen: list[set[str]] = []

    def choose_discard(self, hand: list[str], *_: Any) -> list[str]:
        pair = self.choose(hand)
        self.chosen.append(set(pair))
        return pair


def drawing(seed: int) -> Discards:
    """Return a player that draws a new pair each time, even from the same hand."""
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


def test_plain_agent_needs_both_methods() -> None:
    with pytest.raises(TypeError, match="choose_card"):
        type("Half", (PlainAgent,), {"choose_discard": lambda *a: []})()


def test_magmacrunch_plays_and_loses_to_rule_based() -> None:
    pytest.importorskip("cribbage", reason="magmacrunch-cribbage is not installed: make bench")
    agent = find_agent("examples.magmacrunch:Magmacrunch")
    rules = PRESETS["hoyle"]
    games = play_pairs(rules, "game", find_agent("rule_based"), agent, 20, 1)
    assert games.shares_won.mean() > 0.6
