"""How strong is the Table Top expert at each budget, and how fast?

    python -m crib_training.evaluation.strength --pairs 500 --seed 1

For two and four players and both sets of rules it plays duplicate pairs of whole games, for the
games won, and of single rounds, for the points a round more, against another agent. Intervals are
95 %, over pairs. In single rounds under Ship's variation only the difference is scored (T13), which
is the same thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Annotated, Literal

from crib_agents.adapters.timed import Timed
from crib_agents.data.tables import VARIANTS
from crib_agents.expert.table_top import TableTopExpert
from crib_agents.expert.table_top.agent import BUDGETS
from crib_agents.loading import TakesAgents

from crib_env.policy import Agent
from crib_env.rules import TableTopRules
from crib_env.settings import Between, Count, Seed
from crib_training.command_line import start
from crib_training.evaluation.duplicate import Estimate, estimate, play_pairs
from crib_training.evaluation.markdown import table

HEAD = ("rules", "players", "budget", "decisions/s", "games won", "points a round more")


@dataclass(frozen=True)
class Strength:
    """What one budget reaches.

    Attributes:
        won: the share of games won.
        more: points a round more than the other agent.
        rate: decisions a second.
    """

    won: Estimate
    more: Estimate
    rate: float


def measure(
    preset: str, players: int, budget: int, other: Agent, pairs: int, seed: int
) -> Strength:
    """Return what the expert with ``budget`` reaches against ``other`` in so many pairs."""
    rules = TableTopRules.preset(preset)
    expert = TableTopExpert(budget)
    play_pairs(rules, "round", expert, other, 1, seed, players=players)  # compiles
    timed = Timed(expert)
    games = play_pairs(rules, "game", timed, other, pairs, seed, players=players)
    rounds = play_pairs(rules, "round", timed, other, pairs, seed, players=players)
    return Strength(
        won=estimate((games.result == 1).mean(axis=1)),
        more=estimate(rounds.margin.mean(axis=1)),
        rate=timed.decisions / timed.seconds,
    )


Budget = Annotated[int, Between(1, len(BUDGETS))]


@dataclass(frozen=True)
class Settings(TakesAgents):
    """Measure how strong the Table Top expert is at each budget, and how fast.

    Attributes:
        against: an agent.
        pairs: of games, and of rounds.
        seed: fixes everything.
        budgets: the expert's.
        rules: presets.
        players: 2 or 4, or both.
    """

    against: str = "rule_based"
    pairs: Count = 500
    seed: Seed = 1
    budgets: tuple[Budget, ...] = tuple(range(1, len(BUDGETS) + 1))
    rules: tuple[str, ...] = VARIANTS
    players: tuple[Literal[2, 4], ...] = (2, 4)


def run(settings: Settings) -> None:
    """Play every combination and print the table."""
    other = settings.load_agent(settings.against)
    rows = []
    for preset, players, budget in product(settings.rules, settings.players, settings.budgets):
        s = measure(preset, players, budget, other, settings.pairs, settings.seed)
        won, more = s.won, s.more
        rows.append([
            preset, players, budget, f"{s.rate:.0f}",
            f"{100 * won.mean:.1f} ± {100 * won.half:.1f} %", f"{more.mean:.2f} ± {more.half:.2f}",
        ])  # fmt: skip
    print(table(HEAD, rows))
    print(
        f"\nexpert against {other.name}, {settings.pairs} pairs of games and of rounds a row, "
        f"seed {settings.seed}, one core"
    )


if __name__ == "__main__":
    start(Settings, run)
