"""The results of a tournament: ratings with intervals, every pairing, every failure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, product
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_training.evaluation.duplicate import Pairs, estimate
from crib_training.evaluation.evaluate import versions
from crib_training.evaluation.figures import NOTHING, ROLES, as_json, figures
from crib_training.evaluation.ratings import expected_share, rate
from crib_training.evaluation.referee import counted
from crib_training.loading import find_game
from crib_training.tournament.chunks import Setup

Played = Mapping[tuple[int, int], tuple[Pairs, Pairs]]


def standings(
    setup: Setup,
    names: list[str],
    played: Played,
    pairs: int,
    until: float | None,
    anchor: str | None,
) -> dict[str, Any]:
    """Return a tournament's results, ready for JSON."""
    _, rules = find_game(setup.environment, setup.rules)
    shares = {pairing: games.shares_won for pairing, (games, _) in played.items()}
    scores = {pairing: setup.sides * share for pairing, share in shares.items()}
    zero = None if anchor is None else names.index(anchor)
    opponents = setup.sides - 1
    ratings, low, high = rate(
        scores, len(names), setup.seeds[0], zero, together=True, opponents=opponents
    )
    pairings = [
        {
            "first": names[i],
            "second": names[j],
            "pairs": len(games.scores),
            **figures(rules, (names[i], names[j]), games, deals, setup.episode),
        }
        for (i, j), (games, deals) in played.items()
    ]
    expected = expected_share(ratings, opponents)
    misfits = [abs(float(share.mean()) - expected[pair]) for pair, share in shares.items()]
    label = dict(zip(setup.agents, names, strict=True))
    failures = [f for pair in played.values() for kind in pair for f in kind.failures]
    return {
        "environment": setup.environment,
        "rules": setup.rules or rules.name,
        "episode": setup.episode,
        "players": setup.players,
        "sides": setup.sides,
        "pairs": pairs,
        "until": until,
        "chunk": setup.chunk,
        "seed": setup.seeds[0] if len(setup.seeds) == 1 else list(setup.seeds),
        "move_seconds": setup.move_seconds,
        "versions": versions(),
        "anchor": anchor,
        "agents": [
            {
                "name": name,
                "given": setup.agents[place],
                "rating": float(ratings[place]),
                "low": float(low[place]),
                "high": float(high[place]),
                **_overall(name, [r for r in pairings if name in (r["first"], r["second"])]),
                "won": mean_won(
                    [
                        _seen_by(place, pair, shares[pair])
                        for pair in played
                        if place == pair[0] or (place == pair[1] and opponents == 1)
                    ]
                ),
            }
            for place, name in enumerate(names)
        ],
        "pairings": pairings,
        "compared": compared(names, shares) if setup.gauntlet else [],
        "largest_misfit": max(misfits),
        "failures": counted(failures, label),
    }


def _seen_by(place: int, pairing: tuple[int, int], shares: Array) -> Array:
    """Return the shares of games that the agent in a place won, of a pairing's first agent's."""
    return shares if place == pairing[0] else 1 - shares


def mean_won(shares: list[Array]) -> dict[str, float | None]:
    """Return the mean over an agent's opponents, each with equal weight; none without opponents.

    All pairings have the same deals, so their results correlate; the interval accounts for that.

    Shapes: shares float64[pairs].
    """
    if not shares:
        return NOTHING
    variance = 0.0
    for one, other in product(shares, repeat=2):
        common = min(len(one), len(other))
        together = np.cov(one[:common], other[:common])[0, 1] if common > 1 else math.nan
        variance += together / max(len(one), len(other))
    half = 1.96 * math.sqrt(max(variance, 0.0)) / len(shares) if variance == variance else None
    return {"mean": float(np.mean([share.mean() for share in shares])), "ci95": half}


def compared(names: list[str], shares: Mapping[tuple[int, int], Array]) -> list[dict[str, Any]]:
    """Return how two agents compare by their games against the same third, ready for JSON.

    Shapes: shares float64[pairs].
    """
    found = []
    for one, other in combinations(shares, 2):
        common = min(len(shares[one]), len(shares[other]))
        won = as_json(estimate(shares[other][:common] - shares[one][:common]))
        found.append({"one": names[one[1]], "than": names[other[1]], "won": won})
    return found


def _overall(name: str, pairings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an agent's points and forfeits over its pairings, each opponent with equal weight."""
    points = [{role: r["points_per_deal"][role][name] for role in ROLES} for r in pairings]
    return {
        "points_per_deal": {
            role: {phase: _mean([p[role][phase] for p in points]) for phase in points[0][role]}
            for role in ROLES
        },
        "forfeits": sum(r["forfeits"][name] for r in pairings),
    }


def won_by(r: dict[str, Any], name: str) -> dict[str, float | None]:
    """Return the share of a pairing's games that the agent of that name won."""
    won: dict[str, float | None] = r["won"]
    if name == r["first"] or won["mean"] is None:
        return won
    return {"mean": 1 - won["mean"], "ci95": won["ci95"]}


def _mean(values: list[dict[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of estimates from the same deals, each with equal weight.

    Their correlation is unknown, so the interval is an upper bound.
    """
    known = [v for v in values if v["mean"] is not None]
    if not known:
        return {"mean": None, "ci95": None}
    halves = [v["ci95"] for v in known if v["ci95"] is not None]
    return {
        "mean": float(np.mean([v["mean"] for v in known])),
        "ci95": float(np.mean(halves)) if len(halves) == len(known) else None,
    }
