"""Compare two agents on duplicate deals.

    crib evaluate rule_based greedy --pairs 2000 --seed 1

Two things are played: whole games, for the rate of games won and of skunks; and as many single
deals from 0-0, for the points a deal by phase and role (in whole games the last deal is cut short,
which would bias them). Intervals are 95 %, computed over pairs of games with the same cards and
swapped seats. Where it pays, the luck that is left is taken out of both: the adjusted figures.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from crib_agents.loading import load_agent, trusted
from crib_play.replay import write_replay
from tyro.conf import Positional, arg

from crib_env.envs.makers import Maker
from crib_env.options import check_seed
from crib_env.policy import Opponent, find_agent
from crib_env.rules import Rules, find_rules
from crib_training.command_line import start
from crib_training.evaluation.duplicate import play_pairs
from crib_training.evaluation.figures import (
    comparison_table,
    difference_table,
    figures,
    phase_table,
)
from crib_training.evaluation.luck.reference import chosen_reference
from crib_training.loading import find_game, in_phase, shortest_episode
from crib_training.outputs import check_file
from crib_training.progress import Progress

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
        adjusted: take luck out of the results, as is done where it pays: unless both agents are
            compiled ones, which sooner play more games (six and five cards).
        plain: do not.
        no_duplicate: the two games of a pair have deals of their own, for an opponent who must not
            see cards twice. Only the adjusted figures are shown then.
        json: a file to write the result to as well.
        replay: a file to write one game of theirs to, to be looked at in a browser.
        trust: .zip files are one's own: they hold a pickle, which runs code as it is read.
    """

    first: Positional[Annotated[str, arg(metavar="FIRST")]]
    second: Positional[Annotated[str, arg(metavar="SECOND")]]
    env: str = "six_card_v0"
    rules: str | None = None
    players: int = 2
    pairs: int = 2000
    seed: int = 1
    adjusted: bool = False
    plain: bool = False
    no_duplicate: bool = False
    json: Path | None = None
    replay: Path | None = None
    trust: bool = False


def evaluate(
    maker: Maker,
    rules: str | Rules,
    first: Opponent,
    second: Opponent,
    pairs: int,
    seed: int,
    players: int = 2,
    *,
    adjusted: bool | None = None,
    duplicate: bool = True,
) -> dict[str, Any]:
    """Return how ``first`` does against ``second``, ready for JSON.

    Args:
        maker: of the environment. In a phase environment its policy plays the other phase for both.
        rules: the rules, or what they are called.
        first: an agent, or what `crib_env.find_agent` makes one of: a name, a network.
        second: another.
        pairs: duplicate pairs of games, and of single deals.
        seed: fixes everything.
        players: seats in a game; of four each agent plays the two of one side.
        adjusted: whether luck is taken out as well; None where that pays.
        duplicate: whether the two games of a pair have the same deals.

    Raises:
        ValueError: a number of pairs or of players, or a seed, that cannot be; luck to be taken out
            of games that it is not known of.
        KeyboardInterrupt: with how much was played.
        IllegalActionError: an agent chose an illegal action.
    """
    maker.check_players(players)
    check_seed(seed)
    rules = find_rules(rules, maker.family.name)
    first, second = find_agent(first), find_agent(second)
    names = first.name, second.name if second.name != first.name else f"{second.name} (second)"
    first, second = in_phase(maker, first), in_phase(maker, second)
    reference = chosen_reference(rules, (first, second), adjusted)
    with Progress(f"{names[0]} against {names[1]}, games and deals", 4 * pairs) as progress:
        try:
            games, deals = (
                play_pairs(
                    rules, episode, first, second, pairs, seed, players=players,
                    reference=reference, duplicate=duplicate, finished=progress.advance,
                )
                for episode in ("game", shortest_episode(maker))
            )  # fmt: skip
        except KeyboardInterrupt:
            said = f"{progress.done:,.0f} of {progress.total:,} games and deals were played"
            raise KeyboardInterrupt(f"{said}; nothing is kept") from None
    return {
        "environment": maker.name,
        "first": names[0],
        "second": names[1],
        "rules": rules.name,
        "players": players,
        "pairs": pairs,
        "seed": seed,
        "duplicate": duplicate,
        "versions": versions(),
        **figures(rules, names, games, deals),
    }


def versions() -> dict[str, str]:
    """Return the versions of the packages that a result depends on."""
    return {package: version(package) for package in PACKAGES}


def asked_for(adjusted: bool, plain: bool) -> bool | None:
    """Return whether luck is to be taken out; None where nothing was said.

    Raises:
        ValueError: both were said.
    """
    if adjusted and plain:
        raise ValueError("--plain excludes --adjusted and --no-duplicate")
    return adjusted or (False if plain else None)


def run(settings: Settings) -> None:
    """Compare the two, print the tables and write the file."""
    for path in (settings.json, settings.replay):
        if path:
            check_file(path)
    maker, rules = find_game(settings.env, settings.rules)
    agents = (
        load_agent(trusted(settings.first, settings.trust)),
        load_agent(trusted(settings.second, settings.trust)),
    )
    result = evaluate(
        maker, rules, *agents, settings.pairs, settings.seed, settings.players,
        adjusted=asked_for(settings.adjusted or settings.no_duplicate, settings.plain),
        duplicate=not settings.no_duplicate,
    )  # fmt: skip
    result["rules"] = settings.rules or rules.name  # with what was changed in them
    print(f"{comparison_table([result])}\n\n{phase_table(result)}\n\n{difference_table(result)}\n")
    print(
        f"{settings.env}: {settings.pairs} pairs of games and of deals, rules {result['rules']}, "
        f"seed {settings.seed}, crib-env {result['versions']['crib-env']}",
        flush=True,
    )
    if settings.json:
        settings.json.write_text(json.dumps(result, indent=2) + "\n")
    if settings.replay:
        players = [in_phase(maker, agent) for agent in agents]
        write_replay(settings.replay, rules, players, settings.seed, players=settings.players)


if __name__ == "__main__":
    start(Settings, run)
