"""Rate an agent beside five built-in ones.

    crib rate model.zip --trust --env six_card_v0 --out leaderboard/mine

Plays duplicate pairs of games against `expert`, `learned`, `rule_based`, `greedy` and `random`, and
prints the rating table with the agent's row in it. Among three sides or more, it plays sets of
games against copies of each. The games of these five against each other are stored
(`leaderboard/`), so only the agent's own games are played.

``--out`` writes the results and a card to fill in, in the form of the leaderboard. ``--check``
plays the games of such a file again and compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from crib_agents.files import write_whole
from crib_agents.loading import TakesAgents, load_agent

from crib_env import settings as types
from crib_env.envs.makers import EnvMaker
from crib_env.options import check_seed
from crib_env.policy import Agent, agent_names
from crib_env.settings import checked_dataclass
from crib_env.supported_rules import refuse_rules
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.evaluation.figures import as_json
from crib_training.evaluation.ratings import rated
from crib_training.evaluation.report import ratings_table, shown
from crib_training.exploit import Estimate, exploitability
from crib_training.loading import find_env, find_game, in_phase, players_of, plays, sides_of
from crib_training.outputs import write_json
from crib_training.progress import Progress
from crib_training.provenance import versions

# The opponents of every rated agent: one of each strength. The other built-in agents have rows too.
BUILT_IN = ("expert", "learned", "rule_based", "greedy", "random")
ANCHOR = "rule_based"  # rated 0
CARD = "card.md"
BLANK = "(to be written)"
HEADINGS = ("Method", "Training", "Code and weights")
APPROXIMATELY = "≈"  # before an approximate exploitability
HOW = ("hands", "seed", "abstraction", "agreement")  # how an exploitability was measured


@dataclass(frozen=True)
class Results:
    """Results of an agent's games against the built-in agents."""

    name: str
    environment: str
    rules: str
    players: int
    pairs: int
    seed: int
    versions: dict[str, str]
    # For each opponent, in how many pairs 0, a half, 1, ... of the games were won; among more than
    # two sides, in how many sets, against copies of it.
    games: dict[str, list[int]]
    exploitability: dict[str, Any] | None = None  # in points per deal, and how it was measured

    @property
    def sides(self) -> int:
        """How many sides a game has; this is also how many games a pair or set consists of."""
        return sides_of(find_game(self.environment, self.rules)[1], self.players)

    @property
    def outcomes(self) -> int:
        """How many games of a pair or set can be won: 0, a half, 1, one and a half, ..."""
        return 2 * self.sides + 1

    @property
    def file(self) -> str:
        """The name of its file in the agent's folder."""
        usual = players_of(find_game(self.environment, self.rules)[1], None)
        return f"{self.environment}{f'_{self.players}' if self.players > usual else ''}.json"

    def won(self, opponent: str) -> npt.NDArray[np.float64]:
        """Return float64[pairs], the games won from an opponent in each pair."""
        return np.repeat(np.arange(len(self.games[opponent])) / 2, self.games[opponent])


def folder() -> Path:
    """Return the leaderboard's folder: inside the installed package, else of the checkout."""
    installed = Path(__file__).parent / "leaderboard"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "leaderboard"


def read(path: Path) -> Results:
    """Return the results in a file."""
    try:
        return Results(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path} holds no results: {error}") from None


def stored(file: str) -> list[Results]:
    """Return the stored results of the built-in agents at one game, whose files have this name."""
    paths = [folder() / name / file for name in BUILT_IN]
    return [read(path) for path in paths if path.is_file()]


def rating_table(entries: list[Results]) -> str:
    """Return the agents as a Markdown table, the highest rating first."""
    met = (opponent for entry in entries for opponent in entry.games)
    names = list(dict.fromkeys([*(entry.name for entry in entries), *met]))
    place = {name: k for k, name in enumerate(names)}
    sides = entries[0].sides
    played: dict[tuple[int, int], dict[int, npt.NDArray[np.float64]]] = {}
    for entry in entries:
        for opponent in entry.games:
            i, j, won = place[entry.name], place[opponent], entry.won(opponent)
            pair, won = ((i, j), won) if i < j or sides > 2 else ((j, i), 2 - won)
            by_seed = played.setdefault(pair, {})
            if len(won) > len(by_seed.get(entry.seed, ())):
                by_seed[entry.seed] = won
    scores = {pair: np.concatenate([*by_seed.values()]) for pair, by_seed in played.items()}
    agents = rated(names, scores, 1, ANCHOR if ANCHOR in names else None, opponents=sides - 1)
    exploits = {one.name: exploitability_cell(one.exploitability) for one in entries if one.exploitability}
    more = {"exploitability": exploits} if exploits else {}
    for other in BUILT_IN:
        if other in names:
            more[other] = {one: _share(scores, sides, place[one], place[other]) for one in names}
    return ratings_table(agents, more)


def exploitability_cell(found: Mapping[str, Any]) -> str:
    """Return an exploitability with its interval, after a ≈ for an approximation."""
    mark = f"{APPROXIMATELY} " if found["agreement"]["otherwise"] else ""
    return f"{mark}{Estimate(found['mean'], found['ci95'])}"


def _share(scores: dict[tuple[int, int], npt.NDArray[np.float64]], sides: int, one: int, other: int) -> str:
    """Return in per cent the share of games that one agent won from another, "" if unknown."""
    won = scores.get((one, other))
    if won is None and sides == 2 and (other, one) in scores:
        won = 2 - scores[other, one]
    return "" if won is None else shown(as_json(estimate(won / sides)), 100, 1, "")


def blank_card(results: Results) -> str:
    """Return a card to fill in."""
    parts = [f"# {results.name}", "", BLANK, ""]
    return "\n".join([*parts, *(f"## {heading}\n\n{BLANK}\n" for heading in HEADINGS)])


def exploited(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of `Exploitability.as_dict` that an agent's results keep."""
    return {**found["gain"]["both"]["all"], **{key: found[key] for key in HOW}}


@checked_dataclass(frozen=True)
class Settings(TakesAgents):
    """Rate an agent by games against expert, learned, rule_based, greedy and random.

    Attributes:
        agent: a name, a .safetensors, .zip (Stable-Baselines3) or .onnx file, or
            package.module:Class.
        env: the environment.
        players: how many play, by default the fewest the rules allow.
        pairs: duplicate pairs of games against each of these that plays the game; among three
            sides, sets of three.
        seed: fixes everything.
        name: the agent's name in the table; by default its own, or that of the folder of --out.
        exploitability: also measure how much a best response gains against it, with N drawn
            hands (see crib exploit); 0 skips this.
        out: a folder to write its results to, and a card to fill in, as for the leaderboard.
        check: a file of its results, whose games to play again and compare. Environment, players,
            pairs, seed and name are the file's.
    """

    agent: types.AgentName
    _: KW_ONLY
    env: types.EnvName = "six_card_v0"
    players: types.Players | None = None
    pairs: types.Count = 500
    seed: types.Seed = 1
    name: str | None = None
    exploitability: types.CountOrNone = 0
    out: types.NewFolder | None = None
    check: types.File | None = None


def play(
    maker: EnvMaker,
    agent: Agent,
    pairs: int,
    seed: int,
    players: int | None,
    name: str | None,
    opponents: Sequence[str] | None = None,
) -> Results:
    """Play an agent against ``opponents``, by default `BUILT_IN` but itself (see `row_name`)."""
    _, rules = find_game(maker.name)
    seats = players_of(rules, players)
    n_sides = sides_of(rules, players)
    check_seed(seed)
    name = name or agent.name
    if opponents is None:
        opponents = [other for other in BUILT_IN if other != name and plays(other, rules)]
    for one in (agent, *map(load_agent, opponents)):  # before any game is played
        refuse_rules(in_phase(maker, one), rules, "game")
    games = {}
    with Progress(f"rating {name}", len(opponents) * pairs) as progress:
        for opponent in opponents:  # on the same deals, so that agents compare pair by pair
            both = in_phase(maker, agent), in_phase(maker, load_agent(opponent))
            played = play_pairs(rules, "game", *both, pairs, seed, players=seats)
            halves = np.rint(2 * n_sides * played.shares_won).astype(np.int64)
            games[opponent] = np.bincount(halves, minlength=2 * n_sides + 1).tolist()
            progress.advance(pairs)
    return Results(name, maker.name, rules.name, seats, pairs, seed, versions(), games)


def check(results: Results, agent: Agent, opponents: Sequence[str] | None = None) -> list[str]:
    """Play the games of results again; return how the results differ, a line per opponent."""
    maker = find_env(results.environment)
    met = tuple(results.games) if opponents is None else opponents
    again = play(maker, agent, results.pairs, results.seed, results.players, results.name, met)
    return [
        f"against {other}, the numbers of pairs with 0, a half, 1, ... games won are "
        f"{counts}, not {results.games.get(other)}"
        for other, counts in again.games.items()
        if counts != results.games.get(other)
    ]


def row_name(settings: Settings, agent: Agent) -> str:
    """Return the name of the agent's row, which no other agent of the table has."""
    others = [name for name in agent_names() if name != settings.agent]
    given = settings.name or (settings.out.resolve().name if settings.out else None)
    if given is None:
        return f"{agent.name} (yours)" if agent.name in others else agent.name
    if given in others:
        option = "--name" if settings.name else f"--out {settings.out}"
        raise ValueError(
            f"{option} names the installed agent {given!r}, and {settings.agent} is not that agent: choose another name"
        )
    return given


def run(settings: Settings) -> None:
    """Play, print the table, and write the results; or check those of a file."""
    agent = settings.load_agent(settings.agent)
    if settings.check:
        run_check(settings.check, agent)
        return
    name = row_name(settings, agent)
    maker, rules = find_game(settings.env)
    found = None
    if settings.exploitability:  # first, for it may refuse the settings
        found = exploitability(agent, env=settings.env, hands=settings.exploitability, seed=settings.seed)
    results = play(maker, agent, settings.pairs, settings.seed, settings.players, name)
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
        print(f"\nExploitability in points per deal, {APPROXIMATELY} for an approximation:\n\n{found}")
    if settings.out:
        settings.out.mkdir(parents=True, exist_ok=True)
        write_json(settings.out / results.file, asdict(results))
        if not (settings.out / CARD).exists():
            write_whole(settings.out / CARD, blank_card(results).encode())
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
