"""Canonical suits: what differs only by suits looks the same, and the games stay the same."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from crib_agents.policy_net import ScoredAgent

from crib_env import Rules, five_card_v0, six_card_v0
from crib_env.batch import GameBatch
from crib_env.encoding import canonical_views, encode
from crib_env.engine.family import family_for, find_family
from learned_nets import views_of

GAMES = ("five_card", "hoyle")


def relabelled(views: np.ndarray, new_card: np.ndarray) -> np.ndarray:
    """Return views in which ``new_card[v, card]`` has taken the place of each card."""
    other = views.copy()
    rows = np.arange(len(views))
    for name in ("hand", "discarded", "pile"):
        for place in range(views[name].shape[1]):
            card = views[name][:, place]
            other[name][:, place] = np.where(card < 0, card, new_card[rows, card])
    card = views["starter"]
    other["starter"] = np.where(card < 0, card, new_card[rows, card])
    return other


@pytest.mark.parametrize("rules", GAMES)
def test_canonical_discard_is_invariant_under_suit_permutations(rules: str) -> None:
    views = views_of(rules, 300, 1)
    views = views[views["phase"] == 0]
    rng = np.random.default_rng(2)
    suits = rng.permuted(np.tile(np.arange(4), (len(views), 1)), axis=1)
    new = 4 * (np.arange(52) // 4) + suits[:, np.arange(52) % 4]
    for given in (views, relabelled(views, new)):
        assert len(np.unique(given["hand"][:, 0])) > 40  # the hands are real ones
    first, second = (encode(canonical_views(views))[0], encode(canonical_views(relabelled(views, new)))[0])
    same = (first == second).all(axis=1)
    # Where two suits hold the same ranks, it shows which of them the first discard came from.
    assert same[views["discarded_n"] == 0].all()
    assert same.mean() > 0.9


@pytest.mark.parametrize("rules", GAMES)
def test_canonical_pegging_ignores_suits(rules: str) -> None:
    views = views_of(rules, 300, 3)
    views = views[views["phase"] == 1]
    rng = np.random.default_rng(4)
    # Each rank gets its own permutation of suits: only the ranks remain.
    suits = rng.permuted(np.tile(np.arange(4), (len(views), 13, 1)), axis=2).reshape(-1, 52)
    new = 4 * (np.arange(52) // 4) + suits
    other = relabelled(views, new)
    assert (encode(views)[0] != encode(other)[0]).any(axis=1).mean() > 0.95
    for mine, theirs in zip(encode(canonical_views(views)), encode(canonical_views(other)), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("rules", GAMES)
def test_canonical_cards_keep_ranks_and_are_different_cards(rules: str) -> None:
    views = views_of(rules, 300, 5)
    seen = canonical_views(views)
    for name in ("hand", "discarded", "pile"):
        np.testing.assert_array_equal(views[name] >> 2, seen[name] >> 2)
    for one in seen:
        cards = [*one["hand"], *one["discarded"], *one["pile"], one["starter"]]
        shown = [card for card in cards if card >= 0]
        assert len(set(shown)) == len(shown)


def test_canonical_discard_keeps_flushes() -> None:
    views = views_of("five_card", 2000, 6)
    views = views[(views["phase"] == 0) & (views["discarded_n"] == 0)]
    seen = canonical_views(views)

    def most_of_a_suit(given: np.ndarray) -> list[int]:
        return [max(np.bincount(hand[:5] & 3)) for hand in given["hand"]]

    assert 5 in most_of_a_suit(views)
    assert most_of_a_suit(views) == most_of_a_suit(seen)


@pytest.mark.parametrize("rules", GAMES)
def test_canonical_game_equals_the_game(rules: str) -> None:
    """The same deals, played by an agent that sees canonical cards, step for step."""
    real = GameBatch(rules, 200, episode="deal", seed=7)
    family = family_for(Rules.preset(rules).family, "points", "canonical")
    shown = GameBatch(rules, 200, episode="deal", seed=7, family=family)
    weights = np.random.default_rng(0).normal(size=(family.obs_size, family.actions))
    plays_real = ScoredAgent(lambda obs, masks: obs @ weights, "real", suits="canonical")
    plays_shown = ScoredAgent(lambda obs, masks: obs @ weights, "shown")
    for batch in (real, shown):
        batch.reset()
    rng = np.random.default_rng(8)
    lanes = real.running()
    while len(lanes):
        np.testing.assert_array_equal(canonical_views(real.views(lanes)), shown.views(lanes))
        real.ask(plays_real, lanes, rng)
        shown.ask(plays_shown, lanes, rng)
        lanes = real.running(lanes)
        np.testing.assert_array_equal(lanes, shown.running())
    np.testing.assert_array_equal(real.states["scores"], shown.states["scores"])
    np.testing.assert_array_equal(real.states["pile"], shown.states["pile"])


def test_canonical_other_cards_are_illegal_and_change_nothing() -> None:
    batch = GameBatch("five_card", 1, episode="deal", seed=1, family=family_for("two_hand", "points", "canonical"))
    batch.reset()
    hand = batch.views(np.array([0]))["hand"][0][:5]
    before = batch.states.copy()
    for card in set(range(52)) - set(hand.tolist()):
        assert batch.step(np.array([0]), np.array([card])) == 0
    np.testing.assert_array_equal(batch.states, before)


def test_canonical_probabilities_move_to_representative_cards() -> None:
    views = views_of("five_card", 100, 9)

    weights = np.random.default_rng(0).normal(size=(425, 52)) / 5

    def score(obs: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return obs @ weights

    found = ScoredAgent(score, "n", sample=True, suits="canonical").action_probabilities(views)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found[encode(views)[1] == 0] == 0).all()
    seen = ScoredAgent(score, "n", sample=True).action_probabilities(canonical_views(views))
    by_rank, expected = (p.reshape(-1, 13, 4).sum(axis=2) for p in (found, seen))
    np.testing.assert_allclose(by_rank, expected)


def test_canonical_is_rejected_where_suits_count() -> None:
    with pytest.raises(ValueError, match="suits='canonical' is not for table_top"):
        family_for("table_top", "points", "canonical")
    with pytest.raises(ValueError, match=r"suits must be one of 'real', .*'ranks', got 'canon'"):
        family_for("two_hand", "points", "canon")
    with pytest.raises(ValueError, match="table_top or table_top_ship has no canonical suits"):
        canonical_views(np.zeros(1, dtype=find_family("table_top").view))


def check_aec(environment: ModuleType, suits: str) -> None:
    """Check the observations of a deal in PettingZoo's form."""
    aec = environment.raw_env(suits=suits, episode="deal")
    assert aec.suits == suits
    aec.reset(seed=1)
    for agent in aec.agent_iter():
        observation, _, over, _, _ = aec.last()
        if not over:
            expected = encode(aec.view(int(agent[-1])), suits=suits)[0][0]
            np.testing.assert_array_equal(observation["observation"], expected)
        aec.step(None if over else int(observation["action_mask"].argmax()))


@pytest.mark.parametrize("environment", [six_card_v0, five_card_v0])
def test_canonical_suits_work_in_every_form(environment: ModuleType) -> None:
    given = {"suits": "canonical", "opponent": "random", "episode": "deal"}
    env, batch, sb3 = environment.gym_env(**given), environment.vector_env(3, **given), environment.sb3_env(3, **given)
    assert env.suits == batch.suits == sb3.suits == "canonical"
    rng, (seen, _) = np.random.default_rng(1), env.reset(seed=1)
    over = False
    while not over:
        view = env.view()
        assert view == canonical_views(view)[0]
        np.testing.assert_array_equal(seen, encode(view, suits="canonical")[0][0])
        seen, _, over, _, _ = env.step(rng.choice(np.flatnonzero(env.action_masks())))
    many, stacked = batch.reset(seed=1)[0], sb3.reset()
    for _ in range(20):
        for one, found in ((batch, many), (sb3, stacked)):
            views = one.batch.games.views(np.arange(3), one.batch.seats)
            assert (canonical_views(views) == views).all()
            np.testing.assert_array_equal(found, encode(views, suits="canonical")[0])
        many, *_ = batch.step(batch.action_masks().argmax(axis=1))
        stacked, *_ = sb3.step(sb3.action_masks().argmax(axis=1))
    check_aec(environment, "canonical")


@pytest.mark.parametrize("rules", GAMES)
def test_ranks_pegging_ignores_the_discard(rules: str) -> None:
    views = views_of(rules, 300, 3)
    views = views[(views["phase"] == 1) & (views["to_move"] == 1)]
    rng = np.random.default_rng(4)
    other = views.copy()
    other["discarded"] = rng.integers(52, size=views["discarded"].shape)
    suits = rng.permuted(np.tile(np.arange(4), (len(views), 13, 1)), axis=2).reshape(-1, 52)
    other = relabelled(other, 4 * (np.arange(52) // 4) + suits)
    assert (encode(views, suits="canonical")[0] != encode(other, suits="canonical")[0]).any()
    for features in (False, True):
        for mine, theirs in zip(encode(views, features, "ranks"), encode(other, features, "ranks"), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(canonical_views(views, "ranks"), canonical_views(other, "ranks"))


@pytest.mark.parametrize("rules", GAMES)
def test_ranks_discard_shows_canonical_cards(rules: str) -> None:
    views = views_of(rules, 100, 3)
    discarding = views["phase"] == 0
    ranks, canonical = canonical_views(views, "ranks"), canonical_views(views)
    np.testing.assert_array_equal(ranks[discarding], canonical[discarding])
    assert (ranks["discarded_n"][~discarding] == 0).all()
    assert (ranks["discarded"][~discarding] == -1).all()
    for name in ("hand", "pile", "starter"):
        np.testing.assert_array_equal(ranks[name] >> 2, views[name] >> 2)
    again = canonical_views(canonical, "ranks")
    np.testing.assert_array_equal(again, ranks)
    np.testing.assert_array_equal(canonical_views(ranks, "ranks"), ranks)


@pytest.mark.parametrize(("environment", "features"), [(six_card_v0, False), (five_card_v0, True)])
def test_ranks_are_observed_in_every_form_with_unchanged_opponents(environment: ModuleType, features: bool) -> None:
    """The same games as in canonical cards: opponents, which see their discards, play alike."""
    given = {"opponent": "expert", "episode": "deal", "features": features}
    hidden, shown = (environment.vector_env(4, suits=s, **given) for s in ("ranks", "canonical"))
    _, info = hidden.reset(seed=1)
    shown.reset(seed=1)
    assert hidden.suits == "ranks"
    apart = 0
    for _ in range(24):
        actions = info["action_mask"].argmax(axis=1)
        observations, rewards, _, _, info = hidden.step(actions)
        whole, same, *_ = shown.step(actions)
        np.testing.assert_array_equal(rewards, same)
        views, others = (one.batch.games.views(np.arange(4), one.batch.seats) for one in (hidden, shown))
        np.testing.assert_array_equal(views, others)
        expected, _ = encode(views, features, "ranks")
        np.testing.assert_array_equal(observations, expected)
        apart += (observations != whole).any(axis=1).sum()
    assert apart > 5
    check_aec(environment, "ranks")


@pytest.mark.parametrize("rules", GAMES)
def test_features_are_independent_of_deal_order(rules: str) -> None:
    """Also for equally good pairs to discard."""
    views = views_of(rules, 1500, 12)
    views = views[views["to_move"] == 1]
    other = views.copy()
    rows, places = np.arange(len(views)), np.arange(views["hand"].shape[1])
    n = views["hand_n"][:, None]
    back = np.where(places < n, n - 1 - places, places)
    other["hand"] = views["hand"][rows[:, None], back]
    legal = views["legal"][:, None] >> back & 1
    other["legal"] = (legal << places).sum(axis=1)
    np.testing.assert_array_equal(encode(views, True)[0], encode(other, True)[0])
