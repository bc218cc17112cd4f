"""The agent `learned`: what its nets see, what they put out, which files and games it takes."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.files import read_header
from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.learned.agent import SHIPPED
from crib_agents.learned.network import UNLIKELY, mean_weights
from crib_agents.learned.network import forward as compiled_forward
from crib_agents.learned.two_hand import card_values, pair_value
from crib_agents.loading import load_agent
from crib_agents.nets import PolicyNetAgent
from numba import float64, int64, void
from safetensors.numpy import load_file

from crib_env import find_agent
from crib_env.batch import GameBatch
from crib_env.encoding import encode
from crib_env.engine import stack
from crib_env.engine.family import find_family
from crib_env.engine.hands.records import DISCARD, PEGGING
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import TABLE_T, WEIGHTS_T, array_of
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import HAND, VIEW
from crib_env.rules import PRESETS, Rules
from learned_nets import drawn_weights, policy, saved_but_for, views_of
from reference import learned as slow

TWO_HAND = ("hoyle", "five_card")
HOYLE = PRESETS["hoyle"]


@entry(void(array_of(VIEW), TABLE_T, WEIGHTS_T, float64[:, ::1], int64[:, ::1]))
def values_of(views, table, weights, values, now):
    """Write the value of each pair to discard, or of each card to play."""
    for b in range(views.shape[0]):
        v = views[b]
        if v["phase"] != DISCARD:
            card_values(v, weights, now[b], values[b])
            continue
        pair = 0
        for j in range(v["hand_n"]):
            for i in range(j):
                low = min(v["hand"][i], v["hand"][j])
                high = max(v["hand"][i], v["hand"][j])
                values[b, pair] = pair_value(v, table, weights, low, high)
                pair += 1


@pytest.mark.parametrize(("rules", "players"), [("hoyle", 2), ("five_card", 2), ("table_top", 4)])
def test_the_action_taken_is_of_the_highest_value(rules: str, players: int) -> None:
    agent, rng = MonteCarloAgent(), np.random.default_rng(3)
    games = GameBatch(PRESETS[rules], 4, players=players, episode="game", seed=3)
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
    assert seen > 200
    with pytest.raises(ValueError, match="learned does not play where flush_size is 5"):
        agent.action_values(views_of(Rules.preset("hoyle", flush_size=5), 1, seed=1)[:1])


@pytest.mark.parametrize("preset", TWO_HAND)
def test_values_are_what_nets_make_of_features_by_slow_definition(preset: str) -> None:
    rules = PRESETS[preset]
    weights = drawn_weights(rules)
    views = views_of(rules, 8, seed=4)
    values, now = np.zeros((len(views), 15)), np.zeros((len(views), HAND), dtype=np.int64)
    values_of(views, show_table(), weights.flat(), values, now)
    for view, found, found_now in zip(views, values, now, strict=True):
        hand = [int(c) for c in view["hand"][: view["hand_n"]]]
        if view["phase"] == DISCARD:
            if view["discarded_n"]:
                continue
            layers = weights.nets["discard_dealer" if view["dealer"] == 0 else "discard_pone"]
            pairs = [sorted((hand[i], hand[j])) for j in range(len(hand)) for i in range(j)]
            for pair, value in zip(pairs, found, strict=False):
                seen = slow.dense(slow.discard(hand, pair, preset), slow.discard_place, 172)
                crib, mine, theirs = slow.forward(layers, seen)
                expected = slow.mean_hand(hand, pair, preset) + mine - theirs
                expected += crib if view["dealer"] == 0 else -crib
                assert value == pytest.approx(expected, abs=1e-9)
            continue
        legal = [c for i, c in enumerate(hand) if view["legal"] >> i & 1]
        ranks = {c // 4 for c in legal}
        for k, card in enumerate(hand):
            if found[k] == UNLIKELY:  # not legal, or its rank comes again
                assert card not in legal or card // 4 in {c // 4 for c in hand[k + 1 :]}
                continue
            seen, points = slow.play(view, card)
            mine, theirs = slow.forward(
                weights.nets["pegging"], slow.dense(seen, slow.play_place, 438)
            )
            assert found_now[k] == points
            expected = points + (mine - theirs if len(ranks) > 1 else 0)
            assert found[k] == pytest.approx(expected, abs=1e-9)


@entry(void(WEIGHTS_T, int64[::1], float64[::1], float64[::1]))
def put_through(weights, places, values, outputs):
    """Run the net at 0."""
    compiled_forward(weights, 0, places, values, places.shape[0], outputs)


def test_the_compiled_net_is_that_of_pytorch() -> None:
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


def test_both_decisions_of_laying_away_agree_on_one_pair() -> None:
    rules = PRESETS["hoyle"]
    agent = MonteCarloAgent([drawn_weights(rules)])
    games = GameBatch(rules, 300, episode="deal", seed=8)
    games.reset()
    lanes, rng = np.arange(300), np.random.default_rng(1)
    views = games.views(lanes)
    first = agent.act(views, rng)
    games.step(lanes, first)
    second = agent.act(games.views(lanes), rng)
    weights = agent.sets[0].flat()
    values = np.full((300, 15), UNLIKELY)
    values_of(views, show_table(), weights, values, np.zeros((300, HAND), dtype=np.int64))
    for view, one, other, found in zip(views, first, second, values, strict=True):
        hand = view["hand"]
        pairs = [{hand[i], hand[j]} for j in range(6) for i in range(j)]
        assert found[pairs.index({one, other})] == found.max()


def test_a_card_that_wins_the_game_is_played() -> None:
    """Whatever the nets expect of the others."""
    rules = replace(PRESETS["hoyle"], target=31)
    agent = MonteCarloAgent([drawn_weights(rules)])
    views = views_of(rules, 200, seed=6)
    views = views[views["phase"] != DISCARD]
    views["scores"][:, 0] = 30  # any point wins
    now = np.zeros((len(views), HAND), dtype=np.int64)
    values_of(views, show_table(), agent.sets[0].flat(), np.zeros((len(views), 15)), now)
    chosen = agent.act(views, np.random.default_rng(0))
    at = (views["hand"] == chosen[:, None]).argmax(axis=1)
    winning = now.max(axis=1) > 0
    assert winning.sum() > 20
    assert (now[np.arange(len(views)), at][winning] > 0).all()


def test_rules_without_nets_are_refused() -> None:
    house = replace(HOYLE, crib_flush_size=4)
    with pytest.raises(
        ValueError,
        match=r"learned does not play where crib_flush_size is 4: it plays hoyle "
        r"\(crib_flush_size 5\); .*crib train",
    ):
        MonteCarloAgent([drawn_weights(HOYLE)]).act(views_of(house, 1, 1), np.random.default_rng(0))
    agent = MonteCarloAgent([drawn_weights(house), drawn_weights(HOYLE)])
    assert len(agent.act(views_of(house, 1, 1), np.random.default_rng(0)))


def test_a_game_to_another_target_needs_no_other_nets() -> None:
    agent = MonteCarloAgent([drawn_weights(HOYLE)])
    assert len(agent.act(views_of(replace(HOYLE, target=61), 1, 1), np.random.default_rng(0)))


@pytest.mark.parametrize("preset", ["hoyle", "table_top"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_file_comes_back_as_it_was_saved(dtype: Any, preset: str, tmp_path: Path) -> None:
    path = tmp_path / "house.safetensors"
    weights = drawn_weights(PRESETS[preset])
    weights.save(path, dtype)
    again = Weights.load(path)
    assert again.header() == weights.header()
    assert again.flat() == pytest.approx(weights.flat(), abs=1e-7 if dtype is np.float32 else 3e-3)
    agent = load_agent(str(path))
    assert isinstance(agent, MonteCarloAgent)
    assert agent.name == "house"


def test_files_are_told_apart_by_their_format(tmp_path: Path) -> None:
    policy().save(tmp_path / "policy.safetensors")
    assert isinstance(load_agent(str(tmp_path / "policy.safetensors")), PolicyNetAgent)


@pytest.mark.parametrize(
    ("about", "tensors", "reason"),
    [
        ({"format": "crib_env policy"}, {}, "expected the format 'crib_env values' version 1"),
        ({"version": 2}, {}, "version 1, found 'crib_env values' version 2"),
        ({"family": "chess"}, {}, r"expected a family that .* \(two_hand.*found 'chess'"),
        ({"features": {"pegging": 3}}, {}, r"nets over the features .* found \{'pegging': 3\}"),
        ({"rules_fields": None}, {}, "the rules and their fields, found 'hoyle' and None"),
        ({"rules_fields": {"dealt": 6}}, {}, "expected rules with a number 'single_count'"),
        ({"temperature": -1.0}, {}, "expected a temperature of 0 or more, found -1.0"),
        ({"temperature": "warm"}, {}, "expected a temperature of 0 or more, found 'warm'"),
        ({}, {"pegging.0.bias": None}, "expected the tensors .*pegging.0.bias.*, found"),
        (
            {},
            {"pegging.0.weight": np.zeros((24, 7))},
            "layer 0 of .* 'pegging' to lead from 438",
        ),
        ({}, {"pegging.2.weight": np.zeros((5, 10))}, "layer 2 .* from 10 to 2 numbers, found"),
        ({}, {"pegging.1.bias": np.full(10, 1e300)}, "'pegging.1.bias' .* too large for float32"),
        ({}, {"pegging.1.bias": np.zeros(10, dtype=np.int64)}, "expected floats, found"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    about: dict[str, Any], tensors: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    path = saved_but_for(drawn_weights(HOYLE), tmp_path / "x.safetensors", about, tensors)
    with pytest.raises(ValueError, match=rf"x\.safetensors.*: .*{reason}"):
        Weights.load(path)


def test_files_are_read_as_safetensors_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    drawn_weights(HOYLE).save(path, np.float16)
    expected = load_file(path)
    _, found = read_header(path)
    assert set(found) == set(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


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
    """Ask for scratch often: it must not pile up."""
    total = 0.0
    for _ in range(times):
        total += sum_below(3)
    return total


def test_scratch_is_the_calling_kernels_own_and_does_not_pile_up() -> None:
    assert sums(1_000_000) == 9_000_000


def test_the_shipped_nets_play_every_game_they_are_there_for() -> None:
    agent = find_agent("learned")
    assert isinstance(agent, MonteCarloAgent)
    assert {(w.family, w.rules) for w in agent.sets} >= {("two_hand", p) for p in TWO_HAND}
    for preset in TWO_HAND:
        views = views_of(PRESETS[preset], 2, 1)
        assert (agent.act(views, np.random.default_rng(0)) >= 0).all()
        assert agent.entries_for(find_family("two_hand")) is not None


def test_the_mean_of_weights_is_that_of_every_number() -> None:
    first = Weights.load(SHIPPED / "five_card.safetensors")
    nets = {name: [(3 * w, b + 1) for w, b in layers] for name, layers in first.nets.items()}
    second = replace(first, nets=nets)
    mean = mean_weights([first, second])
    for name, layers in first.nets.items():
        for (weight, bias), (w, b) in zip(layers, mean.nets[name], strict=True):
            assert w == pytest.approx(2 * weight, rel=1e-6)
            assert b == pytest.approx(bias + 0.5, rel=1e-6)
    with pytest.raises(ValueError, match="same rules and sizes, got 2 kinds"):
        mean_weights([first, Weights.load(SHIPPED / "six_card.safetensors")])
    with pytest.raises(ValueError, match="got 0 kinds"):
        mean_weights([])


def test_the_order_of_a_hand_changes_no_probability() -> None:
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
