"""`rule_based` and `learned` in the games for three and four; `expert` refuses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.analyze import CardChoice, DiscardChoice, analyze
from crib_agents.data.tables import MANY_HAND
from crib_agents.learned import MonteCarloAgent
from crib_agents.learned.many_hand import chance_ahead
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.methods.deep_monte_carlo import Learner, Settings

from compiled import as_entry
from crib_env import encode, observation_layout
from crib_env.batch import GameBatch
from crib_env.cards import parse_card
from crib_env.engine.hands.counting import lacking, least_pips
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.many_hand import CRIB_SLOT, HAND, VIEW
from crib_env.engine.ranks import RANKS
from crib_env.policy import find_agent
from crib_env.registration import env_module
from crib_env.rules import PRESETS, Rules
from crib_env.supported_rules import refuse_rules
from learned_nets import drawn_weights
from reference import learned as slow
from reference.scoring import score_show
from research.tables.many_hand import mean_cribs

AGENTS = find_agent("rule_based"), find_agent("greedy")
every_game = pytest.mark.parametrize("preset", MANY_HAND)


def test_rule_based_beats_greedy_in_partnership() -> None:
    played = play_pairs(PRESETS["four_hand"], "game", *AGENTS, 1200, 1)
    won = estimate(played.shares_won)
    assert won.mean - won.ci95 > 0.5


def test_rule_based_makes_more_than_two_greedy() -> None:
    points = play_pairs(PRESETS["three_hand"], "deal", *AGENTS, 3000, 1).points.sum(axis=3)
    more = estimate((points[..., 0] - points[..., 1:].mean(axis=2)).mean(axis=1))
    assert more.mean - more.ci95 > 0.1


def test_least_pips_follows_each_seats_passes() -> None:
    """The right seat plays on from 25, where this one and the left one could not."""
    v = np.zeros(1, dtype=VIEW)[0]
    v["players"] = 3
    v["pile"][:4] = [4 * 9, 4 * 9 + 1, 4 * 4, 4 * 4 + 1]  # T, T, 5, 5
    v["pile_n"], v["count"] = 4, 30
    v["pile_seats"] = 0 | 1 << 2 | 2 << 4 | 2 << 6  # me, left, right, right
    least = int(as_entry(least_pips)(v))
    assert [least >> 4 * seat & 15 for seat in range(3)] == [7, 7, 1]


def test_lacking_has_ranks_with_which_a_seat_would_have_scored() -> None:
    """The left seat plays a 9 on an 8 and pairs a 5; the right one pairs the 9, then plays a 6."""
    v = np.zeros(1, dtype=VIEW)[0]
    v["players"] = 3
    v["pile"][:6] = [4 * 7, 4 * 8, 4 * 8 + 1, 4 * 4, 4 * 4 + 1, 4 * 5]  # 8, 9, 9; 5, 5, 6
    v["pile_n"], v["pile_from"], v["count"] = 6, 3, 16
    v["pile_seats"] = 0 | 1 << 2 | 2 << 4 | 0 | 1 << 8 | 2 << 10  # me, left, right, and again
    lacks = int(as_entry(lacking)(v))
    ranks = [{r for r in range(RANKS) if lacks >> RANKS * i + r & 1} for i in range(2)]
    assert ranks == [{6, 7}, {4}]  # no 7 and no 8; no 5


@every_game
def test_expert_refuses_three_and_four_hands_and_names_learned(preset: str) -> None:
    games = GameBatch(PRESETS[preset], 2, episode="game", seed=4)
    games.reset()
    for name in ("expert", "master"):
        agent = find_agent(name)
        with pytest.raises(ValueError, match=f"{name} does not play .*'learned' plays three_hand"):
            agent.act(games.views(games.running()), np.random.default_rng(1))
        with pytest.raises(ValueError, match=f"{name} does not play {preset}.*'learned'"):
            refuse_rules(agent, PRESETS[preset], "game")
    with pytest.raises(ValueError, match="'learned' plays three_hand and four_hand"):
        env_module(f"{preset}_v0").vector_env(2, opponent="expert")


@every_game
def test_mean_cribs_agree_with_the_reference(preset: str) -> None:
    """Each crib is counted with every card of a seat's deal in place of the seat's discard."""
    games = GameBatch(PRESETS[preset], 40, episode="deal", seed=2)
    games.reset()
    for _ in games.play(AGENTS[0], np.random.default_rng(1)):
        pass
    points: list[list[list[int]]] = [[[] for _ in range(RANKS)] for _ in range(2)]
    for state in games.states:
        players, dealer, starter = len(games.sides), int(state["dealer"]), int(state["starter"])
        hands = state["dealt"][: HAND * players].reshape(players, HAND).tolist()
        laid = [hand[int(bit).bit_length() - 1] for hand, bit in zip(hands, state["discarded"], strict=False)]
        crib = laid if players == 4 else [*laid, int(state["dealt"][CRIB_SLOT])]
        for seat, hand in enumerate(hands):
            for card in hand:
                other = [card if c == laid[seat] else c for c in crib]
                own = int(games.sides[seat] == games.sides[dealer])
                points[own][card >> 2].append(score_show(other, starter, True, "hoyle"))
    expected = [[np.mean(those) for those in of_role] for of_role in points]
    np.testing.assert_allclose(mean_cribs(games.states, games.rules, games.sides), expected, rtol=1e-12)


@pytest.mark.slow
def test_deep_monte_carlo_half_a_minute_is_level_with_two_rule_based(tmp_path: Path) -> None:
    training = Learner(Settings(env="three_hand_v0", deals=150_000, out=tmp_path))
    while training.deals < 150_000:
        training.iterate()
    training.curve.measure(training)
    (point,) = training.curve.points
    assert point.won + point.won_interval > 1 / 3


# --- values and win probabilities of choices, by `learned` ----------------------------------------


GAMES = ("three_hand", "four_hand", "four_hand[partners=False]")
every_rules = pytest.mark.parametrize("rules", GAMES)


def views_of(rules: str, turns: int, episode: str = "game") -> np.ndarray:
    """Return the views of six games of `rule_based`, turn by turn."""
    games = GameBatch(Rules.preset(rules), 6, episode=episode, seed=4)
    games.reset()
    rng, seen = np.random.default_rng(1), []
    for _ in range(turns):
        seen.append(games.views(games.running()))
        games.ask(find_agent("rule_based"), games.running(), rng)
    return np.concatenate(seen)


def card_of(choice: Any) -> int:
    return parse_card(choice.discard if isinstance(choice, DiscardChoice) else choice.card)


READ = ("count", "cards", "passed", "dealer", "pegging", "hand_ranks", "discarded_ranks", "unseen_ranks")


@every_game
def test_learned_values_follow_from_observation_and_row(preset: str) -> None:
    weights = drawn_weights(PRESETS[preset])
    layout, views = observation_layout(f"{preset}_v0", features=True), views_of(preset, 12)
    found = MonteCarloAgent([weights]).action_values(views)
    for view, observation, values in zip(views, encode(views, True)[0], found, strict=True):
        rows = observation[layout["rows"]].reshape(layout.rows)
        for i, row in enumerate(rows[rows[:, 0] > 0]):
            part = "mean_hand" if view["phase"] == DISCARD else "points_now"
            certain = float(row[layout.row[part]][0]) * (8 if view["phase"] == DISCARD else 4)
            seen = slow.card_inputs(layout, observation, READ, i)
            expected = certain + slow.forward(weights.nets["card"], seen)[0]
            assert values[int(row[0]) - 1] == pytest.approx(expected, abs=1e-4)


@every_rules
def test_analyze_values_are_those_of_learned(rules: str) -> None:
    learned = MonteCarloAgent()
    learned.honours = None  # cut-throat too, in which it does not play
    views, kinds = views_of(rules, 12), set()
    for view, values in zip(views, learned.action_values(views), strict=True):
        choices = analyze(np.array([view]))
        assert len(choices) == np.isfinite(values).sum()
        for one in choices:
            kinds.add(type(one))
            assert one.points == pytest.approx(values[card_of(one)])
    assert kinds == {DiscardChoice, CardChoice}


def test_analyze_winning_card_has_probability_one() -> None:
    """One point short of the game: a pair or a fifteen wins at once."""
    views = views_of("three_hand", 12)
    views = views[views["phase"] != DISCARD]
    views["scores"][:, 0] = views["target"] - 1
    found = 0
    for view in views:
        for choice in analyze(np.array([view])):
            assert choice.now == 0 or choice.win == 1
            assert choice.now > 0 or choice.win < 1
            found += choice.now > 0
    assert found > 5


def test_analyze_of_rules_without_networks_is_refused() -> None:
    with pytest.raises(ValueError, match=r"learned has no networks for these rules.*flush_size"):
        analyze(views_of("three_hand[flush_size=5]", 1)[:1])


@every_rules
def test_chance_ahead_sums_to_one_and_rises_with_points_and_scores(rules: str) -> None:
    sides = len(set(Rules.preset(rules).seating[Rules.preset(rules).players]))
    for scores in ([0] * sides, [30, 60, 45, 70][:sides], [119, 121 - 1, 100, 90][:sides]):
        views = np.zeros(sides, dtype=VIEW)
        views["sides"], views["target"] = sides, 121
        for side in range(sides):
            views["scores"][side, :sides] = np.roll(scores, -side)
        chances = chance_ahead(views, np.array([[0.0, 1.0, np.nan]]).repeat(sides, axis=0))
        assert chances[:, 0].sum() == pytest.approx(1)
        assert (chances[:, 1] > chances[:, 0]).all()
        assert np.isnan(chances[:, 2]).all()
        assert (np.argsort(chances[:, 0]) == np.argsort(scores)).all() or not any(scores)


@every_rules
def test_chance_ahead_predicts_who_wins_games_of_rule_based(rules: str) -> None:
    """At the starts of deals, for every side, by thirds of the predictions."""
    games = GameBatch(Rules.preset(rules), 300, episode="game", seed=77)
    games.reset()
    predicted, lanes_of = [], []
    dealt = np.zeros(300, dtype=np.int64)
    sides = games.sides
    lanes = games.running()
    played = games.play(find_agent("rule_based"), np.random.default_rng(0))
    while True:
        new = lanes[games.states["deals"][lanes] > dealt[lanes]]
        dealt[new] += 1
        for _ in range(n := max(sides) + 1):
            views = games.views(new)
            own = (sides[views["seat"]] + len(lanes_of)) % n
            views["scores"][:, :n] = np.roll(views["scores"][:, :n], -(len(lanes_of) % n), axis=1)
            predicted.append(chance_ahead(views, np.zeros((len(new), 1)))[:, 0])
            lanes_of.append(np.stack([new, own], axis=1))
        if (lanes := next(played, None)) is None:
            break
    chances, (lane, side) = np.concatenate(predicted), np.concatenate(lanes_of).T
    won = games.states["winner"][lane] == side
    order = np.argsort(chances)
    for part in np.array_split(order, 3):
        print(rules, chances[part].mean(), won[part].mean(), len(part))
        assert chances[part].mean() == pytest.approx(won[part].mean(), abs=0.04)
    assert won[order[-len(order) // 5 :]].mean() > won.mean() + 0.2
