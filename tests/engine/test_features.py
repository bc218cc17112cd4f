"""What networks read: `encode` and its layout, and features against a count of every case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import gymnasium
import gymnasium.utils.env_checker
import numpy as np
import pytest

import crib_env
from checkout import ROOT
from crib_env import (
    ENVIRONMENTS,
    Game,
    encode,
    find_agent,
    observation_layout,
    sample_legal,
    six_card_v0,
    table_top_v0,
)
from crib_env.batch import GameBatch
from crib_env.engine.entries import entries_of
from crib_env.engine.hands.records import DISCARD
from crib_env.rules import PRESETS, Rules
from crib_env.scoring import score_hands
from reference.learned_table_top import points_of
from reference.scoring import rank, score_play, value


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("features", [None, "lookahead", True])
def test_encode_writes_what_the_environment_shows(name: str, features: Any) -> None:
    env = getattr(crib_env, name).gym_env(opponent="greedy", features=features)
    observation, info = env.reset(seed=1)
    for _ in range(12):
        encoded, masks = encode(env.view(), features)
        assert encoded.dtype == observation.dtype
        assert np.array_equal(encoded[0], observation)
        assert np.array_equal(masks[0], info["action_mask"])
        observation, _, done, _, info = env.step(int(masks[0].argmax()))
        if done:
            observation, info = env.reset()


def test_encode_takes_one_view_or_many() -> None:
    games = [Game("hoyle", seed=seed) for seed in range(5)]
    views = np.array([game.view(game.seat) for game in games])
    observations, masks = encode(views)
    assert observations.shape == (5, 425)
    assert masks.shape == (5, 52)
    one, _ = encode(games[3].view(games[3].seat))
    assert np.array_equal(one[0], observations[3])


@pytest.mark.parametrize("given", [np.zeros(3), np.zeros((2, 425), dtype=np.uint8)])
def test_what_is_no_view_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"env\.unwrapped\.view\(\)"):
        encode(given)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_slice_has_a_meaning(name: str) -> None:
    layout = observation_layout(name, features=True)
    assert layout.meanings.keys() == layout.keys()
    assert all(meaning.strip() for meaning in layout.meanings.values())
    for row, (part, where) in zip(str(layout).splitlines()[2:], layout.items(), strict=True):
        assert row == f"| `{part}` | {where.start} to {where.stop - 1} | {layout.meanings[part]} |"


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_page_of_observations_names_every_feature(name: str) -> None:
    page = (ROOT / "docs" / "observations.md").read_text()
    tables = page.partition("\n## Features\n")[2].partition("\n## ")[0]
    plain, full = (observation_layout(name, features=level) for level in (None, True))
    for feature in list(full)[len(plain) :]:
        assert f"`{feature}`" in tables


# --- features, in plain Python from the view ------------------------------------------------------


TABLE_TOPS = ("table_top", "table_top_ship")


def seen(games: GameBatch, lanes: Any) -> Any:
    """Return the full observations of the seats to move, float32[K, size]."""
    family = games.family
    views = games.views(lanes)
    bits = np.zeros((len(lanes), family.obs_size), np.uint8)
    masks = np.zeros((len(lanes), family.actions), np.int8)
    entries_of(family).encode(views, bits, masks)
    level = family.level_of(True)
    size = family.actions * len(family.features_at(level))
    return views, entries_of(family).with_features(views, bits, size, level)


def positions(rules: Rules, n: int, seed: int, players: int = 2) -> Iterator[tuple[Any, Any]]:
    """Yield views of random play with what each feature is for each action, by name."""
    games = GameBatch(rules, n, players=players, seed=seed)
    family = games.family
    games.reset()
    lanes = np.arange(n)
    rng = np.random.default_rng(seed)
    agent = find_agent("random")
    for _ in range(12):
        views, observations = seen(games, lanes)
        at = family.obs_size
        for view, row in zip(views, observations, strict=True):
            yield (
                view,
                {
                    one.name: row[at + family.actions * i : at + family.actions * (i + 1)]
                    for i, one in enumerate(family.features_at(len(family.features)))
                },
            )
        games.ask(agent, lanes, rng)
        lanes = games.running(lanes)


def legal_cards(view: Any) -> list[int]:
    return [int(c) for i, c in enumerate(view["hand"]) if view["legal"] >> i & 1]


def unseen(view: Any) -> list[int]:
    known = {int(c) for field in ("hand", "discarded", "pile") for c in view[field]} | {
        view["starter"]
    }
    return [card for card in range(52) if card not in known]


@pytest.mark.parametrize("preset", ["hoyle", "five_card"])
def test_laying_away_every_crib_and_every_starter_is_counted(preset: str) -> None:
    rules = PRESETS[preset]
    looked = [one for one in positions(rules, 4, seed=3) if one[0]["phase"] == DISCARD]
    assert {int(view["discarded_n"]) for view, _ in looked} == {0, 1}
    assert {int(view["dealer"] == 0) for view, _ in looked} == {0, 1}
    for view, features in looked[:5]:
        dealt = [int(c) for c in (*view["hand"], *view["discarded"]) if c >= 0]
        left = unseen(view)
        others = np.array(list(combinations(left, 2)))
        sign = 1 if view["dealer"] == 0 else -1
        value: dict[int, list[tuple[float, float]]] = {}
        for pair in combinations(dealt, 2):
            if view["discarded_n"] and int(view["discarded"][0]) not in pair:
                continue
            kept = [card for card in dealt if card not in pair]
            hand = score_hands([kept] * len(left), left, rules).mean()
            total = count = 0
            for starter in left:
                discarded = others[(others != starter).all(axis=1)]
                cribs = np.concatenate([np.tile(pair, (len(discarded), 1)), discarded], axis=1)
                total += score_hands(
                    cribs, np.full(len(discarded), starter), rules, crib=True
                ).sum()
                count += len(discarded)
            for card in pair:
                value.setdefault(card, []).append((hand, sign * total / count))
        for card in legal_cards(view):
            most = max(sum(one) for one in value[card])
            found = features["mean_hand"][card], features["mean_crib"][card]
            best = [one for one in value[card] if sum(one) > most - 1e-4]
            assert any(found == pytest.approx(one, abs=1e-4) for one in best), (view, card)
        for name in ("points_now", "reply", "reply_most", "answer", "no_reply"):
            assert not features[name].any()


def pegs(ranks: list[int], count: int, go: int) -> int:
    return sum(score_play(ranks, count)) + ((2 - go) if count == 31 else 0)


def cannot_hold(view: Any) -> int:
    """Return the least value of a card the other can hold: it would have played a smaller one."""
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
def test_in_the_play_every_hand_of_the_other_is_counted(preset: str) -> None:
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
            assert features["points_now"][card] == now
            reply_features = [
                features[name][card] for name in ("reply", "reply_most", "answer", "no_reply")
            ]
            if count == 31:
                assert reply_features == [0, 0, 0, 0]
                continue
            if out:
                last = answer(line, count, 1 - int(view["single_count"]))
                assert reply_features == [0, 0, last, 0]
                continue
            replies = {c: pegs([*line, rank(c)], count + value(c), go)
                       for c in may_hold if count + value(c) <= 31}  # fmt: skip
            answers = [answer([*line, rank(c)], count + value(c), go) for c in replies]
            assert reply_features[1] == max(replies.values(), default=0)
            assert reply_features[2] == pytest.approx(np.mean(answers) if answers else 0, abs=1e-5)
            held = int(view["held_n"][1])
            hands = comb(len(may_hold), held)
            stuck = comb(len(may_hold) - len(replies), held) / hands
            assert reply_features[3] == pytest.approx(stuck, abs=1e-5)
            if hands < 12_000:  # every hand it may hold, one by one
                mean = sum(
                    max(replies.get(c, 0) for c in hand) for hand in combinations(may_hold, held)
                )
                assert reply_features[0] == pytest.approx(mean / hands, abs=1e-5)
                compared += 1
        assert not features["mean_hand"].any()
        assert not features["mean_crib"].any()
    assert compared > 25


@pytest.mark.parametrize("preset", TABLE_TOPS)
@pytest.mark.parametrize("players", [2, 4])
def test_table_top_lines_are_counted_with_every_next_card(preset: str, players: int) -> None:
    cribs = 0
    looked = list(positions(PRESETS[preset], 6, seed=5, players=players))
    for view, features in looked[:: 5 if players == 2 else 9]:
        layout = view["layout"].reshape(5, 5)
        starter, card = int(view["starter"]), int(view["card"])
        known = {int(c) for c in (*view["layout"], *view["crib"], card)}
        left = [c for c in range(52) if c not in known]
        for action in range(26):
            if not view["legal"] >> action & 1:
                assert not any(one[action] for one in features.values())
                continue
            if action == 25:
                cribs += 1
                crib = [starter, *(int(c) for c in view["crib"] if c >= 0)]
                lines = {"own" if view["my_crib"] else "other": (crib, True)}
                size = int(view["crib_flush_size"])
            else:
                row, column = divmod(action, 5)
                size = int(view["flush_size"])
                across = [int(c) for c in layout[row] if c >= 0], row == 2
                down = [int(c) for c in layout[:, column] if c >= 0], column == 2
                own, other = (across, down) if view["scores_rows"] else (down, across)
                lines = {"own": own, "other": other}
            for side in ("own", "other"):
                cards, nob = lines.get(side, ([], False))
                if side not in lines:
                    assert not any(features[f"{side}_{what}"][action]
                                   for what in ("now", "cards", "next"))  # fmt: skip
                    continue

                def adds(line: list[int], new: int, nob: bool = nob, size: int = size,
                         starter: int = starter) -> int:  # fmt: skip
                    turned = starter if nob else None
                    before = points_of(line, turned, size) if line else 0
                    return points_of([*line, new], turned, size) - before

                def mean(line: list[int], left: list[int] = left, adds: Any = adds) -> float:
                    return sum(adds(line, c) for c in left) / len(left) if len(line) < 5 else 0.0

                assert features[f"{side}_cards"][action] == len(cards)
                assert features[f"{side}_now"][action] == adds(cards, card)
                assert features[f"{side}_next"][action] == pytest.approx(
                    mean([*cards, card]) - mean(cards), abs=1e-5
                )
    assert cribs > 3


@pytest.mark.parametrize("name", crib_env.ENVIRONMENTS)
def test_the_layout_names_every_slice_and_the_space_has_its_bounds(name: str) -> None:
    maker = getattr(crib_env, name).maker
    plain = observation_layout(name)
    for features in (*maker.family.features, True):
        layout = observation_layout(name, features)
        assert list(layout)[: len(plain)] == list(plain)
        env = maker.vector_env(64, opponent="greedy", features=features)
        space = env.single_observation_space
        assert space.dtype == np.float32
        assert space.shape == (max(part.stop for part in layout.values()),)
        rng = np.random.default_rng(1)
        observations, info = env.reset(seed=1)
        without = maker.vector_env(64, opponent="greedy")
        bits, _ = without.reset(seed=1)
        for _ in range(30):
            assert ((observations >= space.low) & (observations <= space.high)).all()
            assert (observations[:, : bits.shape[1]] == bits).all()
            last = list(layout)[-1]
            assert not observations[:, layout[last]][info["action_mask"] == 0].any()
            actions = sample_legal(info["action_mask"], rng)
            observations, *_, info = env.step(actions)
            bits = without.step(actions)[0]


def test_all_forms_observe_the_same_and_an_ended_episode_has_none() -> None:
    keywords: dict[str, Any] = {"features": True, "opponent": "greedy", "episode": "deal"}
    single = six_card_v0.gym_env(**keywords)
    vector = six_card_v0.vector_env(1, **keywords)
    waits = six_card_v0.vector_env(
        1, autoreset_mode=gymnasium.vector.AutoresetMode.NEXT_STEP, **keywords
    )
    sb3 = six_card_v0.sb3_env(1, **keywords)
    in_python = six_card_v0.vector_env(
        1, **{**keywords, "opponent": lambda view, rng: int(find_agent("greedy").act(
            np.array([view]), rng)[0])},
    )  # fmt: skip
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


def test_what_is_no_level_of_features_is_refused() -> None:
    with pytest.raises(ValueError, match="features must be True, False or one of 'lookahead'"):
        six_card_v0.vector_env(2, features="all")
    with pytest.raises(ValueError, match="these games have no features"):
        replace(six_card_v0.maker.family, features={}).level_of(True)
    with pytest.raises(ValueError, match="features must be"):
        observation_layout("table_top_v0", "look")
    assert table_top_v0.vector_env(2, features=False).single_observation_space.dtype == np.uint8
