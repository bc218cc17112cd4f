"""Games of three sides compare two agents on the same deals, `first` in every seat once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_training.command_line import main
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.evaluation.referee import ILLEGAL, Referee

from crib_env.policy import FunctionAgent, find_agent
from crib_env.rules import PRESETS

THREE = PRESETS["three_hand"]


def laid_twice(view: Any, rng: np.random.Generator) -> int:
    """Answer with a card that nobody dealt it: an illegal action."""
    return int(next(card for card in range(52) if card not in view["hand"]))


def test_an_agent_against_itself_wins_one_game_of_three_in_every_set() -> None:
    greedy = find_agent("greedy")
    sets = play_pairs(THREE, "game", greedy, greedy, 20, 1)
    assert (sets.won[..., 0].sum(axis=1) == 1).all()
    assert np.ptp(sets.scores[..., 0].sum(axis=1) * 3 - sets.scores.sum(axis=(1, 2))) == 0


def test_each_agent_holds_every_hand_of_a_set() -> None:
    greedy = find_agent("greedy")
    sets = play_pairs(THREE, "deal", greedy, greedy, 20, 2)
    assert (np.sort(sets.dealer, axis=1) == [0, 1, 2]).all()
    # The same agent everywhere: the points of a seat are the same, whoever counts from where.
    by_seat = [np.roll(sets.points[:, game], game, axis=1) for game in range(3)]
    assert (by_seat[0] == by_seat[1]).all()
    assert (by_seat[0] == by_seat[2]).all()


def test_greedy_wins_most_games_against_two_random() -> None:
    won = play_pairs(THREE, "game", find_agent("greedy"), find_agent("random"), 60, 3).won
    share = estimate(won[..., 0].mean(axis=1))
    assert share.mean - share.half > 0.5


def test_a_failure_costs_the_game() -> None:
    bad = FunctionAgent(laid_twice)
    first = play_pairs(THREE, "game", Referee(bad), find_agent("greedy"), 3, 4)
    assert first.won.tolist() == [[[0, 0.5, 0.5]] * 3] * 3
    second = play_pairs(THREE, "game", find_agent("greedy"), Referee(bad), 3, 4)
    assert second.won.tolist() == [[[1, 0, 0]] * 3] * 3
    assert {failure.kind for failure in (*first.failures, *second.failures)} == {ILLEGAL}
    assert len(second.without_forfeits().won) == 0


@pytest.mark.parametrize(("env", "players"), [("three_hand_v0", 3), ("four_hand_v0", 4)])
def test_evaluate_takes_the_players_from_the_rules(
    env: str, players: int, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "figures.json"
    main(f"evaluate greedy random --env {env} --pairs 40 --json {out}".split())
    output = capsys.readouterr().out
    assert ("33.3 %" in output) == (players == 3)
    figures = json.loads(out.read_text())
    assert figures["players"] == players
    assert figures["won"]["mean"] > 0.5
    assert figures["margin_per_deal"]["mean"] > 1
    assert figures["points_per_deal"]["pone"]["greedy"]["crib"]["mean"] == 0
    assert figures["skunks_for"]["mean"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("evaluate greedy random --env three_hand_v0 --no-duplicate", "leave --no-duplicate out"),
        ("evaluate greedy random --env three_hand_v0 --players 2", "has 3 players, got players=2"),
        ("evaluate greedy random --env three_hand_v0 --by-score", "--by-score is for six and five"),
        ("evaluate greedy random --env four_hand_v0 --players 3", "has 4 players, got players=3"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_said_in_one_sentence(
    words: str, message: str, tmp_path: Path, capsys: Any
) -> None:
    with pytest.raises(SystemExit):
        main(words.format(tmp_path / "out").split())
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
