"""The main job in one command: train an agent, evaluate it, and write down how good it is.

    python -m crib_training.learn.demo

Trains MaskablePPO against the rule-based opponent for a few minutes, plays the result on duplicate
deals against every built-in opponent, and writes to ``runs/demo``: ``table.md`` and
``results.json``, ``learning_curve.png``, ``replay.txt`` (a game of the trained agent against the
rule-based one), and the agent itself, ``policy.safetensors``.
"""

from __future__ import annotations

import json
import platform
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crib_env import six_card_v0
from crib_env.policy import Agent, find_agent
from crib_env.rules import PRESETS
from crib_training.command_line import start
from crib_training.evaluation.evaluate import evaluate
from crib_training.evaluation.figures import comparison_table, phase_table
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


@dataclass(frozen=True)
class Settings:
    """Train an agent, evaluate it, and write down how good it is.

    Attributes:
        timesteps: decisions to learn from.
        pairs: duplicate pairs an opponent.
        seed: fixes everything.
        out: the folder for results.
    """

    timesteps: int = 1_200_000
    pairs: int = 2000
    seed: int = 1
    out: Path = Path("runs/demo")


def run(settings: Settings) -> None:
    """Run the demo."""
    began = time.perf_counter()
    print(
        f"Training MaskablePPO against rule_based, {settings.timesteps:,} decisions ...", flush=True
    )
    agent = ppo.train(
        ppo.Settings(timesteps=settings.timesteps, seed=settings.seed, out=settings.out)
    )
    trained = time.perf_counter()
    print(f"Trained in {trained - began:.0f} s. Evaluating on duplicate deals ...", flush=True)
    rules = PRESETS["hoyle"]
    compared: list[tuple[Agent, Agent]] = [(agent, find_agent(name)) for name in OPPONENTS]
    compared.append((find_agent("rule_based"), find_agent("greedy")))
    results = [
        evaluate(six_card_v0.maker, rules, a, b, settings.pairs, settings.seed + 1000)
        for a, b in compared
    ]

    text = "\n".join(
        [
            comparison_table(results),
            "",
            f"{settings.pairs} pairs of games a row (same cards, seats swapped), 95 % intervals "
            f"over pairs; trained on {settings.timesteps:,} decisions in {trained - began:.0f} s, "
            f"seed {settings.seed}, Python {platform.python_version()}.",
            "",
            "Points a deal against rule_based, by role and phase:",
            "",
            phase_table(results[2]),
            "",
        ]
    )
    (settings.out / "table.md").write_text(text)
    (settings.out / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    (settings.out / "replay.txt").write_text(replay(agent, find_agent("rule_based"), settings.seed))
    print("\n" + text)
    print(
        f"All done in {time.perf_counter() - began:.0f} s. In {settings.out}: table.md, "
        "results.json, learning_curve.png, replay.txt, policy.safetensors"
    )


if __name__ == "__main__":
    start(Settings, run)
