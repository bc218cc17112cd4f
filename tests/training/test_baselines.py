"""Baselines of the benchmark: their training data, and that they learn."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents import MonteCarloAgent
from crib_agents.learned import MixedAgent
from crib_agents.loading import load_agent
from crib_agents.policy_net import PolicyNetAgent
from crib_training.exploit import Estimate, Exploitability
from crib_training.exploit.measure import PARTS, SEATS
from crib_training.learn import deal_learners
from crib_training.learn.deal_batch import PLACES, DealBatch, SparseLinear, places_of
from crib_training.learn.deal_learners import CURVE, Memory, Policy, Rollout, both_seats, collect, gae, match_regrets
from crib_training.learn.deep_monte_carlo import pegging_tree, two_hand
from crib_training.learn.run import POLICY, Run
from crib_training.methods import monte_carlo
from crib_training.methods.vrpo import expected_sarsa

from crib_env.batch import GameBatch
from crib_env.engine.family import family_for
from crib_env.policy import Views
from crib_env.rules import PRESETS
from learned_nets import views_of
from small_runs import BASELINES, baseline
from two_hand_views import legal_cards

FIVE = PRESETS["five_card"]


def drawn(masks: Any, rng: np.random.Generator) -> Any:
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def test_deal_batch_decisions_have_choices_and_gains_of_the_stepped_deal() -> None:
    games = DealBatch(FIVE, 16, seed=3)
    slow = GameBatch(FIVE, 16, episode="deal", seed=3, family=family_for(FIVE.family, "expected", "canonical"))
    slow.reset()
    totals: dict[int, list[float]] = {lane: [0.0] for lane in range(16)}
    expected: dict[int, list[float]] = {lane: [0.0] for lane in range(16)}
    rng = np.random.default_rng(0)
    for _ in range(60):
        assert (games.masks.sum(axis=1) > 1).all()
        actions = drawn(games.masks, rng)
        for lane in range(16):  # the same deal card by card, forced cards too
            choice = True
            while True:
                one = np.array([lane])
                view = slow.views(one)[0]
                legal = legal_cards(view)
                if len(legal) > 1 and not choice:
                    break
                action = int(actions[lane]) if len(legal) > 1 else legal[0]
                choice = choice and len(legal) == 1
                assert slow.step(one, np.array([action])) is None
                if slow.states["over"][lane]:
                    gain = slow.states["gain"][lane]
                    expected[lane][-1] = (gain[0] - gain[1]) / games.unit
                    expected[lane].append(0.0)
                    slow.reset(one)
        gains, ended = games.step(actions)
        for lane in range(16):
            totals[lane][-1] += gains[lane]
            if ended[lane]:
                totals[lane].append(0.0)
    for lane in range(16):
        assert len(totals[lane]) == len(expected[lane]) > 4
        assert totals[lane][:-1] == pytest.approx(expected[lane][:-1], abs=1e-4)


def rollout() -> tuple[Rollout, torch.Tensor]:
    games = DealBatch(FIVE, 16, seed=5)
    played = collect(games, Policy(games, (8,)), 20, np.random.default_rng(1))
    assert played.ended.sum() > 10
    return played, torch.randn(21, 16, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_advantages_are_weighted_sums_of_td_errors(lam: float) -> None:
    played, values = rollout()
    found = gae(played, values, lam)
    for lane in range(16):
        for t in range(20):
            total, weight = 0.0, 1.0
            for k in range(t, 20):
                over = bool(played.ended[k, lane])
                later = 0.0 if over else values[k + 1, lane]
                total += weight * float(played.gains[k, lane] + later - values[k, lane])
                weight *= lam
                if over:
                    break
            assert found[t, lane] == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_expected_sarsa_mixes_the_returns_of_every_length(lam: float) -> None:
    played, values = rollout()
    taken = torch.randn(20, 16, generator=torch.Generator().manual_seed(3))
    found = expected_sarsa(played, values, taken, lam)
    for lane in range(16):
        for t in range(20):
            total, weight, k = float(played.gains[t, lane]), 1.0, t
            while not played.ended[k, lane]:
                total += weight * float(values[k + 1, lane])
                weight *= lam
                if k + 1 == 20:
                    break
                total += weight * float(played.gains[k + 1, lane] - taken[k + 1, lane])
                k += 1
            assert found[t, lane] == pytest.approx(total, abs=1e-4)


def test_critic_reads_the_cards_of_both_seats() -> None:
    games = DealBatch(FIVE, 60, seed=1)
    rng = np.random.default_rng(1)
    real = GameBatch(FIVE, 60, episode="deal")
    for _ in range(12):
        real.states[:] = games.batch.states
        both = both_seats(games).numpy()
        for seats, ones in ((games.movers, both), (1 - games.movers, both[:, PLACES:])):
            views = real.views(games.lanes, seats)
            for lane, view in enumerate(views):
                ranks = [int(card) // 4 for card in view["hand"][: view["hand_n"]]]
                cards = ones[lane, :PLACES][(ones[lane, :PLACES] >= 0) & (ones[lane, :PLACES] < 52)]
                assert sorted(cards // 4) == sorted(ranks)
        games.step(drawn(games.masks, rng))


def test_sparse_linear_is_linear_layer_of_bits() -> None:
    torch.manual_seed(1)
    bits = (torch.rand(50, 2, 90) < 0.2).to(torch.uint8)
    bits[0] = 0
    numbers = torch.randn(50, 3)
    layer = SparseLinear(90, 2, 3, 16)
    weight, bias = layer.dense()
    lists = [torch.from_numpy(places_of(bits[:, i].numpy())) for i in range(2)]
    found = layer(torch.cat([*lists, numbers], 1))
    seen = torch.cat([bits.flatten(1).float(), numbers], 1)
    expected = seen @ weight.T + bias
    assert torch.allclose(found, expected, atol=1e-5)
    given = torch.randn(50, 16)
    of_layer = torch.autograd.grad(found, list(layer.parameters()), given)
    of_dense = torch.autograd.grad(expected, list(layer.parameters()), given)
    for one, other in zip(of_layer, of_dense, strict=True):
        assert torch.allclose(one, other, atol=1e-4)


def test_places_of_refuses_more_ones_than_it_has_room_for() -> None:
    with pytest.raises(ValueError, match=f"has {PLACES + 1} ones, at most {PLACES}"):
        places_of(np.ones((1, PLACES + 1), dtype=np.uint8))


def test_regret_matching_is_proportional_to_positive_regrets() -> None:
    regrets = torch.tensor([[1.0, 3.0, -2.0, -1e9], [-1.0, -0.5, -1e9, -1e9]])
    masks = regrets > -1e8
    assert match_regrets(regrets, masks).tolist() == [[0.25, 0.75, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]


def test_memory_is_a_uniform_reservoir_or_the_newest_rows() -> None:
    counts = np.zeros(300)
    for seed in range(400):
        memory = Memory(30, True, np.random.default_rng(seed))
        for start in range(0, 300, 50):
            memory.add(row=torch.arange(start, start + 50))
        counts[memory.columns["row"]] += 1
    assert len(memory) == 30
    assert counts.sum() == 400 * 30
    assert np.abs(counts - 40).max() < 6 * np.sqrt(40)
    newest = Memory(30, False, np.random.default_rng(0))
    for start in range(0, 300, 50):
        newest.add(row=torch.arange(start, start + 50))
    assert sorted(newest.columns["row"]) == list(range(270, 300))


@pytest.mark.parametrize("kill", [RuntimeError, KeyboardInterrupt])
def test_curve_failed_measurement_loses_nothing_and_can_be_made_later(
    kill: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise kill

    gain = {seat: dict.fromkeys(PARTS, Estimate(0.5, 0.1)) for seat in SEATS}
    found = Exploitability("net", "five_card", "real", None, gain, 7, 3, 0, 9, 10, 0, (), (), 0, 0)
    again = {"out": tmp_path, "num_evals": 1, "eval_hands": 2}
    with monkeypatch.context() as patched:
        patched.setattr(deal_learners, "exploitability", fail)
        with pytest.raises(kill):
            Run(baseline("mmd", **again)).go()
    saved = (tmp_path / POLICY).read_bytes()
    without = baseline("mmd", out=tmp_path, resume=tmp_path, num_evals=0)
    Run(without).go()
    assert not (tmp_path / CURVE).exists()
    run = Run(baseline("mmd", resume=tmp_path, **again))
    monkeypatch.setattr(deal_learners, "exploitability", lambda *_, **__: found)
    run.go()  # the measurement alone is left
    assert [row.decisions for row in run.learner.curve.rows] == [without.decisions] == [run.learner.decisions]
    assert (tmp_path / POLICY).read_bytes() == saved
    assert len((tmp_path / CURVE).read_text().splitlines()) == 2


def test_set_state_and_restore_refuse_another_size() -> None:
    with pytest.raises(ValueError, match="it has 1 deals side by side, not 4"):
        DealBatch(FIVE, 4, seed=1).set_state(DealBatch(FIVE, 1, seed=1).state())
    for reservoir in (True, False):
        memory = Memory(3, reservoir, np.random.default_rng(0))
        memory.add(row=torch.arange(10))
        for size in (2, 5):
            other = Memory(size, reservoir, np.random.default_rng(0))
            with pytest.raises(ValueError, match="of another size"):
                other.restore("x", memory.state("x"))
            assert (other.added, other.columns) == (0, {})


def test_r_nad_logit_gradient_is_the_regularised_action_value() -> None:
    """Tested at the last decision of a deal, after which the target needs no critic."""
    learner = baseline("r_nad", eta=0.7, gae_lambda=1.0, neurd_clip=1e9)
    with torch.no_grad():
        for net in (learner.regular, learner.before):
            for weight in net.parameters():
                weight.add_(torch.randn(weight.shape), alpha=0.3)
    played = collect(learner.games, learner.policy, 8, learner.rng)
    seen, masks, _, force, target = learner.columns(played)
    regular = learner.before(seen, masks).log_softmax(1).detach()  # a period's first update
    log_p = played.log_probabilities.flatten(0, 1)
    costs = 0.7 * (log_p - regular)
    last = played.ended.flatten().bool()
    assert last.sum() > 10
    taken, sign = played.actions.flatten(), played.sign[:-1].flatten()
    gains = (played.gains.flatten() * sign)[last]
    rows = torch.arange(len(seen))[last]
    cost, p = costs[rows, taken[rows]], log_p[rows, taken[rows]].exp()
    assert target[rows] == pytest.approx(gains - cost, abs=1e-4)
    with torch.no_grad():
        value = learner.critic(played.both.flatten(0, 1)[rows])[:, 0]
    expected = -cost + (gains - value) / p
    assert force[rows, taken[rows]] == pytest.approx(expected, abs=1e-3)
    others = masks[rows].clone()
    others[torch.arange(len(rows)), taken[rows]] = False
    assert force[rows][others] == pytest.approx(-costs[rows][others], abs=1e-4)


def test_traversal_mean_equals_enumerated_value() -> None:
    learner = baseline("deep_cfr", num_envs=1, updates=1)

    def certain(seen: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        return torch.where(masks, torch.arange(masks.shape[1], 0, -1).float(), -1e9)

    learner.regrets.forward = certain  # by regret matching, in proportion to these
    games = learner.games

    def value(now: DealBatch, seat: int) -> float:
        p = match_regrets(certain(None, torch.from_numpy(now.masks)), torch.from_numpy(now.masks))
        total = 0.0
        for action in now.masks[0].nonzero()[0]:
            after, gains, running = now.after(np.array([0]), np.array([action]))
            below = 0.0
            if len(running):
                after.observe()
                below = value(after, seat)
            outcome = float(gains[0]) * (1 - 2 * seat) + below
            total += float(p[0, action]) * outcome
        return total

    for _ in range(2):  # only the tree after the discards, a hundredth of all
        games.step(games.masks.argmax(axis=1))
    seat = int(games.movers[0])
    expected = value(games, seat)
    found = np.mean([learner._traverse(games, np.array([seat]))[0] for _ in range(200)])
    assert found == pytest.approx(expected, abs=0.2)


@pytest.mark.parametrize("method", ["nfsp", "escher"])
def test_baseline_run_with_empty_reservoir_continues(method: str, tmp_path: Path) -> None:
    learner = baseline(method, out=tmp_path, num_envs=1, steps=2, decisions=12)
    Run(learner).go()
    assert learner.decisions == 12


def test_weights_of_late_iterations_do_not_overflow() -> None:
    """float16 ends at 65,504 and skips integers beyond 2,048."""
    learner = baseline("escher", num_envs=4)
    for iteration in (2049, 70_001):
        learner.decisions = (iteration - 1) * 4 * 8
        learner.iterate()
        assert learner.of_policy.columns["weight"][: len(learner.of_policy)].max() == iteration


def test_monte_carlo_learns_without_its_discards(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    choose = two_hand.choose_cards

    def watched(views: Views, *given: Any) -> int:
        seen.append(views["discarded_n"].max())
        return int(choose(views, *given))

    monkeypatch.setattr(two_hand, "choose_cards", watched)
    inputs_of = pegging_tree.inputs_of

    def watched_inputs(views: Views, cards: Any) -> Any:
        seen.append(views["discarded_n"].max())
        return inputs_of(views, cards)

    monkeypatch.setattr(pegging_tree, "inputs_of", watched_inputs)
    for suits, all_cards in product(("canonical", "ranks"), (False, True)):
        baseline("monte_carlo", suits=suits, all_cards=all_cards, decisions=64).iterate()
        assert max(seen) == (2 if suits == "canonical" else 0)
        seen.clear()


def test_monte_carlo_of_all_cards_plays_fewer_deals_by_default() -> None:
    for all_cards, deals in ((False, 4096), (True, 512)):
        assert baseline("monte_carlo", all_cards=all_cards, num_envs=None).self_play.resolved.num_envs == deals


def test_monte_carlo_of_all_cards_learns_from_single_deals() -> None:
    """Also from a deal whose pegging has no choice."""
    learner = baseline("monte_carlo", all_cards=True, num_envs=1)
    for _ in range(20):
        assert np.isfinite(learner.iterate()["loss"])
    played = learner.self_play.play(1, 0.0, learner.rng)
    rows = {name: torch.arange(1) for name in played.groups if name != "pegging"}
    assert torch.isfinite(learner.self_play.loss(played, rows))


@pytest.mark.parametrize("method", [one for one in BASELINES if one != "monte_carlo"])
def test_baseline_learns_ranks_as_it_is_measured(method: str, tmp_path: Path) -> None:
    learner = baseline(method, suits="ranks", features=True, decisions=64)
    learner.iterate()
    games = learner.games
    ones = games.observations[:, :PLACES]
    pegging = np.flatnonzero((ones == games.bits - 3).any(axis=1))
    for _ in range(60):  # until some game pegs
        if len(pegging):
            break
        games.step(games.masks.argmax(axis=1))
        ones = games.observations[:, :PLACES]
        pegging = np.flatnonzero((ones == games.bits - 3).any(axis=1))
    assert len(pegging)
    assert not ((ones[pegging] >= 52) & (ones[pegging] < 104)).any()  # no discards
    learner.agent().save(tmp_path / POLICY)
    agent = load_agent(str(tmp_path / POLICY))
    assert isinstance(agent, PolicyNetAgent)
    assert agent.suits == "ranks"
    views = views_of("five_card", 20, 1)
    hidden = views.copy()
    hidden["discarded_n"][hidden["phase"] == 1] = 0
    np.testing.assert_array_equal(agent.action_probabilities(views), agent.action_probabilities(hidden))


def test_softmax_of_values_is_kept_by_its_file(tmp_path: Path) -> None:
    learner = baseline("monte_carlo", policy_temperature=0.5)
    views = views_of("five_card", 50, 1)
    mixed, greedy = learner.agent(), MonteCarloAgent(learner.agent().sets)
    probabilities, values = mixed.action_probabilities(views), greedy.action_values(views)
    assert (np.isnan(values) == (probabilities == 0)).all()
    rows = np.arange(len(views))
    best, second = np.sort(np.nan_to_num(values, nan=-1e9), axis=1)[:, :-3:-1].T
    ratio = np.sort(probabilities, axis=1)[:, -2] / probabilities.max(axis=1)
    assert ratio == pytest.approx(np.exp((second - best) / 0.5), abs=1e-9)
    cold = MixedAgent([replace(mixed.sets[0], temperature=1e-9)])
    rng = np.random.default_rng(1)
    assert (values[rows, cold.act(views, rng)] == np.nanmax(values, axis=1)).all()
    drawn = [mixed.act(views[:1], rng)[0] for _ in range(400)]
    counts = np.bincount(drawn, minlength=52) / 400
    assert np.abs(counts - probabilities[0]).max() < 0.15
    assert probabilities.sum(axis=1) == pytest.approx(1)
    mixed.save(tmp_path / "mixed.safetensors")
    read = load_agent(str(tmp_path / "mixed.safetensors"))
    assert isinstance(read, MixedAgent)
    assert (read.action_probabilities(views) == probabilities).all()
    greedy = MonteCarloAgent([replace(mixed.sets[0], temperature=0.0)])
    with pytest.raises(ValueError, match="a stochastic policy have a temperature above 0"):
        MixedAgent(greedy.sets)


@pytest.mark.slow  # the others learn in a toy deck: test_baselines_toy.py
def test_monte_carlo_learns(tmp_path: Path) -> None:
    """Its exploitability falls below 1.5 points per deal, from a random policy's 3.1."""
    settings = monte_carlo.Settings(decisions=400_000, num_evals=1, eval_hands=20, out=tmp_path, progress=False)
    run = Run(monte_carlo.Learner(settings))
    run.go()
    assert run.learner.curve.rows[-1].exploitability < 1.5
    assert (tmp_path / POLICY).exists()
