"""A policy that plays a phase: compiled or called in Python, the games are equal."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from crib_agents import GreedyAgent
from gymnasium.vector import AutoresetMode
from numba.core import config

import crib_env
from benchmarks.batch import rollout_of
from crib_env import discard_v0, parse_cards, pegging_v0, six_card_v0
from crib_env.batch import GameBatch
from crib_env.engine.hands.records import DISCARD, PEGGING
from crib_env.engine.record import LOG_SIZE
from crib_env.engine.show import show_table
from crib_env.policy import CompiledAgent
from crib_env.rules import PRESETS
from vector_walks import InPython, picture

KEYWORD = {discard_v0: "pegging_policy", pegging_v0: "discard_policy"}
both = pytest.mark.parametrize("module", [discard_v0, pegging_v0], ids=["discard", "pegging"])
LANES = 5 if config.DISABLE_JIT else 12
STEPS = 12 if config.DISABLE_JIT else 80


def make(module: ModuleType, policy: Any, opponent: Any, n: int = LANES, **keywords: Any) -> Any:
    return module.vector_env(n, opponent=opponent, **{KEYWORD[module]: policy}, **keywords)


@both
@pytest.mark.parametrize(("policy", "opponent"), [("greedy", "rule_based"), ("rule_based", "greedy")])
@pytest.mark.parametrize(
    "keywords",
    [
        {"seat": None},
        {"seat": 1, "reward": "points", "rules": "five_card"},
        {"seat": None, "reward": "points", "autoreset_mode": AutoresetMode.NEXT_STEP},
    ],
    ids=["win", "points", "next step"],
)
def test_phase_policy_compiled_plays_as_in_python(
    module: ModuleType, policy: str, opponent: str, keywords: dict[str, Any]
) -> None:
    compiled = make(module, policy, opponent, **keywords)
    in_python = make(module, policy, InPython(opponent), **keywords)
    assert picture(compiled, seed=1, steps=STEPS) == picture(in_python, seed=1, steps=STEPS)


@pytest.mark.parametrize("episode", ["game", "match"])
def test_phase_batch_starts_the_next_deal_after_an_ended_one(episode: str) -> None:
    keywords = {"seat": None, "episode": episode, "reward": "points"}
    compiled = make(discard_v0, "greedy", "rule_based", **keywords)
    in_python = make(discard_v0, InPython("greedy"), "rule_based", **keywords)
    assert picture(compiled, seed=3, steps=2 * STEPS) == picture(in_python, seed=3, steps=2 * STEPS)


@both
def test_illegal_actions_end_the_same_games(module: ModuleType) -> None:
    envs = make(module, "greedy", "greedy"), make(module, "greedy", InPython("greedy"))
    rng = np.random.default_rng(4)
    for env in envs:
        env.reset(seed=4)
    illegal = 0
    for _ in range(STEPS):
        actions = rng.integers(-1, 53, size=LANES)
        masks = envs[0].batch.masks
        actions = np.where(rng.random(LANES) < 0.2, actions, masks.argmax(axis=1))
        fine = (actions >= 0) & (actions < 52)
        fine &= masks[np.arange(LANES), np.where(fine, actions, 0)] == 1
        first, second = (env.step(actions) for env in envs)
        assert all(np.array_equal(a, b) for a, b in zip(first[:4], second[:4], strict=True))
        assert first[2][~fine].all()
        assert (first[1][~fine] == -1).all()
        illegal += int((~fine).sum())
    assert illegal > 0


@both
@pytest.mark.parametrize("policy", ["random", "greedy", "rule_based"])
def test_phase_policy_by_name_plays_inside_the_compiled_batch(
    module: ModuleType, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("an agent was called in Python")

    monkeypatch.setattr(CompiledAgent, "act", refuse)
    picture(make(module, policy, "random"), seed=7, steps=10)
    with pytest.raises(AssertionError, match="called in Python"):
        picture(make(module, InPython(policy), "random"), seed=7, steps=10)


@both
def test_phase_policy_random_draws_separately_in_every_game(module: ModuleType) -> None:
    """Deals and actions are equal, so only separate draws of the policy can make games differ."""
    deck = np.random.default_rng(8).permutation(52)
    env = make(module, "random", "greedy", n=16, seat=0)
    _, info = env.reset(seed=8, options={"decks": [deck], "dealer": 0})
    for _ in range(2):
        *_, info = env.step(info["action_mask"].argmax(axis=1))
    assert len(np.unique(env.batch.final_obs if module is discard_v0 else env.batch.obs, axis=0)) > 4


@pytest.mark.parametrize("who", ["policy", "opponent", "opponent without a policy"])
def test_phase_policy_subclass_override_is_used(who: str) -> None:
    sizes = []

    class Counts(GreedyAgent):
        def act(self, views: Any, rng: np.random.Generator) -> Any:
            sizes.append(len(views))
            return super().act(views, rng)

    if who == "opponent without a policy":
        picture(six_card_v0.vector_env(4, opponent=Counts()), seed=7, steps=4)
    else:
        players = (Counts(), "greedy") if who == "policy" else ("greedy", Counts())
        picture(make(pegging_v0, *players), seed=7, steps=4)
    assert sizes


def test_pegging_points_exclude_heels() -> None:
    cards = parse_cards("4C 5D 6H 8S TC QC 2D 3H 4S 6D 7H KS JD")
    deck = [*cards, *(card for card in range(52) if card not in cards)]
    env = make(pegging_v0, "greedy", "greedy", n=2, seat=0)
    env.reset(seed=10, options={"decks": [deck], "dealer": 0})
    assert (env.batch.states["starter"] == parse_cards("JD")[0]).all()
    assert not env.batch.states["scores"].any()


class Rollout:
    """Random play of games in which a random policy plays ``phase``."""

    def __init__(self, episode: str, phase: int) -> None:
        self.games = GameBatch(PRESETS["hoyle"], LANES, episode=episode, seed=11)
        self.games.reset()
        family = self.games.family
        self.rngs = np.random.default_rng(11).integers(1 << 32, size=(LANES, 4))
        self.views = np.zeros(1, dtype=family.view)
        self.log = np.zeros(LOG_SIZE, dtype=np.int64)
        self.obs = np.zeros((LANES, family.obs_size), dtype=np.uint8)
        self.masks = np.zeros((LANES, family.actions), dtype=np.int8)
        self.phase = phase

    def play(self, steps: int, lo: int = 0, hi: int = LANES) -> int:
        games = self.games
        played: int = rollout_of(games.family)(
            games.states, games.record, games.decks, show_table(), self.rngs, self.views, self.log,
            lo, hi, self.phase, steps, self.obs, self.masks,
        )  # fmt: skip
        return played


@pytest.mark.parametrize(("episode", "phase"), [("deal", PEGGING), ("game", PEGGING), ("pegging", DISCARD)])
def test_rollout_leaves_the_phase_to_the_policy(episode: str, phase: int) -> None:
    games = Rollout(episode, phase)
    in_play = crib_env.observation_layout("six_card_v0")["pegging"]
    for _ in range(STEPS):
        assert games.play(1) == LANES
        assert games.masks.any(axis=1).all()
        assert (games.obs[:, in_play] == (phase == DISCARD)).all()


def test_rollout_in_parts_equals_one_rollout() -> None:
    whole, parts = Rollout("deal", PEGGING), Rollout("deal", PEGGING)
    assert whole.play(STEPS) == STEPS * LANES
    for lo, hi in ((0, 3), (3, LANES)):
        for _ in range(STEPS):
            parts.play(1, lo, hi)
    assert np.array_equal(whole.games.states, parts.games.states)
    for array in ("rngs", "obs", "masks"):
        assert np.array_equal(getattr(whole, array), getattr(parts, array)), array
