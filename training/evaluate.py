"""Compare two agents on duplicate deals.

    python -m training.evaluate rule_based greedy --pairs 2000 --seed 1

Agents are names or ``.safetensors`` files. Two things are played: whole games, for the rate of
games won and of skunks; and as many single deals from 0-0, for the points a deal by phase and role
(in whole games the last deal is cut short, which would bias them). Intervals are 95 %, computed
over pairs of games with the same cards and swapped seats.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agents import PhasedAgent
from crib_env.engine.families import Family
from crib_env.engine.records import PLAY
from crib_env.envs.makers import HouseKeyword, Maker
from crib_env.opponents import Agent
from crib_env.rules import Rules, find_rules
from training.duplicate import Estimate, Pairs, estimate, play_pairs
from training.environments import find_maker, load_agent

PACKAGES = ("crib-env", "numpy", "numba", "gymnasium", "pettingzoo")


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
        maker: of the environment. In a phase environment the house plays the other phase for both.
        rules: the rules.
        first: an agent.
        second: another.
        pairs: duplicate pairs of games, and of single deals.
        seed: fixes everything.
        players: seats in a game; of four each agent plays the two of one side.
    """
    family = maker.family()
    names = first.name, second.name
    if maker.house is not None:
        first, second = in_phase(maker.house, first), in_phase(maker.house, second)
    short = maker.episodes.get("deal", "round")
    games = play_pairs(family, rules, "game", first, second, pairs, seed, players=players)
    deals = play_pairs(family, rules, short, first, second, pairs, seed, players=players)
    return {
        "environment": maker.name,
        "first": names[0],
        "second": names[1],
        "rules": rules.name,
        "players": players,
        "pairs": pairs,
        "seed": seed,
        "versions": {package: version(package) for package in PACKAGES},
        "won": _shown(estimate((games.result == 1).mean(axis=1))),
        "won_as_first_dealer": _shown(_as_dealer(games)),
        "skunks_for": _shown(estimate((games.margin > rules.skunk_margin).mean(axis=1))),
        "skunks_against": _shown(estimate((games.margin < -rules.skunk_margin).mean(axis=1))),
        "margin_a_deal": _shown(estimate(_made(deals).mean(axis=1))),
        "points_a_deal": {
            role: {
                names[0]: _phases(family, deals, 0, role == "dealer"),
                names[1]: _phases(family, deals, 1, role == "dealer"),
            }
            for role in ("pone", "dealer")
        },
    }


def in_phase(house: HouseKeyword, agent: Agent) -> Agent:
    """Return ``agent`` in one phase of the full game, the house's default policy in the other."""
    if house.phase == PLAY:
        return PhasedAgent(discard=agent, pegging=house.default, name=agent.name)
    return PhasedAgent(discard=house.default, pegging=agent, name=agent.name)


def _shown(value: Estimate) -> dict[str, float]:
    return {"mean": value.mean, "half_interval": value.half}


def _made(deals: Pairs) -> Any:
    totals = deals.points.sum(axis=3)
    return totals[:, :, 0] - totals[:, :, 1]


def _as_dealer(games: Pairs) -> Estimate:
    """Return how often ``first`` wins a game whose first deal is its own: one game of each pair."""
    return estimate((games.result == 1)[games.first_dealt])


def _phases(family: Family, deals: Pairs, player: int, dealer: bool) -> dict[str, dict[str, float]]:
    """Return points a deal by phase: each player has each role once in a pair."""
    dealt = deals.first_dealt if player == 0 else ~deals.first_dealt
    points = deals.points[:, :, player][dealt == dealer]
    return {phase: _shown(estimate(points[:, i])) for i, phase in enumerate(family.phases)}


def table(results: list[dict[str, Any]]) -> str:
    """Return the results as a Markdown table, one row a comparison."""
    lines = [
        "| agent | against | games won | skunks for / against | points a deal more |",
        "|---|---|---|---|---|",
    ]
    for r in results:
        lines.append(
            f"| {r['first']} | {r['second']} | {_percent(r['won'])} | "
            f"{100 * r['skunks_for']['mean']:.1f} / {100 * r['skunks_against']['mean']:.1f} % | "
            f"{_plain(r['margin_a_deal'])} |"
        )
    return "\n".join(lines)


def phase_table(r: dict[str, Any]) -> str:
    """Return one comparison's points a deal by role and phase as a Markdown table."""
    phases = tuple(next(iter(r["points_a_deal"]["dealer"].values())))
    lines = [f"| role | agent | {' | '.join(phases)} |", "|---" * (2 + len(phases)) + "|"]
    for role, players in r["points_a_deal"].items():
        for name, points in players.items():
            cells = " | ".join(_plain(points[phase]) for phase in phases)
            lines.append(f"| {role} | {name} | {cells} |")
    return "\n".join(lines)


def _percent(value: dict[str, float]) -> str:
    return f"{100 * value['mean']:.1f} ± {100 * value['half_interval']:.1f} %"


def _plain(value: dict[str, float]) -> str:
    return f"{value['mean']:.2f} ± {value['half_interval']:.2f}"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("first", help="an agent's name or a .safetensors file")
    parser.add_argument("second", help="another, or the same")
    parser.add_argument("--env", default="six_card_v0", help="the game (default: %(default)s)")
    parser.add_argument("--rules", help="a preset of rules other than the game's own")
    parser.add_argument("--players", type=int, default=2, help="2, or 4 in Table Top")
    parser.add_argument("--pairs", type=int, default=2000, help="of games (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="fixes everything")
    parser.add_argument("--json", type=Path, help="also write the result here")
    args = parser.parse_args()
    try:
        maker = find_maker(args.env)
        rules = find_rules(args.rules or maker.rules, maker.family().name)
        agents = load_agent(args.first), load_agent(args.second)
        result = evaluate(maker, rules, *agents, args.pairs, args.seed, args.players)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(table([result]))
    print()
    print(phase_table(result))
    print(
        f"\n{args.env}: {args.pairs} pairs of games and of deals, rules {rules.name}, "
        f"seed {args.seed}, "
        f"crib-env {result['versions']['crib-env']}"
    )
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
