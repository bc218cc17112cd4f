"""One command that trains two agents, evaluates them, and writes a table of their strength.

    python -m crib_training.learn.demo

It trains one agent by deep Monte Carlo self-play (a minute or two) and one by MaskablePPO against
the rule-based opponent (about three). Both play duplicate deals against the built-in opponents. It
writes to ``runs/demo``: ``table.md`` and ``results.json``, ``learning_curve.png`` (strength over
seconds), ``replay.html`` (a game of the self-play agent against the rule-based one, with the
expert's value of every choice), and each agent's own folder with its ``policy.safetensors``.
"""

from __future__ import annotations

import platform
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crib_agents.files import write_whole
from crib_play.replay import write_replay

from crib_env import six_card_v0
from crib_env.policy import Agent, find_agent
from crib_env.rules import PRESETS
from crib_env.settings import Count, NewFolder, Seed, Several, checked_dataclass
from crib_training.command_line import start
from crib_training.evaluation.evaluate import evaluate
from crib_training.evaluation.report import comparison_table, phase_table
from crib_training.learn import curve
from crib_training.learn.curve import of_run, read_points, read_words
from crib_training.methods import deep_monte_carlo as deep
from crib_training.methods import ppo
from crib_training.outputs import claimed, remove_run, write_json

OPPONENTS = ("random", "greedy", "rule_based", "expert")
EXPERT_PAIRS = 500  # at most: the expert is slow
CURVES = {"deep_monte_carlo": "deep Monte Carlo, self-play", "ppo": "MaskablePPO against rule_based"}  # by folder


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Train two agents, evaluate them, and write a table of their strength.

    Attributes:
        deals: deals of self-play for deep Monte Carlo.
        timesteps: decisions for MaskablePPO.
        pairs: duplicate pairs per opponent.
        seed: fixes all random numbers.
        out: the folder for results.
    """

    deals: Count = 500_000
    timesteps: Count = 1_500_000
    pairs: Several = 2000
    seed: Seed = 1
    out: NewFolder = Path("runs/demo")


def learn(settings: Settings, folder: str) -> tuple[Agent, float]:
    """Train the agent of a folder; return it, and its CPU seconds."""
    out = settings.out / folder
    remove_run(out)  # of an earlier demo: no run overwrites another
    common: dict[str, Any] = {"seed": settings.seed, "final_eval_pairs": settings.pairs, "out": out}
    began = time.process_time()
    agent: Agent
    if folder == "deep_monte_carlo":
        print(f"Deep Monte Carlo: {settings.deals:,} deals of self-play ...", flush=True)
        agent = deep.train(deep.Settings(deals=settings.deals, eval_pairs=min(1000, settings.pairs), **common))
        agent.name = folder
    else:
        print(f"MaskablePPO against rule_based: {settings.timesteps:,} decisions ...", flush=True)
        agent = ppo.train(ppo.Settings(timesteps=settings.timesteps, eval_pairs=min(500, settings.pairs), **common))
    return agent, time.process_time() - began


def draw(out: Path) -> None:
    """Draw both curves into one picture: games won against rule_based, over CPU seconds."""
    lines = [
        of_run(name, [asdict(point) for point in read_points(out / folder)], "rule_based")
        for folder, name in CURVES.items()
    ]
    levels = read_words(out / "deep_monte_carlo")["baselines"]
    title = "Six-card cribbage: strength against rule_based while it is learned"
    write_whole(out / "learning_curve.png", curve.draw(lines, levels, title))


def run(settings: Settings) -> None:
    """Run the demo."""
    with claimed(settings.out):
        train_and_compare(settings)


def train_and_compare(settings: Settings) -> None:
    """Train both, compare them, and write everything."""
    began = time.perf_counter()
    ways = [learn(settings, folder) for folder in CURVES]
    learned = [agent for agent, _ in ways]
    print("Evaluating on duplicate deals ...", flush=True)
    compared = [(agent, find_agent(name)) for agent in learned for name in OPPONENTS]
    compared.append((find_agent("rule_based"), find_agent("greedy")))
    rules = PRESETS["hoyle"]
    results = [
        evaluate(
            six_card_v0.maker,
            rules,
            a,
            b,
            min(settings.pairs, EXPERT_PAIRS) if b.name == "expert" else settings.pairs,
            settings.seed + 1000,
        )
        for a, b in compared
    ]
    text = "\n".join(
        [
            comparison_table(results),
            "",
            f"{settings.pairs} pairs of games per row (same cards, seats swapped; at most "
            f"{EXPERT_PAIRS} against expert), 95 % intervals over pairs; {settings.deals:,} deals "
            f"of self-play in {ways[0][1]:.0f} CPU s, {settings.timesteps:,} decisions of "
            f"MaskablePPO in {ways[1][1]:.0f} CPU s, seed {settings.seed}, "
            f"Python {platform.python_version()}.",
            "",
            "Points per deal of the self-play agent against rule_based, by role and phase:",
            "",
            phase_table(results[2]),
            "",
        ]
    )
    write_whole(settings.out / "table.md", text.encode())
    write_json(settings.out / "results.json", results)
    players = learned[0], find_agent("rule_based")
    write_replay(settings.out / "replay.html", rules, players, settings.seed)
    draw(settings.out)
    print("\n" + text)
    print(
        f"All done in {time.perf_counter() - began:.0f} s. In {settings.out}: table.md, "
        "results.json, learning_curve.png, replay.html, deep_monte_carlo/, ppo/"
    )


if __name__ == "__main__":
    start(Settings, run)
