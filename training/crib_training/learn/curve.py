"""Strength while it is learned: measured by duplicate deals, as a table and as a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from crib_env.policy import Agent
from crib_env.rules import Rules
from crib_training.evaluation.duplicate import estimate, play_pairs

SEED = 2_000_000  # of the deals that strength is measured on: every time the same


@dataclass(frozen=True)
class Point:
    """The strength of the agent after so many deals, against one opponent.

    Attributes:
        deals, decisions: of self-play. cpu_seconds: of self-play and learning.
        opponent: who.
        points, points_interval: points a deal more than it, and half the 95 % interval.
        won, won_interval: the share of games won, in the same way.
    """

    deals: int
    decisions: int
    cpu_seconds: float
    opponent: str
    points: float
    points_interval: float
    won: float
    won_interval: float


def strength(
    agent: Agent, opponent: Agent, rules: Rules, episode: str, players: int, pairs: int
) -> dict[str, float]:
    """Return an agent's strength against an opponent, as the fields of `Point` name it.

    Args:
        episode: the shortest of the game.
        pairs: of those; half as many of games.
    """
    deals = play_pairs(rules, episode, agent, opponent, pairs, SEED, players=players)
    lead = estimate((deals.points[:, :, 0] - deals.points[:, :, 1]).sum(axis=2).mean(axis=1))
    games = play_pairs(rules, "game", agent, opponent, max(2, pairs // 2), SEED, players=players)
    won = estimate((games.result == 1).mean(axis=1))
    return {
        "points": lead.mean,
        "points_interval": lead.half,
        "won": won.mean,
        "won_interval": won.half,
    }


def table(curve: Sequence[Point]) -> bytes:
    """Return the curve as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Point)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(point) for point in curve)
    return text.getvalue().encode()


def picture(curve: Sequence[Point], lines: Mapping[str, float], title: str) -> bytes:
    """Return the curve as PNG.

    Args:
        lines: the share of games that reference agents win against the first opponent.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2))
    for opponent in dict.fromkeys(point.opponent for point in curve):
        points = [point for point in curve if point.opponent == opponent]
        seconds = [point.cpu_seconds for point in points]
        won = 100 * np.array([point.won for point in points])
        half = 100 * np.array([point.won_interval for point in points])
        axes.plot(seconds, won, marker="o", markersize=3, label=f"against {opponent}")
        axes.fill_between(seconds, won - half, won + half, alpha=0.25)
    for name, share in lines.items():
        axes.axhline(100 * share, color="grey", linewidth=0.8)
        axes.annotate(
            f" {name}", (0.0, 100 * share), xycoords=("axes fraction", "data"), va="bottom"
        )
    axes.set_xlabel("CPU seconds of self-play and learning")
    axes.set_ylabel("games won, %")
    axes.set_title(title)
    axes.legend(loc="center right")
    figure.tight_layout()
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=120)
    plt.close(figure)
    return image.getvalue()
