"""The rows of the leaderboard: each agent's file of results, and the table made from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_training.evaluation.duplicate import estimate
from crib_training.evaluation.figures import as_json, shown
from crib_training.evaluation.markdown import table
from crib_training.evaluation.ratings import rate
from crib_training.exploit import Gain
from crib_training.loading import find_game, seats_of, sides_of

BUILT_IN = ("expert", "learned", "rule_based", "greedy", "random")
ANCHOR = "rule_based"  # rated 0
CARD = "card.md"
BLANK = "(to be written)"
HEADINGS = ("Method", "Training", "Code and weights")
APPROXIMATELY = "≈"  # before an exploitability that is one
HOW = ("hands", "seed", "abstraction", "max_queries", "agreement")  # of an exploitability


@dataclass(frozen=True)
class Results:
    """What an agent made of the built-in ones.

    Attributes:
        name: the agent's.
        environment, rules, players, pairs, seed: under what was played.
        versions: of the packages that the results depend on.
        games: for each opponent, in how many pairs 0, a half, 1, one and a half, or 2 of the two
            games were won; among more sides than two, in how many sets 0, a half, 1, and so on of
            the games against copies of it.
        exploitability: how much a perfect opponent gains against it, in points per deal (``mean``
            and ``ci95``), and how that was measured; None if it was not.
    """

    name: str
    environment: str
    rules: str
    players: int
    pairs: int
    seed: int
    versions: dict[str, str]
    games: dict[str, list[int]]
    exploitability: dict[str, Any] | None = None

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
        """What its file in the agent's folder is called."""
        usual = len(seats_of(*find_game(self.environment, self.rules), None))
        return f"{self.environment}{f'_{self.players}' if self.players > usual else ''}.json"

    def won(self, opponent: str) -> npt.NDArray[np.float64]:
        """Return float64[pairs], the games won from an opponent in each pair."""
        return np.repeat(np.arange(len(self.games[opponent])) / 2, self.games[opponent])


def folder() -> Path:
    """Return the leaderboard: inside the package where it is installed, else of the checkout."""
    installed = Path(__file__).parent / "leaderboard"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "leaderboard"


def read(path: Path) -> Results:
    """Return the results in a file."""
    try:
        return Results(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path} holds no results: {error}") from None


def stored(file: str, names: tuple[str, ...] = BUILT_IN) -> list[Results]:
    """Return what agents of the leaderboard made at a game, by the name of their files there."""
    paths = [folder() / name / file for name in names]
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
    exploits = {entry.name: entry.exploitability for entry in entries if entry.exploitability}
    extra = ["exploitability"] if exploits else []
    anchor = place.get(ANCHOR)
    ratings, low, high = rate(scores, len(names), seed=1, anchor=anchor, opponents=sides - 1)
    rows = []
    for rank, k in enumerate(np.argsort(-ratings), start=1):
        cells = [_share(scores, sides, int(k), place.get(other)) for other in BUILT_IN]
        interval = f"{low[k]:+.0f} to {high[k]:+.0f}"
        more = [_exploitability(exploits.get(names[k])) for _ in extra]
        rows.append([rank, names[k], f"{ratings[k]:+.0f}", interval, *more, *cells])
    return table(["", "agent", "Elo", "95 %", *extra, *BUILT_IN], rows)


def _exploitability(found: Mapping[str, Any] | None) -> str:
    """Return an exploitability with its interval, after a ≈ where it is an approximation."""
    if found is None:
        return ""
    mark = f"{APPROXIMATELY} " if found["agreement"]["otherwise"] else ""
    return f"{mark}{Gain(found['mean'], found['ci95'])}"


def _share(
    scores: dict[tuple[int, int], npt.NDArray[np.float64]], sides: int, one: int, other: int | None
) -> str:
    """Return the share of games that one won from another in per cent, or nothing."""
    if other is None:
        return ""
    won = scores.get((one, other))
    if won is None and sides == 2 and (other, one) in scores:
        won = 2 - scores[other, one]
    return "" if won is None else shown(as_json(estimate(won / sides)), 100, 1, "")


def blank_card(results: Results) -> str:
    """Return a card to fill in."""
    parts = [f"# {results.name}", "", BLANK, ""]
    return "\n".join([*parts, *(f"## {heading}\n\n{BLANK}\n" for heading in HEADINGS)])


def exploited(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the results of an agent keep of `Exploitability.as_dict`."""
    return {**found["gain"]["both"]["all"], **{key: found[key] for key in HOW}}
