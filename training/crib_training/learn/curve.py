"""Strength during training, by any method: measured on duplicate deals and written to files.

Every run writes ``curve.csv``, always with the same columns, the picture ``curve.png``, and
``curve.json`` with the texts of the picture. `crib curves` draws several runs into one picture.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crib_agents.files import write_whole
from crib_agents.loading import load_agent

from crib_env.envs.makers import EnvSpec
from crib_env.policy import Agent
from crib_env.rules import Rules
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.learn.picture import draw, of_run
from crib_training.learn.run import Curve, Learner, Measured
from crib_training.loading import in_phase, shortest_episode, sides_of
from crib_training.outputs import csv_table, write_json

SEED = 2_000_000  # of the deals that strength is measured on: every time the same
TABLE, WORDS, PICTURE = "curve.csv", "curve.json", "curve.png"


@dataclass(frozen=True)
class Point:
    """The strength of the agent at one point of its training, against one opponent.

    Attributes:
        deals: learned from so far.
        decisions: learned from so far.
        cpu_seconds: of playing and learning.
        opponent: who strength is measured against.
        points: points per deal more than the opponent.
        points_interval: half its 95 % interval.
        won: the share of games won.
        won_interval: half its 95 % interval.
    """

    deals: int
    decisions: int
    cpu_seconds: float
    opponent: str
    points: float
    points_interval: float
    won: float
    won_interval: float

    def measured(self) -> Measured:
        """Return it as a run shows it."""
        won = f"{100 * self.won:.1f} ± {100 * self.won_interval:.1f} % against {self.opponent}"
        text = (f"{self.deals:>10,} deals {self.decisions:>11,} decisions "
                f"{self.cpu_seconds:7.1f} CPU s  {self.points:+.2f} ± {self.points_interval:.2f} "
                f"points per deal, {won}")  # fmt: skip
        scalars = {f"games_won/{self.opponent}": self.won,
                   f"points_per_deal/{self.opponent}": self.points}  # fmt: skip
        return Measured(text, scalars, f", {won}")


class Strength(Curve):
    """The strength of what a run learns, against reference opponents.

    Args:
        maker: the environment.
        rules: the rules that are played.
        players: seats in a game.
        method: by what is learned, in words.
        eval_opponents: who strength is measured against, joined by commas.
        baselines: agents whose own strength against the first of those the picture shows as lines,
            likewise.
        sizes: measurements in all, pairs of deals in each (0 measures nothing), and in the last.

    Raises:
        ValueError: one of them is not known.

    Attributes:
        points: measured so far.
        shares: the share of games that each baseline won, by name.
    """

    def __init__(
        self, maker: EnvSpec, rules: Rules, players: int, method: str, eval_opponents: str,
        baselines: str, sizes: tuple[int, int, int],
    ) -> None:  # fmt: skip
        self.maker, self.rules, self.players = maker, rules, players
        self.num_evals, self.pairs, self.final_pairs = sizes
        self.opponents, self.baselines = (
            {name: load_agent(name) for name in filter(None, names.split(","))}
            for names in (eval_opponents, baselines)
        )
        if not self.opponents:
            raise ValueError(
                "strength is measured against one opponent at least: --eval-opponents NAME"
            )
        game = maker.name.rpartition("_v")[0].replace("_", " ").capitalize()
        variant = "" if rules.name == maker.rules else f" by the rules {rules.name}"
        self.title = f"{game}{variant} for {players}, learned by {method}"
        self.points: list[Point] = []
        self.shares: dict[str, float] = {}

    def due(self, learner: Learner) -> bool:
        """Return whether a measurement should have been made; the first is before it learns."""
        if not self.pairs or not self.points:
            return bool(self.pairs)
        total, last = learner.total, self.points[-1].deals
        return learner.done * self.num_evals // total > last * self.num_evals // total

    def measure(self, learner: Learner) -> list[Measured]:
        """Measure what has been learned so far."""
        pairs = self.final_pairs if learner.done >= learner.total else self.pairs
        return self.measure_agent(learner.agent(), learner.done, learner.decisions,
                                  learner.cpu_seconds, pairs)  # fmt: skip

    def measure_agent(
        self, agent: Agent, deals: int, decisions: int, cpu_seconds: float, pairs: int
    ) -> list[Measured]:
        """Measure an agent against each opponent; see `strength` and `Point`."""
        spent = round(cpu_seconds, 2)
        measured = [
            Point(deals, decisions, spent, name, **self._strength(agent, opponent, pairs))
            for name, opponent in self.opponents.items()
        ]
        self.points += measured
        return [point.measured() for point in measured]

    def finish(self) -> None:
        """Measure the baselines."""
        if not self.pairs:
            return
        first, opponent = next(iter(self.opponents.items()))
        self.shares = {first: 1 / sides_of(self.rules, self.players)}
        for name, agent in self.baselines.items():
            self.shares[name] = self._strength(agent, opponent, self.pairs)["won"]

    def _strength(self, agent: Agent, opponent: Agent, pairs: int) -> dict[str, float]:
        ours, theirs = in_phase(self.maker, agent), in_phase(self.maker, opponent)
        episode = shortest_episode(self.maker)
        return strength(ours, theirs, self.rules, episode, self.players, pairs)

    def write(self, folder: Path) -> None:
        """Write table and words."""
        write_whole(folder / TABLE, csv_table(Point, self.points))
        words = {"title": self.title, "baselines": self.shares}
        write_json(folder / WORDS, words)

    def draw(self, folder: Path) -> None:
        """Write the picture, if anything was measured."""
        if self.points:
            known = [
                of_run(f"against {name}", [asdict(p) for p in self.points], name)
                for name in self.opponents
            ]
            write_whole(folder / PICTURE, draw(known, self.shares, self.title))

    def state(self) -> dict[str, Any]:
        """Return what was measured, ready for JSON."""
        return {"points": [asdict(point) for point in self.points], "baselines": self.shares}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self.points = [Point(**point) for point in state["points"]]
        self.shares = dict(state["baselines"])


def strength(
    agent: Agent, opponent: Agent, rules: Rules, episode: str, players: int, pairs: int
) -> dict[str, float]:
    """Return an agent's strength against an opponent, as the fields of `Point` name it.

    Among three sides the agent meets two of the opponent.
    """
    deals = play_pairs(rules, episode, agent, opponent, pairs, SEED, players=players)
    points = deals.points.sum(axis=3)
    lead = estimate((points[..., 0] - points[..., 1:].mean(axis=2)).mean(axis=1))
    games = play_pairs(rules, "game", agent, opponent, max(2, pairs // 2), SEED, players=players)
    won = estimate(games.shares_won)
    return {
        "points": lead.mean,
        "points_interval": lead.half,
        "won": won.mean,
        "won_interval": won.half,
    }


def read_points(folder: Path) -> list[Point]:
    """Return the points that a run has written."""
    path = folder / TABLE
    if not path.is_file():
        raise ValueError(f"{folder} is not the folder of a run: it has no {TABLE}")
    kinds = {"deals": int, "decisions": int, "opponent": str}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [
                Point(**{key: kinds.get(key, float)(value) for key, value in row.items()})
                for row in csv.DictReader(file)
            ]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is not the table of a run: {error}") from None


def read_words(folder: Path) -> dict[str, Any]:
    """Return the title of a run and the shares of its baselines."""
    path = folder / WORDS
    if not path.is_file():
        return {"title": folder.name, "baselines": {}}
    words: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return words
