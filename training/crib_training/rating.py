"""Rate an agent beside the built-in ones.

    crib rate model.zip --trust --env six_card_v0 --out leaderboard/mine

Plays duplicate pairs of games against every built-in agent and prints the rating table with the
agent's row in it. Among three sides or more, it plays sets of games against copies of each. What
the built-in agents made of each other is stored (`leaderboard/`), so only the agent's own games are
played. ``--out`` keeps the results, and a card to fill in, as the leaderboard takes them.
``--check`` plays the games of such a file again and compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, replace
from pathlib import Path

import numpy as np
from crib_agents.loading import TakesAgents, load_agent

from crib_env.envs.makers import EnvSpec
from crib_env.honours import refuse_rules
from crib_env.options import check_seed
from crib_env.policy import Agent
from crib_env.rules import Rules
from crib_env.settings import Count, CountOrNone, File, NewFolder, Players, Seed, checked_dataclass
from crib_training.evaluation.duplicate import play_pairs
from crib_training.evaluation.evaluate import versions
from crib_training.exploit import exploitability
from crib_training.leaderboard_rows import (
    ANCHOR,
    APPROXIMATELY,
    BUILT_IN,
    CARD,
    Results,
    blank_card,
    exploited,
    rating_table,
    read,
    stored,
)
from crib_training.loading import find_env, find_game, in_phase, seats_of, sides_of
from crib_training.outputs import write_json
from crib_training.progress import Progress


@checked_dataclass(frozen=True)
class Settings(TakesAgents):
    """Rate an agent beside the built-in ones.

    Attributes:
        agent: a name, a .safetensors, .zip (Stable-Baselines3) or .onnx file, or
            package.module:Class.
        env: the environment.
        players: how many play, by default the fewest the rules allow.
        pairs: duplicate pairs of games against each built-in agent; among three sides, sets of
            three.
        seed: fixes everything.
        name: what the table calls it; by default its own name.
        exploitability: also measure how much a perfect opponent gains against it, with N drawn
            hands (see crib exploit); 0 skips this.
        abstraction: for the exploitability of slow agents, see crib exploit.
        out: a folder to write its results to, and a card to fill in, as for the leaderboard.
        check: a file of its results, whose games to play again and compare. Environment, players,
            pairs, seed and name are the file's.
    """

    agent: str
    _: KW_ONLY
    env: str = "six_card_v0"
    players: Players | None = None
    pairs: Count = 500
    seed: Seed = 1
    name: str | None = None
    exploitability: CountOrNone = 0
    abstraction: CountOrNone = 0
    out: NewFolder | None = None
    check: File | None = None


def play(
    maker: EnvSpec,
    agent: Agent,
    pairs: int,
    seed: int,
    players: int | None = None,
    name: str | None = None,
    opponents: Sequence[str] | None = None,
) -> Results:
    """Play an agent against every other built-in one that plays the game, or ``opponents``."""
    _, rules = find_game(maker.name)
    seats = seats_of(maker, rules, players)
    n_sides = sides_of(rules, players)
    check_seed(seed)
    name = name or agent.name
    if opponents is None:
        opponents = [other for other in BUILT_IN if other != name and _plays(other, rules)]
    for one in (agent, *map(load_agent, opponents)):  # before any game is played
        refuse_rules(in_phase(maker, one), rules, "game")
    games = {}
    with Progress(f"rating {name}", len(opponents) * pairs) as progress:
        for opponent in opponents:  # on the same deals, so that agents compare pair by pair
            both = in_phase(maker, agent), in_phase(maker, load_agent(opponent))
            played = play_pairs(rules, "game", *both, pairs, seed, players=len(seats))
            halves = np.rint(2 * n_sides * played.shares_won).astype(np.int64)
            games[opponent] = np.bincount(halves, minlength=2 * n_sides + 1).tolist()
            progress.advance(pairs)
    return Results(name, maker.name, rules.name, len(seats), pairs, seed, versions(), games)


def _plays(name: str, rules: Rules) -> bool:
    """Return whether a built-in agent plays by these rules."""
    try:
        refuse_rules(load_agent(name), rules, "game")
    except ValueError:
        return False
    return True


def check(results: Results, agent: Agent, opponents: Sequence[str] | None = None) -> list[str]:
    """Return how results differ from the same games played again, a line an opponent."""
    again = play(
        find_env(results.environment), agent, results.pairs, results.seed, results.players,
        results.name, tuple(results.games) if opponents is None else opponents,
    )  # fmt: skip
    return [
        f"against {other}, the numbers of pairs with 0, a half, 1, ... games won are "
        f"{counts}, not {results.games.get(other)}"
        for other, counts in again.games.items()
        if counts != results.games.get(other)
    ]


def run(settings: Settings) -> None:
    """Play, print the table, and write the results; or check those of a file."""
    agent = settings.load_agent(settings.agent)
    if settings.check:
        run_check(settings.check, agent)
        return
    maker, rules = find_game(settings.env)
    found = None
    if settings.exploitability:  # first, for it may refuse the settings
        found = exploitability(
            agent, env=settings.env, hands=settings.exploitability,
            abstraction=settings.abstraction, seed=settings.seed,
        )  # fmt: skip
    results = play(
        maker, agent, settings.pairs, settings.seed, settings.players,
        settings.name or (settings.out.name if settings.out else None),
    )  # fmt: skip
    results = replace(results, exploitability=exploited(found.as_dict()) if found else None)
    known = [entry for entry in stored(results.file) if entry.name != results.name]
    print(rating_table([results, *known]))
    games = "pairs of games"
    if (sides := results.sides) > 2:
        games = f"sets of {sides} games against {sides - 1} of"
    print(
        f"\nElo, {ANCHOR} is 0, with 95 % intervals by a bootstrap over pairs; games won from each "
        f"in per cent. {settings.env}: {settings.pairs} duplicate {games} an opponent, rules "
        f"{rules.name}, {results.players} players, seed {settings.seed}."
    )
    if found:
        print(
            f"\nExploitability in points per deal, {APPROXIMATELY} for an approximation:\n\n{found}"
        )
    if settings.out:
        settings.out.mkdir(parents=True, exist_ok=True)
        write_json(settings.out / results.file, asdict(results))
        if not (settings.out / CARD).exists():
            (settings.out / CARD).write_text(blank_card(results), "utf-8")
        print(f"In {settings.out}: {results.file}, {CARD}")


def run_check(path: Path, agent: Agent) -> None:
    """Play the games of a file again, and say whether they end as before."""
    results = read(path)
    if found := check(results, agent):
        raise RuntimeError(f"{path} does not come out again: {'; '.join(found)}")
    print(
        f"{path} comes out again: {results.name}, {results.environment}, {results.pairs} pairs "
        f"each against {', '.join(results.games)}, seed {results.seed}."
    )
