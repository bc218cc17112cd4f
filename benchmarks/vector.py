"""How many steps per second does ``gymnasium.make_vec`` make when NumPy actions are given?

Only ``step`` is timed. The actions are the first legal ones (``argmax`` of the mask), computed
outside the clock. The opponent is ``random``, so a step is about two decisions of the game. The
verdicts are on six-card cribbage; the other games are beside it for comparison, those in which a
policy plays a phase with every such policy, and six-card with features (`docs/observations.md`).
"""

from __future__ import annotations

import time
from typing import Any

import gymnasium

from benchmarks import peers
from benchmarks.gym_single import in_python
from benchmarks.timing import FULL, Contender, Findings, Rate, Row, Settings, race, ratio
from crib_env.registration import ENVIRONMENTS

AGENTS = ("random", "greedy", "rule_based")
# Whose first row is held against OpenSpiel's states, and the players. OpenSpiel's loop counts the
# decisions of all seats; each of ours makes as many as the learner, one a step.
PLAYERS = {"SixCard-v0": 2, "ThreeHand-v0": 3, "FourHand-v0": 4}
# The keyword of the phase policy.
POLICIES = {"Discard-v0": "pegging_policy", "Pegging-v0": "discard_policy"}


def rate_of_steps(env: Any) -> Rate:
    """Return the rate of ``env.step``, choosing actions left out of the clock."""
    _, info = env.reset(seed=1)
    masks: Any = info["action_mask"]
    games: int = env.num_envs

    def rate(seconds: float) -> float:
        nonlocal masks
        spent = 0.0
        steps = 0
        while spent < seconds or not steps:
            actions = masks.argmax(axis=1)
            began = time.perf_counter()
            _, _, _, _, info = env.step(actions)
            spent += time.perf_counter() - began
            steps += 1
            masks = info["action_mask"]
        return steps * games / spent

    return rate


def measure(settings: Settings = FULL) -> Findings:
    """Measure one thread with and without copies, and the threads it chooses by itself."""
    n = 64 if settings.quick else 4096

    def contender(name: str, copy: bool, threads: int, **chosen: Any) -> Contender:
        env = gymnasium.make_vec(
            f"crib_env/{name}", num_envs=n, opponent="random", copy=copy, threads=threads, **chosen
        )
        how = f"copy={copy}, {threads} thread{'s' * (threads > 1)}"
        how += "".join(f", {keyword}={value}" for keyword, value in chosen.items())
        return Contender(f"make_vec {name}, N={n}, {how}", rate_of_steps(env))

    six_card, *others = ENVIRONMENTS.values()
    contenders = [
        contender(six_card, False, 1),
        contender(six_card, True, 1),
        contender(six_card, False, 2),
        contender(six_card, False, 1, features="lookahead"),
        contender(six_card, False, 1, features="reply"),
    ]
    notes = in_python(AGENTS)
    for name in others:
        policies = [{POLICIES[name]: agent} for agent in AGENTS] if name in POLICIES else [{}]
        contenders += [contender(name, False, 1, **policy) for policy in policies]
    ours = len(contenders)
    if settings.peers:
        found, missing = peers.open_spiel(tuple(PLAYERS.values()))
        contenders += found
        notes += missing
    rows = race(contenders, "steps/s", settings)
    ratios = [ratio(f"make_vec {six_card}, N={n}: 2 threads / 1 thread", rows[2], rows[0])]
    for name, players in PLAYERS.items():
        row = next(row for row in rows if f" {name}," in row.name)
        every = Row(f"{name}, decisions of all seats", "/s", tuple(players * x for x in row.values))
        ratios += [
            ratio(f"make_vec {every.name} / {peer.name}", every, peer)
            for peer in rows[ours:] if f"for {players}," in peer.name
        ]  # fmt: skip
    return Findings("Vector environment, actions given", rows, ratios, notes)
