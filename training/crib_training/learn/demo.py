"""The main job in one command: train an agent, evaluate it, and write down how good it is.

    python -m crib_training.learn.demo

Trains MaskablePPO against the rule-based opponent for a few minutes, plays the result on duplicate
deals against every built-in opponent, and writes to ``runs/demo``: ``table.md`` and
``results.json``, ``learning_curve.png``, ``replay.txt`` (a game of the trained agent against the
rule-based one), and the agent itself, ``policy.safetensors``.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np
from crib_agents.adapters.learned import LearnedAgent

from crib_env import six_card_v0
from crib_env.policy import Agent, find_agent
from crib_env.rules import PRESETS
from crib_training.evaluation.evaluate import evaluate
from crib_training.evaluation.figures import phase_table, table
from crib_training.learn import ppo

OPPONENTS = ("random", "greedy", "rule_based")


def replay(first: Agent, second: Agent, seed: int) -> str:
    """Return a game between two agents as text, every position as the seat to move sees it."""
    env = six_card_v0.env(render_mode="ansi")
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    players = (first, second)
    pages = [f"player_0 is {first.name}, player_1 is {second.name}; seed {seed}"]
    while not any(env.terminations.values()):
        seat = env.possible_agents.index(env.agent_selection)
        pages.append(str(env.render()))
        view = np.array([env.view(seat)])
        action = int(players[seat].act(view, rng)[0])
        env.step(action)
    pages.append("; ".join(map(str, env.events)))
    pages.append(f"The end: {env.scores[0]} to {env.scores[1]}")
    return "\n\n".join(pages) + "\n"


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--timesteps", type=int, default=1_200_000, help="decisions to learn from")
    parser.add_argument("--pairs", type=int, default=2000, help="duplicate pairs an opponent")
    parser.add_argument("--seed", type=int, default=1, help="fixes everything")
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), help="folder for results")
    args = parser.parse_args()

    began = time.perf_counter()
    print(f"Training MaskablePPO against rule_based, {args.timesteps:,} decisions ...", flush=True)
    training = ppo.arguments().parse_args(
        ["--timesteps", str(args.timesteps), "--seed", str(args.seed), "--out", str(args.out)]
    )
    agent: LearnedAgent = ppo.train(training)
    trained = time.perf_counter()
    print(f"Trained in {trained - began:.0f} s. Evaluating on duplicate deals ...", flush=True)
    rules = PRESETS["hoyle"]
    compared: list[tuple[Agent, Agent]] = [(agent, find_agent(name)) for name in OPPONENTS]
    compared.append((find_agent("rule_based"), find_agent("greedy")))
    results = [
        evaluate(six_card_v0.maker, rules, a, b, args.pairs, args.seed + 1000) for a, b in compared
    ]

    text = "\n".join(
        [
            table(results),
            "",
            f"{args.pairs} pairs of games a row (same cards, seats swapped), 95 % intervals "
            f"over pairs; trained on {args.timesteps:,} decisions in {trained - began:.0f} s, "
            f"seed {args.seed}, Python {platform.python_version()}.",
            "",
            "Points a deal against rule_based, by role and phase:",
            "",
            phase_table(results[2]),
            "",
        ]
    )
    (args.out / "table.md").write_text(text)
    (args.out / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    (args.out / "replay.txt").write_text(replay(agent, find_agent("rule_based"), args.seed))
    print("\n" + text)
    print(
        f"All done in {time.perf_counter() - began:.0f} s. In {args.out}: table.md, results.json, "
        "learning_curve.png, replay.txt, policy.safetensors"
    )


if __name__ == "__main__":
    main()
