"""Compare two agents on duplicate deals.

    python -m crib_training.evaluation.evaluate rule_based greedy --pairs 2000 --seed 1

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

from crib_agents import PhasedAgent
from crib_agents.loading import load_agent

from crib_env.engine.two_hand.records import PLAY
from crib_env.envs.makers import HouseKeyword, Maker
from crib_env.options import check_seed
from crib_env.policy import Agent
from crib_env.rules import Rules, find_rules
from crib_training.evaluation.duplicate import play_pairs
from crib_training.evaluation.figures import figures, phase_table, table
from crib_training.loading import find_maker

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

    Raises:
        ValueError: a number of pairs or of players, or a seed, that cannot be.
        IllegalActionError: an agent chose an illegal action.
    """
    maker.check_players(players)
    check_seed(seed)
    family = maker.family()
    names = first.name, second.name if second.name != first.name else f"{second.name} (second)"
    if maker.house is not None:
        first, second = in_phase(maker.house, first), in_phase(maker.house, second)
    games = play_pairs(family, rules, "game", first, second, pairs, seed, players=players)
    deals = play_pairs(family, rules, short(maker), first, second, pairs, seed, players=players)
    return {
        "environment": maker.name,
        "first": names[0],
        "second": names[1],
        "rules": rules.name,
        "players": players,
        "pairs": pairs,
        "seed": seed,
        "versions": versions(),
        **figures(family, rules, names, games, deals),
    }


def short(maker: Maker) -> str:
    """Return the engine's name for the shortest episode of an environment: a deal, a round."""
    return maker.episodes.get("deal", "round")


def versions() -> dict[str, str]:
    """Return the versions of the packages that a result depends on."""
    return {package: version(package) for package in PACKAGES}


def in_phase(house: HouseKeyword, agent: Agent) -> Agent:
    """Return ``agent`` in one phase of the full game, the house's default policy in the other."""
    if house.phase == PLAY:
        return PhasedAgent(discard=agent, pegging=house.default, name=agent.name)
    return PhasedAgent(discard=house.default, pegging=agent, name=agent.name)


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
        if args.json:
            args.json.write_text(json.dumps(result, indent=2) + "\n")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    print(table([result]))
    print()
    print(phase_table(result))
    print(
        f"\n{args.env}: {args.pairs} pairs of games and of deals, rules {rules.name}, "
        f"seed {args.seed}, "
        f"crib-env {result['versions']['crib-env']}"
    )


if __name__ == "__main__":
    main()
