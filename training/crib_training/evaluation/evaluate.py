"""Compare two agents on duplicate deals.

    crib evaluate rule_based greedy --pairs 2000 --seed 1

Two things are played: whole games, for the rate of games won and of skunks; and as many single
deals from 0-0, for the points a deal by phase and role (in whole games the last deal is cut short,
which would bias them). Intervals are 95 %, computed over pairs of games with the same cards and
swapped seats.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from crib_agents.loading import load_agent, trusted
from tyro.conf import Positional, arg

from crib_env.envs.makers import Maker
from crib_env.options import check_seed
from crib_env.policy import Agent
from crib_env.rules import Rules
from crib_training.command_line import start
from crib_training.evaluation.duplicate import play_pairs
from crib_training.evaluation.figures import comparison_table, figures, phase_table
from crib_training.loading import find_game, in_phase, shortest_episode

PACKAGES = ("crib-env", "numpy", "numba", "gymnasium", "pettingzoo")


@dataclass(frozen=True)
class Settings:
    """Compare two agents on duplicate deals.

    Attributes:
        first: an agent: a name, a .safetensors, .zip (Stable-Baselines3) or .onnx file, or
            package.module:Class.
        second: another, or the same.
        env: the environment.
        rules: other than the environment's own: a preset, or one with changes, such as
            hoyle[target=91,for_last=3].
        players: 2, or 4 in Table Top.
        pairs: how many pairs of games, and of single deals.
        seed: fixes everything.
        json: a file to write the result to as well.
        trust: .zip files are one's own: they hold a pickle, which runs code as it is read.
    """

    first: Positional[Annotated[str, arg(metavar="FIRST")]]
    second: Positional[Annotated[str, arg(metavar="SECOND")]]
    env: str = "six_card_v0"
    rules: str | None = None
    players: int = 2
    pairs: int = 2000
    seed: int = 1
    json: Path | None = None
    trust: bool = False


def evaluate(
    maker: Maker,
    rules: Rules,
    first: Agent,
    second: Agent,
    pairs: int,
    seed: int,
    players: int = 2,
) -> dict[str, Any]:
    """Return how ``first`` does against ``second``, ready for JSON.

    Args:
        maker: of the environment. In a phase environment its policy plays the other phase for both.
        rules: the rules.
        first: an agent.
        second: another.
        pairs: duplicate pairs of games, and of single deals.
        seed: fixes everything.
        players: seats in a game; of four each agent plays the two of one side.

    Raises:
        ValueError: a number of pairs or of players, or a seed, that cannot be.
        IllegalActionError: an agent chose an illegal action.
    """
    maker.check_players(players)
    check_seed(seed)
    names = first.name, second.name if second.name != first.name else f"{second.name} (second)"
    first, second = in_phase(maker, first), in_phase(maker, second)
    games, deals = (
        play_pairs(rules, episode, first, second, pairs, seed, players=players)
        for episode in ("game", shortest_episode(maker))
    )
    return {
        "environment": maker.name,
        "first": names[0],
        "second": names[1],
        "rules": rules.name,
        "players": players,
        "pairs": pairs,
        "seed": seed,
        "versions": versions(),
        **figures(rules, names, games, deals),
    }


def versions() -> dict[str, str]:
    """Return the versions of the packages that a result depends on."""
    return {package: version(package) for package in PACKAGES}


def run(settings: Settings) -> None:
    """Compare the two, print the tables and write the file."""
    maker, rules = find_game(settings.env, settings.rules)
    first, second = (
        load_agent(trusted(name, settings.trust)) for name in (settings.first, settings.second)
    )
    result = evaluate(maker, rules, first, second, settings.pairs, settings.seed, settings.players)
    if settings.json:
        settings.json.write_text(json.dumps(result, indent=2) + "\n")
    print(f"{comparison_table([result])}\n\n{phase_table(result)}\n")
    print(
        f"{settings.env}: {settings.pairs} pairs of games and of deals, rules {rules.name}, "
        f"seed {settings.seed}, crib-env {result['versions']['crib-env']}"
    )


if __name__ == "__main__":
    start(Settings, run)
