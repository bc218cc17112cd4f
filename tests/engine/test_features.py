"""What networks read: `encode` and its layout, and features against a count of every case."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import gymnasium
import gymnasium.utils.env_checker
import numpy as np
import pytest

import crib_env
from checkout import ROOT
from crib_env import ENVIRONMENTS, Game, encode, find_agent, observation_layout, sample_legal, six_card_v0, table_top_v0
from crib_env.batch import GameBatch
from crib_env.encoding import layout_of
from crib_env.engine.family import find_family
from crib_env.engine.hands.records import DISCARD
from crib_env.rules import PRESETS, Rules
from crib_env.scoring import score_hands
from reference.scoring import rank, score_play, value
from two_hand_views import legal_cards


def test_encode_takes_one_view_or_many() -> None:
    games = [Game("hoyle", seed=seed) for seed in range(5)]
    views = np.array([game.view(game.seat) for game in games])
    observations, masks = encode(views)
    assert observations.shape == (5, 425)
    assert masks.shape == (5, 52)
    one, _ = encode(games[3].view(games[3].seat))
    assert np.array_equal(one[0], observations[3])
    views.setflags(write=False)
    assert np.array_equal(encode(views)[0], observations)


@pytest.mark.parametrize(
    "given", [np.zeros(3), np.zeros((2, 425), dtype=np.uint8), np.zeros((2, 1), dtype=find_family("two_hand").view)]
)
def test_encode_rejects_other_objects_than_views(given: Any) -> None:
    with pytest.raises(ValueError, match=r"env\.unwrapped\.view\(\)"):
        encode(given)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_layout_slices_have_meanings(name: str) -> None:
    layout = observation_layout(name, features=True)
    assert layout.meanings.keys() == layout.keys()
    assert all(meaning.strip() for meaning in layout.meanings.values())
    for row, (part, where) in zip(str(layout).splitlines()[2:], layout.items(), strict=True):
        assert row == f"| `{part}` | {where.start} to {where.stop - 1} | {layout.meanings[part]} |"


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_observations_page_names_every_feature(name: str) -> None:
    page = (ROOT / "docs" / "observations.md").read_text()
    tables = page.partition("\n## Features\n")[2].partition("\n## ")[0]
    plain, full = (observation_layout(name, features=features) for features in (None, True))
    for feature in (*list(full)[len(plain) :], *full.row):
        assert f"`{feature}`" in tables


# --- features, in plain Python from the view ------------------------------------------------------


def seen(games: GameBatch, lanes: Any) -> Any:
    """Return the full observations of the seats to move, float32[K, size]."""
    views = games.views(lanes)
    return views, encode(views, features=True)[0]


def positions(rules: Rules, n: int, seed: int, players: int = 2) -> Iterator[tuple[Any, Any]]:
    """Yield views of random play with the features of each legal action, by action and name."""
    games = GameBatch(rules, n, players=players, seed=seed)
    layout = layout_of(games.family, True)
    games.reset()
    lanes = np.arange(n)
    rng = np.random.default_rng(seed)
    agent = find_agent("random")
    for _ in range(12):
        views, observations = seen(games, lanes)
        for view, observation in zip(views, observations, strict=True):
            rows = observation[layout["rows"]].reshape(layout.rows)
            assert not rows[rows[:, 0] == 0].any()
            yield (
                view,
                {
                    int(row[0]) - 1: {name: row[part] for name, part in layout.row.items()}
                    for row in rows[rows[:, 0] > 0]
                },
            )
        games.ask(agent, lanes, rng)
        lanes = games.running(lanes)


def unseen(view: Any) -> list[int]:
    known = {int(c) for field in ("hand", "discarded", "pile") for c in view[field]} | {view["starter"]}
    return [card for card in range(52) if card not in known]


@pytest.mark.parametrize("preset", ["hoyle", "five_card"])
def test_discard_features_count_every_crib_and_starter(preset: str) -> None:
    rules = PRESETS[preset]
    looked = [one for one in positions(rules, 4, seed=3) if one[0]["phase"] == DISCARD][:16:4]
    assert {(int(view["discarded_n"]), int(view["dealer"])) for view, _ in looked} == set(product((0, 1), (0, 1)))
    for view, features in looked:
        dealt = [int(c) for c in (*view["hand"], *view["discarded"]) if c >= 0]
        left = unseen(view)
        others = np.array(list(combinations(left, 2)))
        sign = 1 if view["dealer"] == 0 else -1
        value: dict[int, list[tuple[float, ...]]] = {}
        for pair in combinations(dealt, 2):
            if view["discarded_n"] and int(view["discarded"][0]) not in pair:
                continue
            kept = [card for card in dealt if card not in pair]
            hand = score_hands([kept] * len(left), left, rules).mean()
            total = count = 0
            for starter in left:
                discarded = others[(others != starter).all(axis=1)]
                cribs = np.concatenate([np.tile(pair, (len(discarded), 1)), discarded], axis=1)
                total += score_hands(cribs, np.full(len(discarded), starter), rules, crib=True).sum()
                count += len(discarded)
            ranks = np.bincount([rank(card) for card in kept], minlength=13) / 2
            for card in pair:
                value.setdefault(card, []).append((hand, sign * total / count, *ranks))
        for card in legal_cards(view):
            most = max(sum(one[:2]) for one in value[card])
            of_card = features[card]
            found = 8 * of_card["mean_hand"][0], 8 * of_card["mean_crib"][0], *of_card["kept"]
            assert of_card["sure"] == pytest.approx(most, abs=1e-4)
            best = [one for one in value[card] if sum(one[:2]) > most - 1e-4]
            assert any(found == pytest.approx(one, abs=1e-4) for one in best), (view, card)
            for name in ("points_now", "count", "share", "reply", "risk", "answer", "alone"):
                assert not of_card[name].any()
        assert sorted(features) == sorted(legal_cards(view))


def pegs(ranks: list[int], count: int, go: int) -> int:
    return sum(score_play(ranks, count)) + ((2 - go) if count == 31 else 0)


def cannot_hold(view: Any) -> int:
    """Return the least pip value that the other seat can hold: it could have played a lower one."""
    least, count = 1, 0
    for i in range(view["pile_n"]):
        mine = view["pile_seats"] >> 2 * i & 1 == 0
        if i and mine and view["pile_seats"] >> 2 * (i - 1) & 1 == 0 and count:
            least = max(least, 32 - count)  # it passed
        here = value(int(view["pile"][i]))
        if count + here > 31 or count == 31:
            least = max(least, 32 - count) if count < 31 else least
            count = 0
        count += here
    return least


@pytest.mark.parametrize("preset", ["hoyle", "five_card"])
def test_play_features_count_every_rank_of_reply(preset: str) -> None:
    compared = 0
    for view, features in positions(PRESETS[preset], 20, seed=4):
        if view["phase"] == DISCARD:
            continue
        n, first, go = (int(view[name]) for name in ("pile_n", "pile_from", "go"))
        ranks = [rank(int(c)) for c in view["pile"][first:n]]
        out = view["held_n"][1] == 0 or (n > first and view["pile_seats"] >> 2 * (n - 1) & 1 == 0)
        least = cannot_hold(view)
        may_hold = [card for card in unseen(view) if value(card) >= least]
        for card in legal_cards(view):
            count = int(view["count"]) + value(card)
            line = [*ranks, rank(card)]
            rest = [int(c) for c in view["hand"] if c >= 0 and c != card]

            def answer(line: list[int], count: int, go: int, rest: list[int] = rest) -> int:
                fits = [c for c in rest if count + value(c) <= 31]
                return max((pegs([*line, rank(c)], count + value(c), go) for c in fits), default=0)

            now = pegs(line, count, go)
            goes_on = [c for c in rest if count + value(c) <= 31]
            if count < 31 and not go and out and not (view["single_count"] and goes_on):
                now += 1
            found = features[card]
            assert found["sure"] == 4 * found["points_now"] == now
            assert found["alone"] == out
            assert not found["mean_hand"].any()
            assert not found["mean_crib"].any()
            replies = [] if out or count == 31 else [c for c in may_hold if count + value(c) <= 31]
            expected = np.zeros((3, 13))
            for c in replies:
                r = c >> 2
                expected[0, r] += 1 / len(may_hold)
                expected[1, r] = pegs([*line, rank(c)], count + value(c), go)
                expected[2, r] = answer([*line, rank(c)], count + value(c), go)
            shares, points, answers = expected
            assert found["share"] == pytest.approx(4 * shares, abs=1e-5)
            assert found["reply"] == pytest.approx(points / 4)
            assert found["answer"] == pytest.approx(answers / 4)
            assert found["risk"] == pytest.approx(points * shares, abs=1e-5)
            assert found["fits"] == pytest.approx(shares.sum(), abs=1e-5)
            assert found["mean_reply"] == pytest.approx((points * shares).sum(), abs=1e-5)
            assert found["mean_answer"] == pytest.approx((answers * shares).sum(), abs=1e-5)
            assert found["scoring"] == pytest.approx(shares[points > 0].sum(), abs=1e-5)
            compared += bool(replies)
    assert compared > 25


@pytest.mark.parametrize("name", crib_env.ENVIRONMENTS)
def test_layout_names_every_slice_and_space_has_its_bounds(name: str) -> None:
    maker = getattr(crib_env, name).maker
    plain = observation_layout(name)
    layout = observation_layout(name, features=True)
    assert list(layout)[: len(plain)] == list(plain)
    assert layout["rows"].start == sum(part.stop - part.start for part in [*layout.values()][:-1])  # no name twice
    assert layout["rows"].stop - layout["rows"].start == np.prod(layout.rows)
    env = maker.vector_env(64, opponent="greedy", features=True)
    space, rng = env.single_observation_space, np.random.default_rng(1)
    assert space.shape == (max(part.stop for part in layout.values()),)
    observations, info = env.reset(seed=1)
    for _ in range(30):
        assert env.observation_space.contains(observations)
        observations, *_, info = env.step(sample_legal(info["action_mask"], rng))


@pytest.mark.parametrize("name", ["six_card_v0", "discard_v0", "pegging_v0", "three_hand_v0"])
def test_feature_rows_follow_legal_cards(name: str) -> None:
    layout = observation_layout(name, features=True)
    env = getattr(crib_env, name).vector_env(64, opponent="greedy", features=True)
    observations, info = env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(10):
        rows = observations[:, layout["rows"]].reshape(-1, *layout.rows)
        for named, mask in zip(rows[:, :, 0], info["action_mask"], strict=True):
            assert named[named > 0].tolist() == (1 + mask.nonzero()[0]).tolist()
        observations, *_, info = env.step(sample_legal(info["action_mask"], rng))


def test_features_are_equal_in_all_forms_and_zero_after_the_end() -> None:
    keywords: dict[str, Any] = {"features": True, "opponent": "greedy", "episode": "deal"}
    single = six_card_v0.gym_env(**keywords)
    vector = six_card_v0.vector_env(1, **keywords)
    waits = six_card_v0.vector_env(1, autoreset_mode=gymnasium.vector.AutoresetMode.NEXT_STEP, **keywords)
    sb3 = six_card_v0.sb3_env(1, **keywords)
    in_python = six_card_v0.vector_env(
        1, **{**keywords, "opponent": lambda view, rng: int(find_agent("greedy").act(np.array([view]), rng)[0])}
    )
    assert single.observation_space == sb3.observation_space == vector.single_observation_space
    observation, info = single.reset(seed=7)
    rows = [env.reset(seed=7)[0][0] for env in (vector, waits, in_python)]
    sb3.seed(7)
    sb3.reset()
    over = False
    while not over:
        for row in rows:
            assert (row == observation).all()
        action = int(info["action_mask"].argmax())
        observation, _, over, _, info = single.step(action)
        steps = [env.step(np.array([action])) for env in (vector, waits, in_python)]
        if over:
            finals = [steps[0][4]["final_obs"][0], steps[1][0][0], steps[2][4]["final_obs"][0]]
            for row in finals:
                assert (row == observation).all()
            assert not observation[425:].any()
            assert steps[0][0][0, 425:].any()  # the new episode's
        rows = [step[0][0] for step in steps]
    actions = sb3.action_masks().argmax(axis=1)
    for _ in range(40):
        now, _, dones, infos = sb3.step(actions)
        if dones[0]:
            assert not infos[0]["terminal_observation"][425:].any()
            assert np.asarray(now)[0, 425:].any()
        assert np.asarray(now).dtype == np.float32
        actions = sb3.action_masks().argmax(axis=1)


def test_features_keyword_rejects_other_values_than_bool() -> None:
    with pytest.raises(ValueError, match="features must be True, False or None, got 'all'"):
        six_card_v0.vector_env(2, features="all")
    with pytest.raises(ValueError, match="features must be True, False or None, got 1"):
        six_card_v0.gym_env(features=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="features must be"):
        observation_layout("table_top_v0", "look")  # type: ignore[arg-type]
    assert table_top_v0.vector_env(2, features=False).single_observation_space.dtype == np.uint8
