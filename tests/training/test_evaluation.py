"""`crib evaluate`: deals with and without games, and three sides that compare two agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_training.command_line import main
from crib_training.evaluation.aivat import Adjust
from crib_training.evaluation.duplicate import play_pairs
from crib_training.evaluation.evaluate import evaluate
from crib_training.evaluation.referee import ILLEGAL, Referee
from crib_training.loading import find_env

from crib_env.policy import FunctionAgent, find_agent
from crib_env.rules import PRESETS, TwoHandRules
from vector_walks import InPython

FIVE = TwoHandRules.preset("five_card")
ADJUSTS: tuple[Adjust, ...] = ("always", "auto")


def evaluated(words: str, folder: Path) -> dict[str, Any]:
    """Return the figures that `crib evaluate` writes."""
    out = folder / "figures.json"
    main(f"evaluate {words} --json {out}".split())
    figures: dict[str, Any] = json.loads(out.read_text())
    return figures


# --- --no-games -----------------------------------------------------------------------------------


def test_play_pairs_deals_are_the_same_beside_games(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = "rule_based greedy --env five_card_v0 --pairs 300 --seed 4 --no-games"
    alone = evaluated(words, tmp_path)
    agents = find_agent("rule_based"), find_agent("greedy")
    found = evaluate(find_env("five_card_v0"), FIVE, *agents, 300, 4)
    for key in ("margin_per_deal", "points_per_deal", "more_per_deal"):
        assert alone[key] == found[key]
    assert alone["won"] == {"mean": None, "ci95": None}
    more = found["margin_per_deal"]
    message = f"makes {more['mean']:+.4f} ± {more['ci95']:.4f} points per deal more than greedy"
    assert message in capsys.readouterr().out


@pytest.mark.parametrize("words", ["", " --no-games"])
def test_evaluate_one_pair_has_no_interval(words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    more = evaluated(f"greedy random --pairs 1{words}", tmp_path)["margin_per_deal"]
    assert more["ci95"] is None
    shown = capsys.readouterr().out
    assert ("greedy makes" in shown) == bool(words)
    assert "±" not in shown


def test_evaluate_without_duplicates_notes_the_adjusted_figure(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = evaluated("greedy random --no-games --no-duplicate --pairs 20", tmp_path)
    more, shown = found["adjusted"]["margin_per_deal"], capsys.readouterr().out
    assert more != found["margin_per_deal"]
    assert f"greedy makes {more['mean']:+.4f} ± {more['ci95']:.4f} points per deal more than random" in shown
    assert "| role" not in shown  # the plain points by phase


def test_evaluate_rejects_another_word_for_adjust() -> None:
    with pytest.raises(ValueError, match=r"adjust must be .*'never'.*, got False"):
        evaluate(find_env("six_card_v0"), "hoyle", "greedy", "random", 2, 1, adjust=False)  # type: ignore[arg-type]


def test_evaluate_adjusts_deals_without_games() -> None:
    agents = find_agent("rule_based"), find_agent("greedy")
    env = find_env("five_card_v0")
    found = evaluate(env, "five_card", *agents, 20, 4, games=False, adjust="always")
    assert found["adjusted"]["margin_per_deal"]["mean"] is not None
    assert found["adjusted"]["won"]["mean"] is None


# --- three sides: the same deals, the first agent in every seat once ------------------------------


THREE = PRESETS["three_hand"]


def laid_twice(view: Any, rng: np.random.Generator) -> int:
    """Answer with a card that was not dealt to it: an illegal action."""
    return int(next(card for card in range(52) if card not in view["hand"]))


def test_play_sets_agent_against_itself_wins_a_third() -> None:
    greedy = find_agent("greedy")
    sets = play_pairs(THREE, "game", greedy, greedy, 20, 1)
    assert (sets.won[..., 0].sum(axis=1) == 1).all()
    assert np.ptp(sets.scores[..., 0].sum(axis=1) * 3 - sets.scores.sum(axis=(1, 2))) == 0


def test_play_sets_agent_holds_every_hand() -> None:
    greedy = find_agent("greedy")
    sets = play_pairs(THREE, "deal", greedy, greedy, 20, 2)
    assert (np.sort(sets.dealer, axis=1) == [0, 1, 2]).all()
    # The same agent in every seat: the points of a seat are the same in each game of a set.
    by_seat = [np.roll(sets.points[:, game], game, axis=1) for game in range(3)]
    assert (by_seat[0] == by_seat[1]).all()
    assert (by_seat[0] == by_seat[2]).all()


def test_play_sets_failure_costs_the_game() -> None:
    bad = FunctionAgent(laid_twice)
    first = play_pairs(THREE, "game", Referee(bad), find_agent("greedy"), 3, 4)
    assert first.won.tolist() == [[[0, 0.5, 0.5]] * 3] * 3
    second = play_pairs(THREE, "game", find_agent("greedy"), Referee(bad), 3, 4)
    assert second.won.tolist() == [[[1, 0, 0]] * 3] * 3
    assert {failure.kind for failure in (*first.failures, *second.failures)} == {ILLEGAL}
    assert len(second.without_forfeits().won) == 0


@pytest.mark.parametrize(("env", "players"), [("three_hand_v0", 3), ("four_hand_v0", 4)])
def test_evaluate_takes_the_players_from_the_rules(
    env: str, players: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = evaluated(f"greedy random --env {env} --pairs 40", tmp_path)
    output = capsys.readouterr().out
    assert ("33.3 %" in output) == (players == 3)
    assert figures["players"] == players
    assert figures["won"]["mean"] > 0.5
    assert figures["margin_per_deal"]["mean"] > 1
    assert figures["points_per_deal"]["pone"]["greedy"]["crib"]["mean"] == 0
    assert figures["skunks_for"]["mean"] is None


def test_evaluate_auto_leaves_out_adjusted_figures_that_are_wider() -> None:
    """Where one agent wins nearly every game, there is little luck to remove."""
    agents = InPython("greedy"), "random"  # compiled, AIVAT would cost too much beside it
    always, auto = (evaluate(find_env("six_card_v0"), "hoyle", *agents, 60, 1, adjust=adjust) for adjust in ADJUSTS)
    fewer = always["adjusted"]["times_fewer_pairs"]
    assert fewer["won"] < 1
    found = auto["adjusted"] or {"won": {"mean": None}, "times_fewer_pairs": {"won": None}}
    assert found["won"]["mean"] is None
    assert all(times is None or times >= 1 for times in found["times_fewer_pairs"].values())
    assert auto["won"] == always["won"]
