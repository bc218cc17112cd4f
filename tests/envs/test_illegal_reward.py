"""An illegal action that ends an episode pays less than any legal course, in every form."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from crib_env import PRESETS, Game, parse_cards, sample_legal, six_card_v0
from crib_env.engine.hands.family import A_CARD, A_HAND
from crib_env.engine.show import JACK, KEYS, show_table
from crib_env.engine.table_top import A_LINE
from crib_env.envs.text import text_aec, text_env
from vector_walks import every_module, lowest

BAD = 99
DEAL: dict[str, Any] = {"episode": "deal", "reward": "points"}


@every_module
def test_illegal_reward_is_below_every_return_to_go(module: Any) -> None:
    """At each decision of random play against `greedy`, for every episode and reward."""
    maker, rng = module.maker, np.random.default_rng(1)
    for episode in maker.episodes:
        match = episode == "match" and not PRESETS[maker.rules].match_target
        rules = f"{maker.rules}[match_target=7]" if match else None
        for reward in ("win", "points", *maker.family.expected):
            env = module.gym_env(opponent="greedy", rules=rules, episode=episode, reward=reward)
            games = 12 if episode in ("deal", "round") else 1
            for seed in range(games):
                _, info = env.reset(seed=seed)
                rewards, ended = [], False
                while not ended:
                    action = sample_legal(info["action_mask"], rng)
                    _, paid, ended, _, info = env.step(action)
                    rewards.append(paid)
                to_go = np.cumsum(rewards[::-1])
                assert to_go.min() >= env.illegal_reward, (episode, reward, seed)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_illegal_reward_follows_the_rules(preset: str) -> None:
    """The target of the rules bounds a game; a deal has no more than its cards make."""
    rules = PRESETS[preset]
    family = Game(preset).family
    short = rules.preset(preset, target=31)
    full, less = (family.illegal_reward(one, "game", "points", None) for one in (rules, short))
    assert full - less == 31 - rules.target
    deal = family.illegal_reward(rules, "deal" if "deal" in family.episodes else "round",
                                 "points", None)  # fmt: skip
    assert full <= deal < -1
    assert family.illegal_reward(rules, "game", "win", None) == -1


def test_worst_loss_counts_the_most_points_of_five_cards() -> None:
    """A hand of five ranks with every flush and nob that it could have makes 29 or less."""
    table, most = show_table(), 0
    for ranks in combinations_with_replacement(range(13), 5):
        if max(Counter(ranks).values()) > 4:
            continue
        alone = len(set(ranks))  # cards of one suit have different ranks
        points = int(table[sum(KEYS[rank] for rank in ranks)])
        most = max(most, points + (alone if alone > 2 else 0) + (JACK in ranks))
    assert most == A_HAND == A_LINE


def test_worst_loss_counts_the_most_points_of_a_card_played() -> None:
    rng, most = np.random.default_rng(1), 0
    for seed in range(300):
        game = Game("hoyle", episode="pegging", seed=seed)
        # Few ranks in both hands: pairs, threes and fours.
        ranks = rng.choice(13, 4, replace=False)
        dealt = rng.permutation([4 * rank + suit for rank in ranks for suit in range(4)])[:12]
        rest = [card for card in range(52) if card not in set(dealt.tolist())]
        game.reset(decks=[[*dealt.tolist(), *rest]])
        while not game.over:
            game.step(sample_legal(game.mask, rng))
            most = max(most, sum(event.points for event in game.events))
    assert 12 <= most <= A_CARD


def test_illegal_reward_is_below_the_best_deal_of_the_other_side() -> None:
    """The dealer holds the hand of 29 and turns its starter; -1 would have paid better."""
    mine, theirs = parse_cards("2C 3D 6C 8H 9S KD"), parse_cards("5C 5D 5H JS 4D 6D")
    deck = [card for pair in zip(mine, theirs, strict=True) for card in pair]
    deck += parse_cards("5S")
    deck += [card for card in range(52) if card not in deck]
    env = six_card_v0.gym_env(opponent="rule_based", seat=0, **DEAL)
    env.reset(seed=1, options={"decks": [deck], "dealer": 1})
    total, ended = 0.0, False
    while not ended:
        _, paid, ended, _, _ = env.step(int(np.flatnonzero(env.action_masks())[0]))
        total += paid
    assert env.illegal_reward < total < -20


def paid_by(form: str) -> tuple[float, float]:
    """Return the illegal-action reward in a deal of six cards, and the expected one."""
    if form in ("aec", "text aec"):
        env: Any = text_aec("six_card_v0", retries=0, **DEAL) if "text" in form else None
        env = env or six_card_v0.env(**DEAL)
        env.reset(seed=1)
        agent = env.agent_selection
        env.step("no idea" if "text" in form else BAD)
        others = {one: paid for one, paid in env.unwrapped.rewards.items() if one != agent}
        assert set(others.values()) == {0.0}
        return env.unwrapped.rewards[agent], env.unwrapped.illegal_reward
    if form in ("gym", "text gym"):
        env = text_env("six_card_v0", retries=0, **DEAL) if "text" in form else None
        env = env or six_card_v0.gym_env(**DEAL)
        env.reset(seed=1)
        _, paid, ended, _, _ = env.step("no idea" if "text" in form else BAD)
        assert ended
        return paid, (env.env if "text" in form else env).illegal_reward
    made = {
        "vector": lambda: six_card_v0.vector_env(2, opponent="greedy", **DEAL),
        "in Python": lambda: six_card_v0.vector_env(2, opponent=lowest, **DEAL),
        "sb3": lambda: six_card_v0.sb3_env(2, opponent="greedy", **DEAL),
        "torch": lambda: six_card_v0.torch_env(2, opponent="greedy", **DEAL),
    }
    if form in ("sb3", "torch"):
        pytest.importorskip("stable_baselines3")
    env = made[form]()
    env.reset()
    result = env.step(np.full(2, BAD))
    assert result[2].all()
    (paid,) = set(result[1].tolist())
    return paid, env.illegal_reward


@pytest.mark.parametrize(
    "form", ["aec", "text aec", "gym", "text gym", "vector", "in Python", "sb3", "torch"]
)
def test_illegal_reward_is_equal_in_every_form(form: str) -> None:
    paid, promised = paid_by(form)
    assert paid == promised == -120.0
