"""Fit a baseline agent for every environment and write down how good each is.

    python -m crib_training.learn.recipes                     # all of them, a few minutes each on two cores
    python -m crib_training.learn.recipes five_card_v0        # one of them

For each environment: MaskablePPO against its ``rule_based`` opponent (`crib_training.learn.ppo`), then
duplicate deals against the built-in opponents. Writes ``runs/recipes/NAME/`` and, once all have
been run, the tables to ``docs/recipes.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path
from typing import Any

from crib_env.policy import find_agent
from crib_env.registration import ENVIRONMENTS
from crib_env.rules import PRESETS
from crib_training.evaluation.evaluate import evaluate
from crib_training.evaluation.figures import table
from crib_training.learn import ppo
from crib_training.loading import find_maker

OPPONENTS = ("random", "greedy", "rule_based")
PAGE = Path("docs/recipes.md")

# What differs from crib_training.learn.ppo's own settings, and why.
SETTINGS: dict[str, dict[str, str]] = {
    "six_card_v0": {},
    "five_card_v0": {},
    "discard_v0": {},
    "pegging_v0": {},
    # A round pays at its end alone, after 14 decisions of the learner: shaped, with short credit.
    "table_top_v0": {"--shaping": "", "--steps": "28", "--gae-lambda": "0.9"},
}

# What a reader should know before taking a recipe for an opponent.
NOTES: dict[str, str] = {
    "table_top_v0": "This recipe does not work yet: within its minutes the agent does no better "
    "than random play against random. What a card is worth on a cell depends on the card and two "
    "lines at once, and a plain MLP on the bits has to learn that for each of 25 cells apart; a "
    "network that shares its weights between cells is the thing to try.",
}


def command(name: str, timesteps: int, seed: int, out: Path) -> list[str]:
    """Return the arguments of `crib_training.learn.ppo` for one environment."""
    words = ["--env", name, "--timesteps", str(timesteps), "--seed", str(seed), "--out", str(out)]
    for option, value in SETTINGS[name].items():
        words += [option, value] if value else [option]
    return words


def run(name: str, timesteps: int, pairs: int, seed: int, out: Path) -> dict[str, Any]:
    """Train and evaluate one environment's baseline; return what the page says of it."""
    words = command(name, timesteps, seed, out / name)
    print(f"python -m crib_training.learn.ppo {' '.join(words)}", flush=True)
    began = time.perf_counter()
    agent = ppo.train(ppo.arguments().parse_args(words))
    seconds = time.perf_counter() - began
    maker = find_maker(name)
    rules = PRESETS[maker.rules]
    results = [
        evaluate(maker, rules, agent, find_agent(opponent), pairs, seed + 1000)
        for opponent in OPPONENTS
    ]
    print(table(results), flush=True)
    return {"name": name, "words": words, "seconds": seconds, "results": results, "pairs": pairs}


def page(recipes: list[dict[str, Any]]) -> str:
    """Return the documentation page of all recipes."""
    parts = [
        "# Recipes",
        "",
        "A baseline for every environment: MaskablePPO against the environment's `rule_based` "
        "opponent, evaluated on duplicate deals. In the phase environments both sides play the "
        "other phase alike, by the house's policy. Intervals are 95 %, over pairs. Everything on "
        "this page is printed by `python -m crib_training.learn.recipes`.",
    ]
    for recipe in recipes:
        parts += [
            "",
            f"## {recipe['name']}",
            "",
            "```sh",
            f"python -m crib_training.learn.ppo {' '.join(recipe['words'])}",
            "```",
            "",
            f"Trained in {recipe['seconds']:.0f} s; {recipe['pairs']} pairs a row.",
            "",
            table(recipe["results"]),
        ]
        if recipe["name"] in NOTES:
            parts += ["", NOTES[recipe["name"]]]
    parts += ["", f"Two cores, Python {platform.python_version()}.", ""]
    return "\n".join(parts)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=list(ENVIRONMENTS), help="environments")
    parser.add_argument("--timesteps", type=int, default=1_000_000, help="decisions each")
    parser.add_argument("--pairs", type=int, default=1000, help="duplicate pairs an opponent")
    parser.add_argument("--seed", type=int, default=1, help="fixes everything")
    parser.add_argument("--out", type=Path, default=Path("runs/recipes"), help="folder")
    args = parser.parse_args()
    for name in args.names:
        recipe = run(name, args.timesteps, args.pairs, args.seed, args.out)
        (args.out / name / "recipe.json").write_text(json.dumps(recipe, indent=2) + "\n")
    done = [args.out / name / "recipe.json" for name in ENVIRONMENTS]
    if all(path.exists() for path in done):
        PAGE.write_text(page([json.loads(path.read_text()) for path in done]))
        print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
