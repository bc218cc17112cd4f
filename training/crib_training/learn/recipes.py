"""Train the baseline agents from three seeds each, and write a page of their strength.

    python -m crib_training.learn.recipes                  # all, hours on one core
    python -m crib_training.learn.recipes table_top_v0     # one of them
    python -m crib_training.learn.recipes --seeds 1 --out /tmp/quick

A recipe is a command of `crib train`. The program runs it once per seed and plays the trained agent
against the built-in opponents, in duplicate games. It skips runs that are already there. It writes
``NAME/seed-SEED/`` below ``--out``, and there ``recipes.md``, a page of all runs so far, and
``recipes.json``, their figures. `docs/numbers/recipes.json` is a copy, which `docs/train.md`
quotes.
"""

from __future__ import annotations

import json
import platform
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

from crib_agents.loading import load_agent

from crib_env.errors import unknown
from crib_env.policy import find_agent
from crib_env.settings import Count, NewFolder, Seed, checked_dataclass
from crib_training.command_line import command, start
from crib_training.evaluation.evaluate import evaluate, versions
from crib_training.evaluation.figures import shown_percent, shown_plain
from crib_training.learn.curve import read_points
from crib_training.loading import find_game
from crib_training.methods import deep_monte_carlo as deep
from crib_training.methods import ppo
from crib_training.outputs import remove_run, table, write_json

OPPONENTS = ("random", "greedy", "rule_based")
PAGE, FIGURES = "recipes.md", "recipes.json"
FILE = "recipe.json"
SHOWN = ("env", "method", "out")  # in every recipe

AnySettings = deep.Settings | ppo.Settings


@dataclass(frozen=True)
class Recipe:
    """A way to learn a game."""

    settings: AnySettings  # all but the seed and the folder
    players: tuple[int, ...] = (2,)  # in the games that measure it, one table each
    note: str = ""  # what a reader should know of it


# A round pays at its end alone, after 14 decisions of the learner: shaped, with short credit.
_SHAPED: dict[str, Any] = {"env": "table_top_v0", "shaping": True, "steps": 28, "gae_lambda": 0.9}

RECIPES: dict[str, Recipe] = {
    "six_card_v0 in a minute": Recipe(deep.Settings(deals=350_000)),
    "six_card_v0 in three minutes": Recipe(deep.Settings(deals=1_000_000)),
    "five_card_v0 in a minute": Recipe(deep.Settings(env="five_card_v0", deals=350_000)),
    "five_card_v0 in three minutes": Recipe(deep.Settings(env="five_card_v0", deals=1_000_000)),
    "table_top_v0": Recipe(
        deep.Settings(env="table_top_v0"),
        players=(2, 4),
        note="Trained with two players; the same networks play with two and with four.",
    ),
    "table_top_v0, Ship's variation": Recipe(
        deep.Settings(env="table_top_v0", rules="table_top_ship"), players=(2, 4)
    ),
    "six_card_v0 by MaskablePPO": Recipe(
        ppo.Settings(),
        note="With features of each action and of the reply, and the mean of the show as its "
        "reward.",
    ),
    "six_card_v0 by MaskablePPO, lookahead": Recipe(
        ppo.Settings(timesteps=1_500_000, features="lookahead", reward="points"),
        note="Without the reply's features, and with the luck of the show.",
    ),
    "six_card_v0 by MaskablePPO, bits": Recipe(
        ppo.Settings(features=None, reward="points"),
        note="Bits alone, for comparison: what the features above spare the learner.",
    ),
    "five_card_v0 by MaskablePPO": Recipe(ppo.Settings(env="five_card_v0")),
    "discard_v0 by MaskablePPO": Recipe(ppo.Settings(env="discard_v0")),
    "pegging_v0 by MaskablePPO": Recipe(ppo.Settings(env="pegging_v0")),
    "table_top_v0 by MaskablePPO": Recipe(
        ppo.Settings(**_SHAPED),
        note="The value of a card on a cell depends on the card and on two lines at once. The "
        "features hold this value, and one small network, shared by all cells, reads them. A plain "
        "MLP on the bits must learn it separately for each of 25 cells, and stays as weak as "
        "random play.",
    ),
}


def recipe_of(settings: AnySettings) -> str:
    """Return the command that trains by these settings: what differs from the defaults."""
    return command("crib train", settings, with_defaults=SHOWN)


def folder(out: Path, name: str, seed: int) -> Path:
    """Return the folder of a recipe's run from a seed."""
    return out / name.replace(", ", "-").replace(" ", "-").replace("'", "") / f"seed-{seed}"


def fit(recipe: Recipe, seed: int, pairs: int, out: Path) -> dict[str, Any]:
    """Train by a recipe from one seed and evaluate the agent; return the page's figures."""
    settings = replace(recipe.settings, seed=seed, out=out)
    print(recipe_of(settings), flush=True)
    remove_run(out)  # of an earlier try that was stopped
    if isinstance(settings, ppo.Settings):
        ppo.train(settings)
    else:
        deep.train(settings)
    agent = load_agent(str(out / "policy.safetensors"))
    maker, rules = find_game(settings.env, settings.rules)
    results = [
        evaluate(maker, rules, agent, find_agent(name), pairs, seed + 1000, players)
        for players in recipe.players
        for name in OPPONENTS
    ]
    return {"seconds": read_points(out)[-1].cpu_seconds, "results": results}


def read(out: Path, name: str) -> dict[int, dict[str, Any]]:
    """Return what has been found by a recipe, by seed."""
    files = folder(out, name, 0).parent.glob(f"seed-*/{FILE}")
    runs = {int(file.parent.name.removeprefix("seed-")): file.read_text("utf-8") for file in files}
    return {seed: json.loads(runs[seed]) for seed in sorted(runs)}


def runs_table(runs: dict[int, dict[str, Any]]) -> str:
    """Return the results of one recipe's runs as Markdown, a row a seed and number of players."""
    rows = []
    for seed, run in runs.items():
        by_players: dict[int, list[dict[str, Any]]] = {}
        for result in run["results"]:
            by_players.setdefault(result["players"], []).append(result)
        for players, results in by_players.items():
            rows.append(
                [seed, players, f"{run['seconds']:.0f}"]
                + [shown_percent(result["won"]) for result in results]
                + [shown_plain(results[-1]["margin_per_deal"])]
            )
    head = ["seed", "players", "CPU s", *(f"won against {name}" for name in OPPONENTS)]
    return table([*head, f"points per deal more than {OPPONENTS[-1]}"], rows)


def page(done: dict[str, dict[int, dict[str, Any]]], pairs: int) -> str:
    """Return the documentation page of all recipes, from what `fit` returned by seed."""
    lines = [
        "# Recipes",
        "",
        "How strong an agent gets in a few minutes of training, and the command for it. Each agent "
        "learns from nothing, with the seeds shown: by deep Monte Carlo self-play in whole games, "
        "or by MaskablePPO against `rule_based`. In the phase environments the environment's "
        "policy plays the other phase for both sides. "
        f"Each figure is from {pairs} pairs of duplicate games, with 95 % intervals over pairs. "
        "CPU seconds are those of acting and learning on one core, Python "
        f"{platform.python_version()}. "
        "`python -m crib_training.learn.recipes` prints everything on this page.",
    ]
    for name, runs in done.items():
        recipe = RECIPES[name]
        shown = replace(recipe.settings, out=Path("runs/mine"))
        lines += ["", f"## {name}", "", "```sh", recipe_of(shown), "```", "", runs_table(runs)]
        if recipe.note:
            lines += ["", recipe.note]
    return "\n".join([*lines, ""])


@checked_dataclass(frozen=True)
class Settings:
    """Train the baseline agents from three seeds each, and write a page of their strength.

    Attributes:
        names: recipes to run; by default all.
        seeds: seeds of the runs of each recipe.
        pairs: duplicate pairs per opponent.
        out: the folder for results.
    """

    names: tuple[str, ...] = ()
    _: KW_ONLY
    seeds: tuple[Seed, ...] = (1, 2, 3)
    pairs: Count = 2000
    out: NewFolder = Path("runs/recipes")


def run(settings: Settings) -> None:
    """Fit the baselines, and write the page of all that have been fitted."""
    names = settings.names or tuple(RECIPES)
    for name in names:
        if name not in RECIPES:
            raise unknown("recipe", name, RECIPES)
    for seed in settings.seeds:
        for name in names:
            out = folder(settings.out, name, seed)
            if not (out / FILE).exists():
                found = fit(RECIPES[name], seed, settings.pairs, out)
                write_json(out / FILE, found)
                print(runs_table({seed: found}), flush=True)
    done = {name: runs for name in RECIPES if (runs := read(settings.out, name))}
    (settings.out / PAGE).write_text(page(done, settings.pairs), "utf-8")
    made = {"command": command("python -m crib_training.learn.recipes", settings),
            "versions": versions(), "pairs": settings.pairs, "recipes": done}  # fmt: skip
    write_json(settings.out / FIGURES, made)
    print(f"wrote {settings.out / PAGE}")


if __name__ == "__main__":
    start(Settings, run)
