"""`on_illegal="random"`: a legal action is played instead, for learners that take no mask."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

from crib_env import discard_v0, sample_legal, six_card_v0
from vector_walks import InPython, every_module, lowest

DEAL: dict[str, Any] = {"episode": "deal", "reward": "points", "on_illegal": "random"}
IN_A_DEAL = 6  # decisions of each seat of six cards: two discards, four cards played
N = 16
every_opponent = pytest.mark.parametrize("opponent", ["greedy", lowest], ids=["compiled", "python"])


def any_action(rng: np.random.Generator, *size: int) -> Any:
    """Draw numbers of which few are legal: some are no action at all."""
    return rng.integers(-2, 60, size=size)


def expected(action: Any, mask: Any) -> int:
    """Return the entries of the info about an action."""
    if 0 <= action < len(mask) and mask[action]:
        return -1
    return int(max(action, -2)) if action >= 0 else -2


@every_module
def test_random_legal_aec_plays_full_episodes_and_reports_replacements(module: Any) -> None:
    env = module.env(on_illegal="random")
    assert env.on_illegal == "random"
    env.reset(seed=1)
    rng, said, replaced = np.random.default_rng(1), dict.fromkeys(env.agents, -1), 0
    for agent in env.agent_iter():
        observation, _, ended, cut, info = env.last()
        assert info == {"illegal_action": said[agent]}
        assert not cut
        if ended:
            env.step(None)
            continue
        action = int(any_action(rng))
        said[agent] = expected(action, observation["action_mask"])
        replaced += said[agent] != -1
        env.step(action)
    assert env.game.over
    assert replaced > 2 or module is discard_v0


@every_module
@every_opponent
def test_random_legal_single_game_plays_full_episodes_and_reports_replacements(
    module: Any, opponent: Any
) -> None:
    env = module.gym_env(on_illegal="random", opponent=opponent)
    rng, replaced = np.random.default_rng(1), 0
    for episode in range(3):
        _, info = env.reset(seed=episode)
        assert info["illegal_action"] == -1
        ended = False
        while not ended:
            mask, action = info["action_mask"], int(any_action(rng))
            *_, ended, cut, info = env.step(action)
            assert info["illegal_action"] == expected(action, mask)
            assert not cut
            replaced += info["illegal_action"] != -1
        assert env.game.over
    assert replaced > 2


@pytest.mark.parametrize("form", ["sb3", "torch"])
@every_opponent
def test_random_legal_batch_plays_full_episodes_and_reports_replacements(
    form: str, opponent: Any
) -> None:
    """`vector_env` is compared with single games in `test_vector.py`, replacements included."""
    env = getattr(six_card_v0, f"{form}_env")(N, opponent=opponent, **DEAL)
    env.seed(1) if form == "sb3" else env.reset(seed=1)
    if form == "sb3":
        env.reset()
    rng, lengths, seen = np.random.default_rng(1), np.zeros(N, dtype=int), []
    for _ in range(40):
        masks, actions = env.action_masks(), any_action(rng, N)
        said = [expected(action, mask) for action, mask in zip(actions, masks, strict=True)]
        info = env.step(actions)[-1]
        ended, found = env.batch.dones.copy(), np.full(N, -1)
        if form == "sb3":
            found[:] = [one.get("illegal_action", -1) for one in info]
        else:
            found[:] = info["illegal_action"]
            if ended.any():
                assert (found[ended] == -1).all()  # those of the new episodes
                found[ended] = np.asarray(info["final_info"]["illegal_action"])[ended]
        assert found.tolist() == said
        lengths += 1
        seen += lengths[ended].tolist()
        lengths[ended] = 0
    assert len(seen) > 4 * N
    assert set(seen) == {IN_A_DEAL}


@every_module
@pytest.mark.parametrize("form", ["aec", "gym", "vector"])
def test_random_legal_without_illegal_actions_changes_nothing(module: Any, form: str) -> None:
    """Deals, opponents and results are those of the other settings, seed by seed."""

    def played(on_illegal: str) -> list[Any]:
        rng = np.random.default_rng(2)
        if form == "vector":
            env = module.vector_env(4, on_illegal=on_illegal, opponent="random", seat=None)
            _, info = env.reset(seed=4)
            seen = []
            for _ in range(40):
                *result, info = env.step(sample_legal(info["action_mask"], rng))
                seen.append([part.tolist() for part in (*result, info["seat"], info["scores"])])
            return seen
        env = module.env if form == "aec" else module.gym_env
        env = env(on_illegal=on_illegal, **({} if form == "aec" else {"opponent": "random"}))
        seen = []
        for seed in (4, None):
            result = env.reset(seed=seed)
            for _ in range(30):
                mask = env.game.mask if form == "aec" else result[-1]["action_mask"]
                if not mask.any() or (form == "aec" and env.game.over):
                    break
                result = env.step(sample_legal(mask, rng))
                game = env.game
                seen.append((game.notation(), game.scores, getattr(env, "rewards", None)))
        return seen

    assert played("random") == played("terminate") == played("raise")


@pytest.mark.parametrize("form", ["aec", "vector"])
def test_random_legal_draws_uniformly(form: str) -> None:
    options = {"decks": [list(range(52))], "dealer": 1}
    n = 3000 if form == "vector" else 600
    if form == "vector":
        env: Any = six_card_v0.vector_env(n, opponent=lowest, seat=0, on_illegal="random")
        _, info = env.reset(seed=1, options=options)
        held = info["action_mask"]
        *_, info = env.step(np.full(n, 99))
        drawn = np.nonzero(held > info["action_mask"])[1]
    else:
        env, drawn = six_card_v0.env(on_illegal="random"), np.zeros(n, dtype=int)
        for k in range(n):
            env.reset(seed=1 if k == 0 else None, options=options)
            before = env.observe("player_0")["action_mask"]
            env.step(99)
            drawn[k] = np.flatnonzero(before.astype(int) > env.game.mask)[0]
    cards, counts = np.unique(drawn, return_counts=True)
    assert len(cards) == 6
    assert abs(counts * 6 / n - 1).max() < 0.4


def going_on(env: Any, seed: int) -> list[Any]:
    """Return all that an environment says while mostly illegal actions are taken."""
    rng, seen = np.random.default_rng(seed), []
    for _ in range(12):
        if hasattr(env, "agent_selection"):
            env.step(int(any_action(rng)))
            seen.append([env.game.notation(), env.agent_selection, copy.deepcopy(env.infos)])
        else:
            observations, rewards, ended, _, info = env.step(any_action(rng, N))
            seen.append([np.asarray(part).tolist() for part in
                         (observations, rewards, ended, info["illegal_action"])])  # fmt: skip
    return seen


def test_random_legal_copies_and_snapshots_draw_alike() -> None:
    env, other = (six_card_v0.env(on_illegal="random") for _ in range(2))
    env.reset(seed=3)
    going_on(env, 0)
    other.restore(env.snapshot())
    batch = six_card_v0.vector_env(N, opponent="greedy", **DEAL)
    batch.reset(seed=3)
    going_on(batch, 0)
    for one, twin in ((env, other), (env, copy.deepcopy(env)), (batch, copy.deepcopy(batch))):
        played = copy.deepcopy(one)
        assert going_on(played, 1) == going_on(twin, 1)


def test_random_legal_threads_and_python_opponents_draw_alike() -> None:
    """The replacement comes from the game's generator, so every form draws the same."""
    seen = []
    for opponent, threads in (("greedy", 1), ("greedy", 3), (InPython("greedy"), 1)):
        env = six_card_v0.vector_env(N, opponent=opponent, threads=threads, **DEAL)
        env.reset(seed=3)
        seen.append(going_on(env, 1))
    assert seen[0] == seen[1] == seen[2]


def test_random_legal_gives_no_mask_warning() -> None:
    env = six_card_v0.vector_env(N, opponent="greedy", **DEAL)
    env.reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(40):
            env.step(np.full(N, 99))


@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_sb3_learns_without_masks_over_whole_episodes(algorithm: str) -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    settings: dict[str, Any] = {"seed": 1, "device": "cpu", "policy_kwargs": {"net_arch": [32]}}
    if algorithm == "PPO":
        settings |= {"n_steps": 32, "batch_size": 64, "n_epochs": 2}
    else:
        settings |= {"learning_starts": 50, "buffer_size": 1000, "batch_size": 32}
    env = six_card_v0.sb3_env(8, opponent="greedy", **DEAL)
    model = getattr(sb3, algorithm)("MlpPolicy", env, **settings)
    model.learn(512)
    lengths = [episode["l"] for episode in model.ep_info_buffer]
    assert len(lengths) > 40
    assert set(lengths) == {IN_A_DEAL}
