"""How strong is the Table Top expert at each budget, and how fast?

    python -m crib_training.evaluation.strength --pairs 500 --seed 1

For two and four players and both sets of rules it plays duplicate pairs of whole games, for the
games won, and of single rounds, for the points a round more, against another agent. Intervals are
95 %, over pairs. In single rounds under Ship's variation only the difference is scored (T13), which
is the same thing.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from crib_agents.adapters.timed import Timed
from crib_agents.expert.table_top import TableTopExpert
from crib_agents.expert.table_top.agent import BUDGETS
from crib_agents.expert.table_top.tables import PRESETS

from crib_env.engine.table_top.numbers import PLAYERS
from crib_env.policy import Agent
from crib_env.rules import PRESETS as RULES
from crib_training.evaluation.duplicate import Estimate, estimate, play_pairs
from crib_training.loading import load_agent

HEADER = """\
| rules | players | budget | decisions/s | games won | points a round more |
|---|---|---|---|---|---|"""


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
    rules = RULES[preset]
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


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--against", default="rule_based", help="an agent (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=500, help="of games, and of rounds")
    parser.add_argument("--seed", type=int, default=1, help="fixes the deals")
    parser.add_argument("--budgets", type=int, nargs="+", default=range(1, len(BUDGETS) + 1))
    parser.add_argument("--rules", nargs="+", default=PRESETS, choices=PRESETS)
    parser.add_argument("--players", type=int, nargs="+", default=PLAYERS, choices=PLAYERS)
    given = parser.parse_args()
    try:
        other = load_agent(given.against)
        print(HEADER)
        for preset in given.rules:
            for players in given.players:
                for budget in given.budgets:
                    s = measure(preset, players, budget, other, given.pairs, given.seed)
                    print(f"| {preset} | {players} | {budget} | {s.rate:.0f} | "
                          f"{100 * s.won.mean:.1f} ± {100 * s.won.half:.1f} % | "
                          f"{s.more.mean:.2f} ± {s.more.half:.2f} |", flush=True)  # fmt: skip
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(f"\nexpert against {other.name}, {given.pairs} pairs of games and of rounds a row, "
          f"seed {given.seed}, one core")  # fmt: skip


if __name__ == "__main__":
    main()
