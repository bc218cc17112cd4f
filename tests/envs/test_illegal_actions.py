"""Illegal actions: the reward of one that ends an episode, and `on_illegal="random"`.

That setting plays a random legal action instead, for learners without masks.
"""

from __future__ import annotations

import copy
import warnings
from collections import Counter
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
import stable_baselines3

from aec_walks import legal, over, trajectory
from crib_env import PRESETS, Game, discard_v0, parse_cards, sample_legal, six_card_v0
from crib_env.engine.hands.family import A_CARD, A_HAND
from crib_env.engine.show import JACK, KEYS, show_table
from crib_env.engine.table_top import A_LINE
from crib_env.envs.text import text_aec, text_env
from vector_walks import InPython, every_module, lowest, picture

BAD = 99
DEAL: dict[str, Any] = {"episode": "deal", "reward": "points"}
RANDOM: dict[str, Any] = {**DEAL, "on_illegal": "random"}
IN_A_DEAL = 6  # decisions of each seat of six cards: two discards, four cards played
N = 16


def any_action(rng: np.random.Generator, *size: int) -> Any:
    """Draw numbers of which few are legal actions; some are no actions at all."""
    return rng.integers(-2, 60, size=size)


def expected(action: Any, mask: Any) -> int:
    """Return the info's ``illegal_action``: -1 if legal, -2 if negative, else the action."""
    if 0 <= action < len(mask) and mask[action]:
        return -1
    return int(max(action, -2)) if action >= 0 else -2


# --- a legal action in its place ------------------------------------------------------------------


@every_module
def test_random_legal_aec_plays_full_episodes_and_reports_replacements(module: Any) -> None:
    env = module.env(on_illegal="random")
    env.reset(seed=1)
    rng, said, replaced = np.random.default_rng(1), dict.fromkeys(env.agents, -1), 0
    for agent in env.agent_iter():
        observation, _, ended, cut, info = env.last()
        assert (info, cut) == ({"illegal_action": said[agent]}, False)
        action = None if ended else int(any_action(rng))
        if action is not None:
            said[agent] = expected(action, observation["action_mask"])
            replaced += said[agent] != -1
        env.step(action)
    assert env.game.over
    assert replaced > 2 or module is discard_v0


def reported(form: str, info: Any, ended: Any) -> list[int]:
    """Return the illegal action of each game's last step, by a form's info."""
    if form == "gym":
        return [int(info["illegal_action"])]
    if form == "sb3":
        return [int(one.get("illegal_action", -1)) for one in info]
    found = np.asarray(info["illegal_action"]).copy()
    if ended.any():
        assert (found[ended] == -1).all()  # those of the new episodes
        found[ended] = np.asarray(info["final_info"]["illegal_action"])[ended]
    return [int(one) for one in found]


@pytest.mark.parametrize(
    ("form", "opponent"), [("gym", lowest), ("gym", "greedy"), ("sb3", lowest), ("torch", "greedy")]
)
def test_random_legal_learner_plays_full_episodes_and_reports_replacements(form: str, opponent: Any) -> None:
    """`vector_env` is compared with single games in `test_vector.py`, replacements included."""
    env = getattr(six_card_v0, f"{form}_env")(*[N] * (form != "gym"), opponent=opponent, **RANDOM)
    env.reset()
    rng, seen = np.random.default_rng(1), []
    lengths = np.zeros(env.batch.num_envs, dtype=int)
    for _ in range(40):
        masks = np.atleast_2d(env.action_masks())
        actions = any_action(rng, len(masks))
        said = [expected(action, mask) for action, mask in zip(actions, masks, strict=True)]
        info = env.step(int(actions[0]) if form == "gym" else actions)[-1]
        ended = env.batch.dones.copy()
        assert reported(form, info, ended) == said
        lengths += 1
        seen += lengths[ended].tolist()
        lengths[ended] = 0
        if form == "gym" and ended.any():
            env.reset()
    assert len(seen) > 4 * len(lengths)
    assert set(seen) == {IN_A_DEAL}


@every_module
def test_random_legal_without_illegal_actions_changes_nothing(module: Any) -> None:
    """Deals, opponents and results are those of the other settings, seed by seed."""

    def played(on_illegal: str) -> tuple[Any, ...]:
        env = module.raw_env(on_illegal=on_illegal)
        env.reset(seed=4)
        games = module.vector_env(4, on_illegal=on_illegal, opponent="random", seat=None)
        return trajectory(env, seed=2, decisions=40), picture(games, seed=4, steps=30)

    assert played("random") == played("terminate") == played("raise")


@pytest.mark.parametrize("form", ["aec", "vector"])
def test_random_legal_draws_uniformly(form: str) -> None:
    n = 3000 if form == "vector" else 600
    many: Any = six_card_v0.vector_env(n, opponent=lowest, seat=0, on_illegal="random")
    env = six_card_v0.env(on_illegal="random")
    drawn = np.zeros(n, dtype=int)
    if form == "vector":
        _, info = many.reset(seed=1, options={"decks": [list(range(52))], "dealer": 1})
        held = info["action_mask"]
        *_, info = many.step(np.full(n, BAD))
        drawn = np.nonzero(held > info["action_mask"])[1]
    else:
        for k in range(n):
            env.reset(seed=1 if k == 0 else None, options={"decks": [list(range(52))], "dealer": 1})
            before = env.observe("player_0")["action_mask"]
            env.step(BAD)
            drawn[k] = np.flatnonzero(before.astype(int) > env.game.mask)[0]
    cards, counts = np.unique(drawn, return_counts=True)
    assert len(cards) == 6
    assert abs(counts * 6 / n - 1).max() < 4 * (5 / n) ** 0.5  # four standard deviations


def going_on(env: Any, seed: int) -> list[Any]:
    """Return the results of steps with mostly illegal actions."""
    rng, seen = np.random.default_rng(seed), []
    for _ in range(12):
        if hasattr(env, "agent_selection"):
            env.step(int(any_action(rng)))
            seen.append([env.game.notation(), env.agent_selection, copy.deepcopy(env.infos)])
        else:
            observations, rewards, ended, _, info = env.step(any_action(rng, N))
            seen.append([np.asarray(part).tolist() for part in (observations, rewards, ended, info["illegal_action"])])
    return seen


def test_random_legal_copies_snapshots_threads_and_python_opponents_draw_alike() -> None:
    """The replacement comes from the game's generator, so every form draws the same."""
    env, other = (six_card_v0.env(on_illegal="random") for _ in range(2))
    env.reset(seed=3)
    going_on(env, 0)
    other.restore(env.snapshot())
    batches = []
    for opponent, threads in (("greedy", 1), ("greedy", 3), (InPython("greedy"), 1)):
        batches.append(six_card_v0.vector_env(N, opponent=opponent, threads=threads, **RANDOM))
        batches[-1].reset(seed=3)
        going_on(batches[-1], 0)
    one, *more = batches
    pairs = [(env, other), (env, copy.deepcopy(env)), (one, copy.deepcopy(one))]
    for played, twin in [*pairs, *((one, batch) for batch in more)]:
        assert going_on(copy.deepcopy(played), 1) == going_on(twin, 1)


def test_sb3_learns_without_masks_over_whole_episodes() -> None:
    env = six_card_v0.sb3_env(8, opponent="greedy", **RANDOM)
    small = {"n_steps": 32, "batch_size": 128, "n_epochs": 1, "policy_kwargs": {"net_arch": [32]}}
    model = stable_baselines3.PPO("MlpPolicy", env, seed=1, device="cpu", **small)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*mask")  # it needs none
        model.learn(256)
    lengths = [episode["l"] for episode in model.ep_info_buffer]
    assert len(lengths) == 8 * (32 // IN_A_DEAL)
    assert set(lengths) == {IN_A_DEAL}


# --- the reward of an action that ends the episode ------------------------------------------------


@every_module
def test_illegal_reward_is_below_every_return_to_go(module: Any) -> None:
    """At each decision of random play, for every episode and reward."""
    maker, rng = module.maker, np.random.default_rng(1)
    for episode in maker.episodes:
        match = episode == "match" and not PRESETS[maker.rules].match_target
        rules = f"{maker.rules}[match_target=7]" if match else None
        for reward in ("win", "points", *maker.family.expected):
            env = module.raw_env(rules=rules, episode=episode, reward=reward)
            for seed in range(4 if episode in ("deal", "round") else 1):
                env.reset(seed=seed)
                paid = []
                while not over(env):
                    env.step(int(rng.choice(legal(env))))
                    paid.append([env.rewards[agent] for agent in env.possible_agents])
                assert np.cumsum(paid[::-1], axis=0).min() >= env.illegal_reward, (episode, reward, seed)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_illegal_reward_follows_the_rules(preset: str) -> None:
    """The target of the rules bounds a game; a deal has no more than its cards make."""
    rules = PRESETS[preset]
    family = Game(preset).family
    short = rules.preset(preset, target=31)
    full, less = (family.illegal_reward(one, "game", "points", None) for one in (rules, short))
    assert full - less == 31 - rules.target
    episode = "deal" if "deal" in family.episodes else "round"
    assert full <= family.illegal_reward(rules, episode, "points", None) < -1
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
    rng, game, most = np.random.default_rng(1), Game("hoyle", episode="pegging", seed=1), 0
    for _ in range(300):
        # Few ranks in both hands: pairs, threes and fours.
        dealt = [4 * rank + suit for rank in rng.choice(13, 4, replace=False) for suit in range(4)]
        dealt = rng.permutation(dealt)[:12].tolist()
        game.reset(decks=[[*dealt, *(card for card in range(52) if card not in dealt)]])
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


@pytest.mark.parametrize("form", ["aec", "gym", "text aec", "text gym", "vector", "sb3", "torch"])
def test_illegal_reward_is_equal_in_every_form(form: str) -> None:
    words, action = "text" in form, "no idea" if "text" in form else BAD
    if "aec" in form:
        env: Any = text_aec("six_card_v0", retries=0, **DEAL) if words else six_card_v0.env(**DEAL)
        env.reset(seed=1)
        mover = env.agent_selection
        env.step(action)
        assert env.unwrapped.rewards == dict.fromkeys(env.possible_agents, 0.0) | {mover: -120.0}
        assert env.unwrapped.illegal_reward == -120.0
        return
    single = "gym" in form
    make = getattr(six_card_v0, f"{form}_env", None)
    env = make(*[2] * (not single), opponent=lowest, **DEAL) if make else text_env("six_card_v0", retries=0, **DEAL)
    env.reset()
    _, paid, ended, *_ = env.step(action if single else np.full(2, BAD))
    assert np.all(np.asarray(ended))
    assert set(np.atleast_1d(np.asarray(paid)).tolist()) == {-120.0}
    assert getattr(env, "env", env).illegal_reward == -120.0
