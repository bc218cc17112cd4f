"""Rate an agent beside the built-in ones.

    crib rate model.zip --trust --env six_card_v0 --out leaderboard/mine

Plays duplicate pairs of games against every built-in agent and prints the rating table with the
agent's row in it. What the built-in agents made of each other is stored (`leaderboard/`), so only
the agent's own games are played. ``--out`` keeps the results, and a card to fill in, as the
leaderboard takes them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from crib_agents.loading import TakesAgents, load_agent

from crib_env.arrays import Doubles
from crib_env.envs.makers import EnvSpec
from crib_env.options import check_seed
from crib_env.policy import Agent
from crib_env.settings import Count, NewFolder, Players, Positional, Seed
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.evaluation.evaluate import versions
from crib_training.evaluation.figures import as_json, shares_won, shown
from crib_training.evaluation.markdown import table
from crib_training.evaluation.ratings import rate
from crib_training.loading import find_game, in_phase
from crib_training.outputs import write_json
from crib_training.progress import Progress

BUILT_IN = ("expert", "learned", "rule_based", "greedy", "random")
ANCHOR = "rule_based"  # rated 0
OUTCOMES = 5  # games won of a pair: 0, a half, 1, one and a half, 2
CARD = "card.md"
BLANK = "(to be written)"
HEADINGS = ("Method", "Training", "Code and weights")


@dataclass(frozen=True)
class Settings(TakesAgents):
    """Rate an agent beside the built-in ones.

    Attributes:
        agent: a name, a .safetensors, .zip (Stable-Baselines3) or .onnx file, or
            package.module:Class.
        env: the environment.
        players: 2, or 4 in Table Top.
        pairs: duplicate pairs of games against each built-in agent.
        seed: fixes everything.
        name: what the table calls it; by default its own name.
        out: a folder to write its results to, and a card to fill in, as for the leaderboard.
    """

    agent: Positional[str]
    env: str = "six_card_v0"
    players: Players = 2
    pairs: Count = 500
    seed: Seed = 1
    name: str | None = None
    out: NewFolder | None = None


@dataclass(frozen=True)
class Results:
    """What an agent made of the built-in ones.

    Attributes:
        name: the agent's.
        environment, rules, players, pairs, seed: under what was played.
        versions: of the packages that the results depend on.
        games: for each opponent, in how many pairs 0, a half, 1, one and a half, or 2 of the two
            games were won.
    """

    name: str
    environment: str
    rules: str
    players: int
    pairs: int
    seed: int
    versions: dict[str, str]
    games: dict[str, list[int]]

    @property
    def file(self) -> str:
        """What its file in the agent's folder is called."""
        return f"{self.environment}{f'_{self.players}' if self.players > 2 else ''}.json"

    def won(self, opponent: str) -> Doubles:
        """Return float64[pairs], the games won from an opponent in each pair."""
        return np.repeat(np.arange(OUTCOMES) / 2, self.games[opponent])


def play(
    maker: EnvSpec, agent: Agent, pairs: int, seed: int, players: int = 2, name: str | None = None
) -> Results:
    """Play an agent against every built-in one but itself.

    Raises:
        ValueError: a number of pairs or of players, or a seed, that cannot be.
        IllegalActionError: the agent chose an illegal action.
    """
    maker.check_players(players)
    check_seed(seed)
    _, rules = find_game(maker.name)
    name = name or agent.name
    opponents = [other for other in BUILT_IN if other != name]
    games = {}
    with Progress(f"rating {name}", len(opponents) * pairs) as progress:
        for opponent in opponents:  # on the same deals, so that agents compare pair by pair
            both = in_phase(maker, agent), in_phase(maker, load_agent(opponent))
            played = play_pairs(rules, "game", *both, pairs, seed, players=players)
            won = (4 * shares_won(played)).astype(np.int64)
            games[opponent] = np.bincount(won, minlength=OUTCOMES).tolist()
            progress.advance(pairs)
    return Results(name, maker.name, rules.name, players, pairs, seed, versions(), games)


def folder() -> Path:
    """Return the leaderboard: inside the package where it is installed, else of the checkout."""
    installed = Path(__file__).parent / "leaderboard"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "leaderboard"


def read(path: Path) -> Results:
    """Return the results in a file.

    Raises:
        ValueError: it holds none.
    """
    try:
        return Results(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path} holds no results: {error}") from None


def stored(file: str, names: tuple[str, ...] = BUILT_IN) -> list[Results]:
    """Return what agents of the leaderboard made at a game, by the name of their files there."""
    paths = [folder() / name / file for name in names]
    return [read(path) for path in paths if path.is_file()]


def rating_table(entries: list[Results]) -> str:
    """Return the agents as a Markdown table, the highest rating first.

    Args:
        entries: what each made; of two that played each other both count. Who is met in one of them
            alone is rated by those games.
    """
    met = (opponent for entry in entries for opponent in entry.games)
    names = list(dict.fromkeys([*(entry.name for entry in entries), *met]))
    place = {name: k for k, name in enumerate(names)}
    scores: dict[tuple[int, int], Doubles] = {}
    for entry in entries:
        for opponent in entry.games:
            i, j, won = place[entry.name], place[opponent], entry.won(opponent)
            pair, won = ((i, j), won) if i < j else ((j, i), 2 - won)
            scores[pair] = np.concatenate([scores.get(pair, np.empty(0)), won])
    ratings, low, high = rate(scores, len(names), seed=1, anchor=place.get(ANCHOR))
    rows = []
    for rank, k in enumerate(np.argsort(-ratings), start=1):
        cells = [_share(scores, int(k), place.get(other)) for other in BUILT_IN]
        interval = f"{low[k]:+.0f} to {high[k]:+.0f}"
        rows.append([rank, names[k], f"{ratings[k]:+.0f}", interval, *cells])
    return table(["", "agent", "Elo", "95 %", *BUILT_IN], rows)


def _share(scores: dict[tuple[int, int], Doubles], one: int, other: int | None) -> str:
    """Return the share of games that one won from another in per cent, or nothing."""
    if other is None or (min(one, other), max(one, other)) not in scores:
        return ""
    won = scores[min(one, other), max(one, other)]
    share = as_json(estimate((won if one < other else 2 - won) / 2))
    return shown(share, 100, 1, "")


def card(results: Results) -> str:
    """Return a card to fill in."""
    parts = [f"# {results.name}", "", BLANK, ""]
    return "\n".join([*parts, *(f"## {heading}\n\n{BLANK}\n" for heading in HEADINGS)])


def run(settings: Settings) -> None:
    """Play, print the table, and write the results."""
    maker, rules = find_game(settings.env)
    agent = settings.load_agent(settings.agent)
    results = play(
        maker, agent, settings.pairs, settings.seed, settings.players,
        settings.name or (settings.out.name if settings.out else None),
    )  # fmt: skip
    known = [entry for entry in stored(results.file) if entry.name != results.name]
    print(rating_table([results, *known]))
    print(
        f"\nElo, {ANCHOR} is 0, with 95 % intervals by a bootstrap over pairs; games won from each "
        f"in per cent. {settings.env}: {settings.pairs} duplicate pairs of games an opponent, "
        f"rules {rules.name}, {settings.players} players, seed {settings.seed}."
    )
    if settings.out:
        settings.out.mkdir(parents=True, exist_ok=True)
        write_json(settings.out / results.file, asdict(results))
        if not (settings.out / CARD).exists():
            (settings.out / CARD).write_text(card(results), "utf-8")
        print(f"In {settings.out}: {results.file}, {CARD}")
