"""`crib analyze`: what it lists is what may be done, and its first is what the expert does."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import asdict
from itertools import combinations
from types import ModuleType

import numpy as np
import pytest
from crib_agents.analyze import DiscardChoice, analyze, discard_view, pegging_view
from crib_agents.expert import ExpertAgent
from crib_training.command_line import main

from checkout import ROOT
from crib_env import five_card_v0, six_card_v0
from crib_env.cards import parse_card, parse_cards
from crib_env.engine.hands.records import DISCARD
from crib_env.game import Game
from reference.scoring import score_show

HAND = "5H 5D JC 4S 6S KH"
PEGGING = {"discarded": "KC QC", "starter": "JH", "dealer": True, "pile": "(TS) 5D (7H)"}


def test_the_mean_of_a_hand_is_that_of_its_starters() -> None:
    dealt = parse_cards(HAND)
    for choice in analyze(discard_view(HAND, dealer=False)):
        assert isinstance(choice, DiscardChoice)
        keep = parse_cards(choice.keep)
        assert sorted(keep + parse_cards(choice.discard)) == sorted(dealt)
        starters = [card for card in range(52) if card not in dealt]
        counted = [
            score_show(keep, starter, crib=False, rules_name="hoyle") for starter in starters
        ]
        assert choice.hand == pytest.approx(np.mean(counted))
        assert choice.points == pytest.approx(choice.hand + choice.crib + choice.pegging)
        assert choice.crib < 0


def test_every_pair_is_listed_the_best_first() -> None:
    choices = analyze(discard_view(HAND, dealer=True, scores=(60, 75)))
    assert {frozenset(parse_cards(c.discard)) for c in choices} == {
        frozenset(pair) for pair in combinations(parse_cards(HAND), 2)
    }
    wins = [c.win for c in choices]
    assert wins == sorted(wins, reverse=True)
    assert all(0 < win < 1 for win in wins)


@pytest.mark.parametrize("module", [six_card_v0, five_card_v0])
def test_the_first_choice_is_what_the_expert_does(module: ModuleType) -> None:
    env = module.raw_env()
    expert = ExpertAgent()
    rng = np.random.default_rng(0)
    for seed in range(4):
        env.reset(seed=seed)
        for _ in range(25):
            if any(env.terminations.values()):
                break
            view = np.array([env.view(env.possible_agents.index(env.agent_selection))])
            action = int(expert.act(view, rng)[0])
            choices = analyze(view)
            if view[0]["phase"] == DISCARD:  # the expert's own judge is a little coarser
                value = [c.win for c in choices if action in parse_cards(c.discard)]
                assert choices[0].win - max(value) < 0.005
            else:
                assert parse_card(choices[0].card) == action
            env.step(action)


def test_what_a_card_makes_now() -> None:
    now = {c.card: c.now for c in analyze(pegging_view("6D 4S 9C", **PEGGING))}
    assert now == {"6D": 3, "9C": 2, "4S": 0}  # a run 5-7-6; 31


def test_a_view_with_nothing_to_choose_is_refused() -> None:
    env = six_card_v0.raw_env()
    env.reset(seed=1)
    waiting = 1 - env.possible_agents.index(env.agent_selection)
    with pytest.raises(ValueError, match="not to move"):
        analyze(np.array([env.view(waiting)]))
    both = np.concatenate([discard_view(HAND, dealer=True)] * 2)
    with pytest.raises(ValueError, match="one view"):
        analyze(both)


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", HAND, "--dealer", "--scores", "60", "75"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["discard", "keep", "hand", "crib", "pegging", "points", "win"]
    assert len(lines) == 16
    assert lines[1].startswith("KH JC")
    main(["analyze", "6D 4S 9C", "--discarded", "KC QC", "--starter", "JH", "--dealer", "--pile",
          "(TS) 5D (7H)", "--json"])  # fmt: skip
    choices = json.loads(capsys.readouterr().out)
    assert choices[0]["card"] == "6D"


def test_a_position_of_any_game_is_given_as_notation(capsys: pytest.CaptureFixture[str]) -> None:
    for rules in ("hoyle", "three_hand", "table_top"):
        game = Game(rules, seed=6)
        main(["analyze", "--notation", game.notation(), "--json"])
        found = json.loads(capsys.readouterr().out)
        assert found == [asdict(one) for one in analyze(np.array([game.view(game.seat)]))]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name the cards held"),
        (["5H", "--notation", Game("hoyle", seed=1).notation()], "leave the cards out"),
        (["--dealer", "--notation", Game("hoyle", seed=1).notation()], "leave --dealer out"),
        (["--notation", "whist"], "whist"),
    ],
)
def test_a_notation_that_is_none_or_not_alone_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["analyze", *words])
    assert message in capsys.readouterr().err


def test_the_page_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "agents.md").read_text()
    shown = re.findall(r"```sh\ncrib (analyze .*)\n```\n\n```\n(.*)\.\.\.\n```", page,
                       flags=re.DOTALL)  # fmt: skip
    assert shown
    for words, lines in shown:
        main(shlex.split(words))
        assert capsys.readouterr().out.startswith(lines)
