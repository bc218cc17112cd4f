"""Digests of whole trajectories, recorded in `tests/data`.

    python tests/support/trajectories.py           # write trajectories.json from the present code
    python tests/support/trajectories.py agents    # write agent_trajectories.json

The first file pins the rules of the games and the rule-based agents; the second the agents that
search or learn, whose choices may change when the games do not. Seeds, agents and keywords are
fixed here.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from checkout import DATA
from crib_env import agent_names, find_agent, sample_legal
from crib_env.rules import PRESETS
from first_notation import describe
from not_played import plays

FILE = DATA / "trajectories.json"
AGENTS_FILE = DATA / "agent_trajectories.json"
# Environment, keywords, number of seeds.
GAMES: dict[str, tuple[str, dict[str, Any], int]] = {
    "six_card game": ("six_card_v0", {}, 200),
    "six_card deal": ("six_card_v0", {"episode": "deal", "reward": "points"}, 200),
    "six_card match": ("six_card_v0", {"episode": "match"}, 30),
    "five_card game": ("five_card_v0", {"reward": "points"}, 200),
    "table_top two": ("table_top_v0", {}, 200),
    "table_top four": ("table_top_v0", {"players": 4, "reward": "points"}, 200),
    "ship two": ("table_top_v0", {"rules": "table_top_ship"}, 200),
    "ship four": ("table_top_v0", {"rules": "table_top_ship", "players": 4}, 200),
    "three_hand game": ("three_hand_v0", {}, 200),
    "three_hand go": ("three_hand_v0", {"rules": "three_hand[second_go_ends=True]"}, 200),
    "four_hand game": ("four_hand_v0", {"reward": "points"}, 200),
    "four_hand match": ("four_hand_v0", {"episode": "match"}, 30),
    "four_hand alone": ("four_hand_v0", {"rules": "four_hand[partners=False]"}, 200),
    "discard six": ("discard_v0", {"reward": "points"}, 200),
    "pegging six": ("pegging_v0", {"reward": "points"}, 200),
    "pegging five": ("pegging_v0", {"rules": "five_card"}, 200),
}
POLICIES = ("random", "rule_based")
# In games for three and four `greedy` replaces `rule_based`, which changes more often.
PLAYED = [
    (name, "greedy" if "_hand" in name and policy == "rule_based" else policy)
    for name, policy in product(GAMES, POLICIES)
]


def maker_of(name: str) -> Any:
    """Return the maker of the environments of a configuration of `AGENT_GAMES`."""
    return import_module(f"crib_env.{AGENT_GAMES[name][0]}").maker


QUICK = 5  # the quick tests play the first fifth of the seeds
OPPONENTS = ("random", "greedy", "rule_based")
AGENTS = ("expert", "learned", "equilibrium")
# Episodes of agents against themselves: whole, and from late in a game, where every agent reads
# a model of the probability of winning.
AGENT_GAMES: dict[str, tuple[str, dict[str, Any], int]] = {
    "whole six_card": ("six_card_v0", {}, 10),
    "late six_card": ("six_card_v0", {}, 40),
    "short match": ("six_card_v0", {"rules": "hoyle[match_target=3]", "episode": "match"}, 5),
    "whole five_card": ("five_card_v0", {"reward": "points"}, 10),
    "late five_card": ("five_card_v0", {}, 40),
    "whole table_top": ("table_top_v0", {}, 5),
    "late table_top": ("table_top_v0", {}, 15),
    "late table_top four": ("table_top_v0", {"players": 4}, 15),
    "late ship": ("table_top_v0", {"rules": "table_top_ship"}, 10),
    "late ship four": ("table_top_v0", {"rules": "table_top_ship", "players": 4}, 10),
    "whole three_hand": ("three_hand_v0", {}, 10),
    "late three_hand": ("three_hand_v0", {}, 40),
    "whole four_hand": ("four_hand_v0", {}, 10),
    "late four_hand": ("four_hand_v0", {}, 40),
    "match of four": ("four_hand_v0", {"episode": "match"}, 5),
    "late alone": ("four_hand_v0", {"rules": "four_hand[partners=False]"}, 40),
}
# Points that the sides have still to make in late games, by seed.
NEEDED = [(3, 7, 5, 9), (15, 4, 22, 8), (9, 12, 1, 30), (31, 25, 28, 36), (2, 41, 17, 11), (20, 22, 24, 6)]
BATCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "six_card": ("six_card_v0", {}),
    "five_card": ("five_card_v0", {"reward": "points", "seat": 1}),
    "table_top two": ("table_top_v0", {"reward": "points"}),
    "table_top four": ("table_top_v0", {"players": 4}),
    "three_hand": ("three_hand_v0", {}),
    "four_hand": ("four_hand_v0", {"reward": "points"}),
    "discard": ("discard_v0", {"reward": "points"}),
    "pegging": ("pegging_v0", {"reward": "points"}),
}
MET = list(product(BATCHES, OPPONENTS))
AGENT_BATCHES = [
    (name, agent)
    for name, agent in product(BATCHES, AGENTS)
    if plays(agent, import_module(f"crib_env.{BATCHES[name][0]}").maker.family.name)
    and (agent != "equilibrium" or name == "five_card")
]
AGENT_PLAYED = [
    (name, agent)
    for name, agent in product(AGENT_GAMES, agent_names())
    if agent != "random"
    and plays(agent, maker_of(name).family.name)
    and (agent != "equilibrium" or "five_card" in name)  # no other game is solved
]


def play_games(name: str, policy: str, share: int = 1) -> str:
    """Return the digest of one configuration's episodes, one per seed; ``policy`` plays all seats.

    Args:
        share: play the first 1 / ``share`` of the seeds.
    """
    module, keywords, seeds = (GAMES | AGENT_GAMES)[name]
    env = import_module(f"crib_env.{module}").raw_env(**keywords)
    agent = find_agent(policy)
    digest = hashlib.sha256()
    for seed in range(seeds // share):
        env.reset(seed=seed, options=start_of(env, seed) if name.startswith("late") else None)
        chance = np.random.default_rng(seed)
        while True:
            observation, reward, over, _, _ = env.last()
            seat = env.possible_agents.index(env.agent_selection)
            digest.update(observation["observation"].tobytes())
            digest.update(observation["action_mask"].tobytes())
            digest.update(f"{seat} {reward} {env.scores} {env.events}".encode())
            if over:
                position = describe(env.game).replace(" pegging ", " play ")
                if env.game.rules == PRESETS["five_card"]:
                    position = re.sub(r"(?<= games=)\S+", games_by_skunks(env.scores), position)
                # The first version wrote -0.0 as the reward 0 of side 1.
                rewards = {
                    one: reward or (-0.0 if side else 0.0)
                    for (one, reward), side in zip(env.rewards.items(), env.game.sides, strict=True)
                }
                digest.update(f"{rewards} {position}".encode())
                break
            if policy == "random":
                action = sample_legal(observation["action_mask"][None], chance)[0]
            else:
                action = agent.act(np.array([env.view(seat)]), chance)[0]
            env.step(int(action))
    return digest.hexdigest()[:16]


def games_by_skunks(scores: tuple[int, int]) -> str:
    """Return a finished five-card game's game points as in the first version, with skunks."""
    margin = max(scores) - min(scores)
    points = 1 + (margin > 30) + 2 * (margin > 60)
    return "/".join(str(points * (score == max(scores))) for score in scores)


def start_of(env: Any, seed: int) -> dict[str, Any]:
    """Return the options of a late game."""
    needed = NEEDED[seed % len(NEEDED)][: len(env.scores)]
    return {"scores": [max(0, env.game.rules.target - points) for points in needed]}


def play_batch(name: str, opponent: str) -> str:
    """Return the digest of a native batch against an opponent, with random legal actions."""
    module, keywords = BATCHES[name]
    lanes, steps = (16, 40) if opponent in AGENTS else (64, 200)
    envs = import_module(f"crib_env.{module}").vector_env(lanes, opponent=opponent, **keywords)
    observations, info = envs.reset(seed=1)
    chance = np.random.default_rng(1)
    digest = hashlib.sha256()
    for _ in range(steps):
        digest.update(observations.tobytes() + info["action_mask"].tobytes())
        actions = sample_legal(info["action_mask"], chance)
        observations, rewards, over, _, info = envs.step(actions)
        digest.update(rewards.tobytes() + over.tobytes())
        for lane in over.nonzero()[0]:
            digest.update(info["final_obs"][lane].tobytes())
    return digest.hexdigest()[:16]


def record_games() -> dict[str, str]:
    """Return the digests of the present code, as `FILE` holds them."""
    return record_played(PLAYED) | record_batches(MET)


def record_played(played: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the digests of (configuration, policy) episodes, all and the quick part of them."""
    return {
        f"{name}, {policy}" + (f", 1/{share}" if share > 1 else ""): play_games(name, policy, share)
        for name, policy in played
        for share in (1, QUICK)
    }


def record_batches(batches: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the digests of (environment, opponent) batches."""
    return {f"{name} against {agent}": play_batch(name, agent) for name, agent in batches}


if __name__ == "__main__":
    if sys.argv[1:] == ["agents"]:
        file, digests = AGENTS_FILE, record_batches(AGENT_BATCHES) | record_played(AGENT_PLAYED)
    else:
        file, digests = FILE, record_games()
    file.write_text(json.dumps(digests, indent=2) + "\n")
