"""The card of the nets of ``learned``: where each file comes from, and how strong it plays.

    python -m crib_training.evaluation.card --env six_card_v0 --pairs 1000 --seed 101

For the file that comes with the package for a game, or any other, it prints the command that made
it and the share of whole games that its agents win against built-in agents: over duplicate pairs,
with 95 % intervals, and the CPU seconds that each figure took.
"""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.learned.agent import shipped
from crib_agents.learned.searching import LearnedSearch
from crib_agents.loading import TakesAgents

from crib_env.policy import Agent
from crib_env.rules import Rules
from crib_env.settings import Count, File, Seed
from crib_training.command_line import start
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.evaluation.figures import shares_won
from crib_training.evaluation.markdown import table
from crib_training.loading import find_game

BUILT_IN = ("random", "greedy", "rule_based", "expert")
HEAD = ("agent", "players", "against", "games won", "pairs", "CPU s")


@dataclass(frozen=True)
class Settings(TakesAgents):
    """Print the card of a file of nets.

    Attributes:
        env: the environment whose game it is for.
        rules: other than the environment's own.
        file: the weights; by default those that come with the package.
        agents: how they are played: alone, or with search; joined by commas.
        against: agents, joined by commas.
        players: 2 or 4, or both.
        pairs: duplicate pairs of games for each figure.
        seed: fixes everything.
    """

    env: str = "six_card_v0"
    rules: str | None = None
    file: File | None = None
    agents: str = "learned,learned_search"
    against: str = ",".join(BUILT_IN)
    players: tuple[Literal[2, 4], ...] = (2,)
    pairs: Count = 1000
    seed: Seed = 101


def agents_of(weights: Weights, given: bool) -> dict[str, Agent]:
    """Return the agents by name; search with its own leaves unless the file is ``given``."""
    alone = (weights,)
    return {
        "learned": MonteCarloAgent(alone),
        "learned_search": LearnedSearch(alone if given else None),
    }


def find_weights(path: Path | None, rules: Rules) -> Weights:
    """Return the weights of a file, or those that come with the package for these rules.

    Raises:
        ValueError: there are none, or the file does not fit.
    """
    if path is not None:
        return Weights.load(path)
    for weights in shipped():
        if weights.rules == rules.name:
            return weights
    raise ValueError(f"no nets for {rules.name} come with the package: name a --file")


def measure(
    agent: Agent, other: Agent, rules: Rules, players: int, pairs: int, seed: int
) -> tuple[str, str]:
    """Return the share of games won in per cent with its interval, and the CPU seconds it took."""
    began = time.process_time()
    games = play_pairs(rules, "game", agent, other, pairs, seed, players=players)
    won = estimate(shares_won(games))
    spent = time.process_time() - began
    return f"{100 * won.mean:.1f} ± {100 * won.half:.1f} %", f"{spent:.0f}"


def run(settings: Settings) -> None:
    """Print the card."""
    _, rules = find_game(settings.env, settings.rules)
    weights = find_weights(settings.file, rules)
    agents = agents_of(weights, settings.file is not None)
    names = [name for name in settings.agents.split(",") if name]
    for name in names:
        if name not in agents:
            raise ValueError(f"agents are {' and '.join(agents)}, got {name!r}")
    print(f"rules: {weights.rules}\nmade by: {weights.made_by}\n"
          f"seed {settings.seed}, {platform.machine()}\n", flush=True)  # fmt: skip
    rows = []
    for name in names:
        for players in settings.players:
            for against in settings.against.split(","):
                other = settings.load_agent(against)
                won, spent = measure(
                    agents[name], other, rules, players, settings.pairs, settings.seed
                )
                rows.append([name, players, against, won, settings.pairs, spent])
    print(table(HEAD, rows))


if __name__ == "__main__":
    start(Settings, run)
