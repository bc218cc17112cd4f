"""Fit a baseline agent for every environment and write down how good each is.

    python -m crib_training.learn.recipes                  # all, a few minutes each on two cores
    python -m crib_training.learn.recipes five_card_v0     # one of them

For each environment: MaskablePPO against its ``rule_based`` opponent (`crib train`), then duplicate
deals against the built-in opponents. Writes ``runs/recipes/NAME/`` and, once all have
been run, the tables to ``docs/recipes.md``.
"""

from __future__ import annotations

import json
import platform
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from crib_env.errors import unknown
from crib_env.policy import find_agent
from crib_training.command_line import command, start
from crib_training.evaluation.evaluate import evaluate
from crib_training.evaluation.figures import comparison_table
from crib_training.learn import ppo
from crib_training.loading import find_game

OPPONENTS = ("random", "greedy", "rule_based")
PAGE = Path("docs/recipes.md")
FILE = "recipe.json"
SHOWN = ("env", "timesteps", "seed", "out")  # in every recipe

# What differs from the settings of `crib train`, and why; after a dash, other ways to compare.
CHANGES: dict[str, dict[str, Any]] = {
    "six_card_v0": {},
    "six_card_v0-lookahead": {"features": "lookahead", "reward": "points"},
    "six_card_v0-bits": {"features": None, "reward": "points"},
    "five_card_v0": {},
    "discard_v0": {},
    "pegging_v0": {},
    # A round pays at its end alone, after 14 decisions of the learner: shaped, with short credit.
    "table_top_v0": {"shaping": True, "steps": 28, "gae_lambda": 0.9},
}

# What a reader should know of a recipe.
NOTES: dict[str, str] = {
    "six_card_v0": "Features of each action and of the reply, and the show paid by its mean.",
    "six_card_v0-lookahead": "Without the reply's features, and with the luck of the show.",
    "six_card_v0-bits": "Bits alone, for comparison: what the features above spare the learner.",
    "table_top_v0": "What a card is worth on a cell depends on the card and two lines at once. The "
    "features say it, and one small network, shared by all cells, weighs it; a plain MLP on the "
    "bits, which must learn it for each of 25 cells apart, stays level with random play.",
}


def recipe_of(settings: ppo.Settings) -> str:
    """Return the command that trains by these settings: what differs from the defaults."""
    usual = {
        field.name
        for field in fields(settings)
        if getattr(settings, field.name) == field.default and field.name not in SHOWN
    }
    return command("crib train", settings, leave_out=usual)


def fit(name: str, timesteps: int, pairs: int, seed: int, out: Path) -> dict[str, Any]:
    """Train and evaluate one environment's baseline; return what the page says of it."""
    changes = CHANGES[name]
    env = name.partition("-")[0]
    settings = ppo.Settings(env=env, timesteps=timesteps, seed=seed, out=out / name, **changes)
    print(recipe_of(settings), flush=True)
    began = time.perf_counter()
    agent = ppo.train(settings)
    seconds = time.perf_counter() - began
    maker, rules = find_game(env)
    results = [
        evaluate(maker, rules, agent, find_agent(opponent), pairs, seed + 1000)
        for opponent in OPPONENTS
    ]
    print(comparison_table(results), flush=True)
    return {"name": name, "command": recipe_of(settings), "seconds": seconds, "results": results,
            "pairs": pairs}  # fmt: skip


def page(recipes: list[dict[str, Any]]) -> str:
    """Return the documentation page of all recipes."""
    lines = [
        "# Recipes",
        "",
        "A baseline for every environment: MaskablePPO against the environment's `rule_based` "
        "opponent, evaluated on duplicate deals. In the phase environments both sides play the "
        "other phase alike, by the environment's policy. Intervals are 95 %, over pairs. "
        "Everything on this page is printed by `python -m crib_training.learn.recipes`.",
    ]
    for recipe in recipes:
        lines += [
            "",
            f"## {recipe['name']}",
            "",
            "```sh",
            recipe["command"],
            "```",
            "",
            f"Trained in {recipe['seconds']:.0f} s; {recipe['pairs']} pairs a row.",
            "",
            comparison_table(recipe["results"]),
        ]
        if recipe["name"] in NOTES:
            lines += ["", NOTES[recipe["name"]]]
    lines += ["", f"Two cores, Python {platform.python_version()}.", ""]
    return "\n".join(lines)


@dataclass(frozen=True)
class Settings:
    """Fit a baseline agent for every environment and write down how good each is.

    Attributes:
        names: environments, or other recipes for them by name; all if none.
        timesteps: decisions each.
        pairs: duplicate pairs an opponent.
        seed: fixes everything.
        out: the folder for results.
    """

    names: Positional[tuple[str, ...]] = ()
    timesteps: int = 1_000_000
    pairs: int = 1000
    seed: int = 1
    out: Path = Path("runs/recipes")


def run(settings: Settings) -> None:
    """Fit the baselines, and write the page once all have been fitted."""
    names = settings.names or tuple(CHANGES)
    for name in names:
        if name not in CHANGES:
            raise unknown("recipe", name, CHANGES)
    for name in names:
        recipe = fit(name, settings.timesteps, settings.pairs, settings.seed, settings.out)
        (settings.out / name / FILE).write_text(json.dumps(recipe, indent=2) + "\n")
    done = [settings.out / name / FILE for name in CHANGES]
    if all(path.exists() for path in done):
        PAGE.write_text(page([json.loads(path.read_text()) for path in done]))
        print(f"wrote {PAGE}")


if __name__ == "__main__":
    start(Settings, run)
