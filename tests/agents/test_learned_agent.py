"""The agent `learned`: inputs and outputs of its nets, accepted files and games."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.expert.discard import WIN_VALUE, rank_discards
from crib_agents.expert.endgame import DEAL_REACH
from crib_agents.knowledge import deal_points
from crib_agents.knowledge.winning import win_table
from crib_agents.learned import MixedAgent, MonteCarloAgent, Weights, table_top, two_hand
from crib_agents.learned.agent import shipped
from crib_agents.learned.network import UNLIKELY
from crib_agents.learned.network import forward as compiled_forward
from crib_agents.learned.two_hand import SIZE_OF_TWO, card_values, pair_value, pair_win_value
from crib_agents.loading import load_agent
from numba import float64, int64, void

from crib_env import find_agent, observation_layout
from crib_env.batch import GameBatch
from crib_env.encoding import encode
from crib_env.engine import stack
from crib_env.engine.hands.features import pair_means
from crib_env.engine.hands.records import DISCARD, GAME, PEGGING
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import TABLE_T, WEIGHTS_T, array_of
from crib_env.engine.show import show_table
from crib_env.engine.table_top.records import VIEWS_T as TABLE_VIEWS_T
from crib_env.engine.two_hand import HAND, VIEW, VIEWS_T
from crib_env.rules import PRESETS, Rules
from learned_nets import drawn_weights, saved_but_for, slow_crib, views_of
from reference import learned as slow
from reference import learned_table_top as table

TWO_HAND = ("hoyle", "five_card")
READ = ("pile", "count", "other_cards", "dealer", "go", "hand_ranks", "discarded_ranks", "unseen_ranks")
HOYLE = PRESETS["hoyle"]


@entry(void(array_of(VIEW), TABLE_T, WEIGHTS_T, float64[:, ::1], int64[:, ::1], float64[:, ::1]))
def values_of(views, table, weights, values, now, cribs):
    """Write the value of each pair to discard, and its mean crib; or of each card to play."""
    seen = stack.floats(SIZE_OF_TWO)
    for b in range(views.shape[0]):
        v = views[b]
        if v["phase"] != DISCARD:
            card_values(v, table, weights, seen, now[b], values[b])
            continue
        pair = 0
        for j in range(v["hand_n"]):
            for i in range(j):
                low = min(v["hand"][i], v["hand"][j])
                high = max(v["hand"][i], v["hand"][j])
                values[b, pair] = pair_value(v, table, weights, low, high)
                cribs[b, pair] = pair_means(v, table, low, high)[1]
                pair += 1


@pytest.mark.parametrize(("rules", "players"), [("hoyle", 2), ("five_card", 2), ("table_top", 4)])
def test_learned_takes_the_action_of_highest_value(rules: str, players: int) -> None:
    agent, rng = MonteCarloAgent(), np.random.default_rng(3)
    games = GameBatch(PRESETS[rules], 3, players=players, episode="game", seed=3)
    games.reset()
    running = games.running()
    seen = 0
    while len(running):
        views = games.views(running)
        values = agent.action_values(views)
        assert (np.isnan(values) == (encode(views)[1] == 0)).all()
        best = values == np.nanmax(values, axis=1, keepdims=True)
        at_once = [v["target"] - v["scores"][0] < 16 for v in views]  # a card that wins comes first
        taken = best[np.arange(len(views)), agent.act(views, rng)]
        assert (taken | at_once).all()
        seen += int((~np.array(at_once)).sum())
        games.ask(find_agent("random"), running, rng)
        running = games.running(running)
    assert seen > 100
    with pytest.raises(ValueError, match="learned does not play where flush_size is 5"):
        agent.action_values(views_of(Rules.preset("hoyle", flush_size=5), 1, seed=1)[:1])


@pytest.mark.parametrize("preset", TWO_HAND)
def test_learned_values_agree_with_the_slow_definition(preset: str) -> None:
    rules = PRESETS[preset]
    weights = drawn_weights(rules)
    views = views_of(rules, 3, seed=4)
    values, now = np.zeros((len(views), 15)), np.zeros((len(views), HAND), dtype=np.int64)
    cribs = np.zeros((len(views), 15))
    values_of(views, show_table(), weights.flat(), values, now, cribs)
    layout = observation_layout("six_card_v0", features=True)
    for i, (view, observation) in enumerate(zip(views, encode(views, True)[0], strict=True)):
        hand = [int(c) for c in view["hand"][: view["hand_n"]]]
        rows = observation[layout["rows"]].reshape(layout.rows)
        if view["phase"] == DISCARD:
            if view["discarded_n"]:
                continue
            layers = weights.nets["discard_dealer" if view["dealer"] == 0 else "discard_pone"]
            pairs = [sorted((hand[i], hand[j])) for j in range(len(hand)) for i in range(j)]
            best = dict.fromkeys(hand, -np.inf)
            assert ((cribs[i, : len(pairs)] > 0) == (view["dealer"] == 0)).all()
            for pair, value, mean_crib in zip(pairs, values[i], cribs[i], strict=False):
                mean_hand = slow.mean_hand(hand, pair, preset)
                seen = slow.pair_inputs(hand, pair, mean_hand, mean_crib)
                crib, mine, theirs = slow.forward(layers, seen)
                expected = mean_hand + mean_crib + mine - theirs
                expected += crib if view["dealer"] == 0 else -crib
                assert value == pytest.approx(expected, abs=1e-9)
                best |= {card: max(best[card], mean_hand + mean_crib) for card in pair}
            for row in rows[rows[:, 0] > 0]:  # the rows' own means are tested with the features
                assert best[int(row[0]) - 1] == pytest.approx(row[1], abs=1e-5)
            continue
        legal = [c for c_at, c in enumerate(hand) if view["legal"] >> c_at & 1]
        of_card = {int(row[0]) - 1: at for at, row in enumerate(rows)}
        for k, card in enumerate(hand):
            if values[i, k] == UNLIKELY:  # not legal, or its rank comes again
                assert card not in legal or card // 4 in {c // 4 for c in hand[k + 1 :]}
                continue
            seen = slow.card_inputs(layout, observation, READ, of_card[card])
            mine, theirs = slow.forward(weights.nets["pegging"], seen)
            points = rows[of_card[card], 1]
            assert now[i, k] == points
            expected = points + (mine - theirs if len({c // 4 for c in legal}) > 1 else 0)
            assert values[i, k] == pytest.approx(expected, abs=1e-4)


@entry(void(WEIGHTS_T, int64[::1], float64[::1], float64[::1]))
def put_through(weights, places, values, outputs):
    """Run the network stored at `weights[0]`."""
    compiled_forward(weights, 0, places, values, places.shape[0], outputs)


def test_learned_compiled_net_equals_pytorch() -> None:
    import torch
    from crib_agents.learned.network import flatten
    from crib_agents.torch_nets import layers_of, mlp

    rng = np.random.default_rng(5)
    for n in (0, 1, 4, 7, 40):
        net = mlp(60, 33, 10, 3)
        places = rng.permutation(60)[:n].astype(np.int64)
        values, outputs = rng.normal(size=n), np.zeros(3)
        put_through(flatten(layers_of(net)), places, values, outputs)
        inputs = np.zeros(60, dtype=np.float32)
        inputs[places] = values
        with torch.no_grad():
            expected = net(torch.from_numpy(inputs)).numpy()
        assert outputs == pytest.approx(expected, abs=1e-5)


def test_learned_plays_a_winning_card() -> None:
    """With random nets: a certain win overrides their values."""
    rules = replace(PRESETS["hoyle"], target=31)
    agent = MonteCarloAgent([drawn_weights(rules)])
    views = views_of(rules, 200, seed=6)
    views = views[views["phase"] != DISCARD]
    views["scores"][:, 0] = 30  # any point wins
    now = np.zeros((len(views), HAND), dtype=np.int64)
    values, cribs = np.zeros((2, len(views), 15))
    values_of(views, show_table(), agent.sets[0].flat(), values, now, cribs)
    chosen = agent.act(views, np.random.default_rng(0))
    at = (views["hand"] == chosen[:, None]).argmax(axis=1)
    winning = now.max(axis=1) > 0
    assert winning.sum() > 20
    assert (now[np.arange(len(views)), at][winning] > 0).all()


@pytest.mark.parametrize(
    ("nets", "rules", "reason"),
    [
        (
            ["hoyle"],
            replace(HOYLE, crib_flush_size=4),
            r"crib_flush_size is 4: it plays hoyle \(crib_flush_size 5\); .*crib train",
        ),
        (
            ["hoyle", "table_top"],
            PRESETS["table_top_ship"],
            "flush_size is 4 and crib_flush_size is 4 and adjacency is False: it plays "
            r"table_top \(flush_size 5, crib_flush_size 5, adjacency True\); `crib train`",
        ),
    ],
)
def test_learned_rejects_rules_without_nets(nets: list[str], rules: Rules, reason: str) -> None:
    agent = MonteCarloAgent([drawn_weights(PRESETS[preset]) for preset in nets])
    with pytest.raises(ValueError, match=rf"learned does not play where {reason}"):
        agent.act(views_of(rules, 1, 1), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("nets", "rules", "players"),
    [
        ([replace(HOYLE, crib_flush_size=4), HOYLE], replace(HOYLE, crib_flush_size=4), 2),
        (["table_top"], replace(PRESETS["table_top"], target=61, partners_confer=False), 4),
    ],
)
def test_learned_nets_work_for_other_targets_and_players(nets: list[Any], rules: Rules, players: int) -> None:
    agent = MonteCarloAgent([drawn_weights(PRESETS.get(one, one)) for one in nets])
    views = views_of(rules, 1, 1, players)
    assert encode(views)[1][np.arange(len(views)), agent.act(views, np.random.default_rng(0))].all()


@pytest.mark.parametrize(
    ("preset", "dtype"), [("hoyle", np.float32), ("table_top", np.float16), ("four_hand", np.float32)]
)
def test_learned_file_round_trips(preset: str, dtype: Any, tmp_path: Path) -> None:
    path = tmp_path / "house.safetensors"
    weights = drawn_weights(PRESETS[preset])
    weights.save(path, dtype)
    again = Weights.load(path)
    assert again.header() == weights.header()
    assert again.flat() == pytest.approx(weights.flat(), abs=1e-7 if dtype is np.float32 else 3e-3)
    agent = load_agent(str(path))
    assert isinstance(agent, MonteCarloAgent)
    assert agent.name == "house"


@pytest.mark.parametrize(
    ("about", "tensors", "reason"),
    [
        ({"format": "crib_env policy"}, {}, "expected the format 'crib_env values' version 1"),
        ({"family": "chess"}, {}, r"expected a family that .* \(two_hand.*found 'chess'"),
        ({"rules_fields": {"dealt": 6}}, {}, "its header lacks 'single_count' of the rules"),
        ({"temperature": -1.0}, {}, "expected a temperature of 0 or more, found -1.0"),
        ({}, {"pegging.0.weight": np.zeros((24, 7))}, "layer 0 of .* 'pegging' to lead from 385"),
        ({}, {"pegging.1.bias": np.zeros(10, dtype=np.int64)}, "expected floats, found"),
        ({}, {"owing": None}, "expected the tensors .*owing, found"),
        ({}, {"owing": np.zeros((2, 28, 3))}, r"'owing' to be floats .*\(2, 28, 3, 3\), found"),
        ({}, {"owing": np.full((2, 28, 3, 3), np.nan)}, "'owing' holds .* not finite"),
    ],
)
def test_learned_file_of_wrong_shape_is_rejected(
    about: dict[str, Any], tensors: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    weights = drawn_weights(PRESETS["table_top"] if "owing" in tensors else HOYLE)
    path = saved_but_for(weights, tmp_path / "x.safetensors", about, tensors)
    with pytest.raises(ValueError, match=rf"x\.safetensors.*: .*{reason}"):
        Weights.load(path)


@kernel
def sum_below(n):
    scratch = stack.floats(HAND)
    places = stack.ints(HAND)
    for i in range(HAND):
        scratch[i] = i
        places[i] = 2 * i
    total = 0.0
    for i in range(n):
        total += scratch[i] + places[i]
    return total


@entry(float64(int64))
def sums(times):
    """Take scratch memory ``times`` times: it would overflow the stack unless freed."""
    total = 0.0
    for _ in range(times):
        total += sum_below(3)
    return total


def test_scratch_memory_belongs_to_the_caller_and_is_freed() -> None:
    assert sums(1_000_000) == 9_000_000


def test_learned_probabilities_are_independent_of_card_order() -> None:
    """Also where cards of one rank do not lie side by side."""
    agent = find_agent("learned_mixed")
    views = views_of("five_card", 400, seed=1)
    views = views[(views["phase"] == PEGGING) & (views["hand_n"] == 3) & (views["legal"] == 0b111)]
    ranks = views["hand"][:, :3] >> 2
    assert (ranks[:, 0] == ranks[:, 2]).any()
    expected = agent.action_probabilities(views)
    for order in permutations(range(3)):
        other = views.copy()
        other["hand"][:, :3] = views["hand"][:, order]
        np.testing.assert_allclose(agent.action_probabilities(other), expected, atol=1e-12)


# --- near the end ---------------------------------------------------------------------------------


@entry(void(VIEWS_T, TABLE_T, WEIGHTS_T, int64[:, ::1], float64[:, ::1], float64[:, ::1]), "test.pair_win_values")
def win_values_of(views, table, weights, pairs, win_value, value):
    """Write the value of discarding each pair, by its cards' places in the hand."""
    for b in range(views.shape[0]):
        v = views[b]
        for k in range(pairs.shape[0]):
            one = v["hand"][pairs[k, 0]]
            other = v["hand"][pairs[k, 1]]
            low = min(one, other)
            high = max(one, other)
            win_value[b, k] = pair_win_value(v, table, weights, low, high)
            value[b, k] = pair_value(v, table, weights, low, high)


def shipped_for(preset: str) -> Weights:
    return next(w for w in shipped() if w.rules.name == preset)


def views_at(preset: str, n: int, seed: int, scores: Any, episode: str = "game") -> Any:
    """Return the views of discarding of n deals begun at these scores, cards in order."""
    games = GameBatch(PRESETS[preset], n, episode=episode, seed=seed)
    games.reset(scores=scores)
    views = games.views(np.arange(n))
    views["hand"][:, : views["dealt"][0]].sort(axis=1)
    return np.ascontiguousarray(views)


def judged(views: Any, weights: Weights) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    pairs = np.array(list(combinations(range(int(views["dealt"][0])), 2)))
    win_value, value = np.zeros((2, len(views), len(pairs)))
    win_values_of(views, show_table(), weights.flat(), pairs, win_value, value)
    return win_value, value


@pytest.mark.parametrize("preset", TWO_HAND)
def test_learned_values_are_close_to_the_experts(preset: str) -> None:
    """At scores beyond `expert`'s tables of the end, which `learned` lacks."""
    rng = np.random.default_rng(3)
    weights = shipped_for(preset)
    target = PRESETS[preset].target
    drawn = rng.integers(target - 40, target - 1, size=(30, 2))
    average = drawn[(target - drawn).max(axis=1) > DEAL_REACH][:4]
    assert len(average) == 4
    for seed, scores in enumerate(map(tuple, average.tolist())):
        views = views_at(preset, 60, seed, scores)
        win_value, _ = judged(views, weights)
        expected = rank_discards(views)[1][:, : win_value.shape[1], WIN_VALUE]
        assert ((win_value > -1e-9) & (win_value < 1.0 + 1e-9)).all()
        assert win_value.mean() == pytest.approx(expected.mean(), abs=0.02)
        lost = expected.max(axis=1) - expected[np.arange(60), win_value.argmax(axis=1)]
        assert lost.mean() < 0.005  # of games, by the expert's judgement


def test_mixed_values_and_temperature_are_of_the_same_nets() -> None:
    mixed = shipped("mixed")[0]
    other, views = drawn_weights(mixed.rules, seed=5), views_of(mixed.rules.name, 3, 1)
    agent = MixedAgent([mixed, replace(other, temperature=50.0)])
    np.testing.assert_array_equal(agent.action_probabilities(views), MixedAgent([mixed]).action_probabilities(views))


def test_learned_save_of_several_nets_says_how(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"learned has \d+: save one with agent.sets"):
        MonteCarloAgent().save(tmp_path / "nets.safetensors")


@pytest.mark.parametrize("preset", TWO_HAND)
def test_learned_far_from_the_end_and_in_deals_maximises_points(preset: str) -> None:
    weights = shipped_for(preset)
    far = PRESETS[preset].target - two_hand.NEAR - 1
    for views in (views_at(preset, 20, 1, (far, far)), views_at(preset, 20, 1, (far + 40, far + 40), "deal")):
        win_value, value = judged(views, weights)
        assert (win_value == value).all()
    win_value, value = judged(views_at(preset, 20, 1, (far, far + 1)), weights)
    assert not (win_value == value).any()


@pytest.mark.parametrize("preset", TWO_HAND)
def test_learned_probabilities_after_a_hand_sum_over_later_points(preset: str) -> None:
    dealt, target = PRESETS[preset].dealt, PRESETS[preset].target  # type: ignore[attr-defined]
    known = two_hand.probabilities_of(PRESETS[preset])  # type: ignore[arg-type]
    tables = known[two_hand.CHANCES :].reshape(2, target + 1, target + 1)
    deal, after = deal_points.load_outcomes(dealt), win_table(dealt, target, GAME)[0]
    for pone, dealer in ((1, 1), (3, 20), (17, 5), (40, 41)):
        slow = [0.0, 0.0]
        for crib, crib_chance in enumerate(deal.crib):
            for hand, chance in enumerate(deal.dealer_hand):
                left = dealer - hand - crib
                slow[0] += crib_chance * chance * (after[pone, left] if left > 0 else 0.0)
            for hand, chance in enumerate(deal.pone_hand):
                if hand >= pone:
                    slow[1] += crib_chance * chance
                elif crib < dealer:
                    slow[1] += crib_chance * chance * after[pone - hand, dealer - crib]
        assert tables[:, pone, dealer] == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize(("target", "scores"), [(121, (0, 0)), (151, (130, 125))])
def test_learned_two_discards_take_the_pair_of_highest_value(target: int, scores: tuple[int, int]) -> None:
    """Also near the end, of a game to another target."""
    weights = shipped_for("hoyle")
    agent, rng = MonteCarloAgent([weights]), np.random.default_rng(0)
    games = GameBatch(replace(HOYLE, target=target), 200, episode="game", seed=8)
    games.reset(scores=scores)
    lanes = np.arange(200)
    views = games.views(lanes)
    first = agent.act(views, rng)
    games.step(lanes, first)
    second = agent.act(games.views(lanes), rng)
    views["hand"].sort(axis=1)
    win_value, _ = judged(np.ascontiguousarray(views), weights)
    for view, one, other, found in zip(views, first, second, win_value, strict=True):
        pairs = [set(pair) for pair in combinations(view["hand"].tolist(), 2)]
        assert found[pairs.index({int(one), int(other)})] == found.max()


# --- Table Top ------------------------------------------------------------------------------------


@entry(
    void(TABLE_VIEWS_T, TABLE_T, WEIGHTS_T, int64[:, ::1], float64[:, ::1], float64[:, ::1]), "test.table_top_values"
)
def table_values_of(views, table, weights, points, value, values):
    """Write the points of lines, and the values of lines and actions."""
    for b in range(views.shape[0]):
        table_top.line_values(views[b], table, weights, table_top.EVERY_LINE, points[b], value[b])
        table_top.action_values(views[b], table, weights, value[b], values[b])


def found_in(
    views: np.ndarray[Any, Any], weights: Weights
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    n = len(views)
    points = np.zeros((n, table_top.EACH_TWICE), dtype=np.int64)
    value, values = np.zeros((n, table_top.EACH_TWICE)), np.zeros((n, table_top.ACTIONS))
    table_values_of(views, show_table(), weights.flat(), points, value, values)
    return points, value, values


def slow_line(view: Any, weights: Weights, line: int, cards: list[int]) -> tuple[int, float]:
    """Return a line's points so far and its value."""
    starter = int(view["starter"]) if line % 5 == 2 else None
    points = table.points_of(cards, starter, int(view["flush_size"]))
    if len(cards) == 5:
        return points, points
    seen = slow.dense(table.line_seen(view, line, cards), table.place_in(table.LINE_PLACES), 136)
    return points, points + slow.forward(weights.nets["line"], seen)[0]


def slow_actions(view: Any, weights: Weights) -> dict[int, float]:
    """Return the value of each legal action."""
    card, lines = int(view["card"]), table.lines_of(view)
    gains = [
        slow_line(view, weights, line, [*cards, card])[1] - slow_line(view, weights, line, cards)[1]
        if len(cards) < 5
        else 0.0
        for line, cards in enumerate(lines)
    ]
    sign = 1 if view["scores_rows"] else -1
    values = {cell: sign * (gains[cell // 5] - gains[5 + cell % 5]) for cell in range(25) if view["legal"] >> cell & 1}
    if view["legal"] >> table.CRIB & 1:
        known = [int(view["starter"]), *(int(c) for c in view["crib"] if c >= 0)]
        gain = slow_crib(view, weights, [*known, card]) - slow_crib(view, weights, known)
        owing = weights.tables["owing"].astype(np.float64)
        left = table.TURNS - 1 - view["turn"]
        mine, theirs = view["owed"][0] + view["owed"][2], view["owed"][1] + view["owed"][3]

        def even(owed: int) -> float:
            return float(owing[0, left, owed, theirs] - owing[1, left, theirs, owed])

        values[table.CRIB] = (gain if view["my_crib"] else -gain) + even(mine - 1) - even(mine)
    return values


@pytest.mark.parametrize(("preset", "players"), [("table_top", 2), ("table_top_ship", 4)])
def test_learned_table_top_values_agree_with_the_slow_definition(preset: str, players: int) -> None:
    rules = PRESETS[preset]
    weights = drawn_weights(rules)
    views = views_of(rules, 1, 4, players)
    points, value, values = found_in(views, weights)
    chosen = MonteCarloAgent([weights]).act(views, np.random.default_rng(0))
    for i, view in enumerate(views):
        card = int(view["card"])
        for line, cards in enumerate(table.lines_of(view)):
            longer = [*cards, card] if len(cards) < 5 else cards
            for at, held in ((line, cards), (table_top.LINES + line, longer)):
                expected_points, expected = slow_line(view, weights, line, held)
                assert points[i, at] == expected_points
                assert value[i, at] == pytest.approx(expected, abs=1e-9)
        expected_values = slow_actions(view, weights)
        for action in range(table_top.ACTIONS):
            expected = expected_values.get(action, UNLIKELY)
            assert values[i, action] == pytest.approx(expected, abs=1e-9)
        assert values[i, chosen[i]] == pytest.approx(max(expected_values.values()), abs=1e-9)
