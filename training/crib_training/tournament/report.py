"""The results of a tournament: ratings with intervals, pairings, failures; as data and a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.files import write_whole

from crib_env.arrays import Array
from crib_training.evaluation.duplicate import Pairs, estimate
from crib_training.evaluation.figures import (
    NOTHING,
    ROLES,
    as_json,
    comparison_table,
    difference_table,
    figures,
    points_table,
    shown,
    shown_percent,
    shown_plain,
)
from crib_training.evaluation.ratings import expected_share, rate
from crib_training.evaluation.referee import counted, failures_list
from crib_training.loading import find_game
from crib_training.outputs import as_png, table
from crib_training.provenance import versions
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
            **figures(rules, (names[i], names[j]), games, deals, setup.episode, setup.adjusted),
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


def ranked(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the agents, the highest rating first."""
    return sorted(results["agents"], key=lambda agent: -agent["rating"])


def report(results: dict[str, Any]) -> str:
    """Return the results as a page of Markdown."""
    zero = f"{results['anchor']} is 0" if results["anchor"] else "their mean is 0"
    sides = results["sides"]
    model, games, met, level = "Bradley-Terry", "pairs", "that", ""
    if sides > 2:
        model, games = "Plackett-Luce (of the winner)", "sets"
        met, level = f"{sides - 1} of that", f"; level agents win {100 / sides:.1f}"
    blocks = [
        f"# Tournament: {results['environment']}",
        conditions(results),
        "## Ratings",
        f"{model} ratings on the Elo scale; {zero}. Intervals are 95 %, by a bootstrap over "
        f"{games}. Games won are the mean over opponents.",
        ratings_table(results),
        f"No pairing's games won differ from what the ratings expect by more than "
        f"{100 * results['largest_misfit']:.1f} percentage points.",
        "## Games won",
        f"Percent of {results['episode']}s that the agent of the row won from {met} of the column"
        f"{level}.",
        cross_table(results),
        "## Pairings",
        comparison_table(results["pairings"]),
        _dealers_table(results),
    ]
    if results["compared"]:
        first = results["agents"][0]["name"]
        rows = [[c["one"], c["than"], shown_percent(c["won"])] for c in results["compared"]]
        blocks += [
            "## Compared",
            f"Games won from {first} on the same deals, pair by pair.",
            table(["agent", "than", "won more"], rows),
        ]
    if adjusted := [r for r in results["pairings"] if r["adjusted"]]:
        blocks += [
            "## Points more, by role and phase",
            "Points per deal that one agent made more than the other in the same role, with the "
            "same cards. Adjusted figures are without the luck that is left to duplicate deals "
            "(aivat.md).",
            *map(difference_table, adjusted),
        ]
    blocks += [
        "## Points per deal",
        "From single deals from 0-0, the mean over opponents.",
        points_table(
            (role, agent["name"], agent["points_per_deal"][role])
            for role in ROLES
            for agent in ranked(results)
        ),
    ]
    if results["until"] is not None:
        blocks.append(
            f"A pairing ended once its games won were known to within {results['until']:g} "
            f"percentage points, looked at after every round of chunks, or after "
            f"{results['pairs']:,} pairs. Intervals found by waiting for a narrow one "
            "hold slightly less often than 95 %, the more so the fewer pairs were played."
        )
    if results["failures"]:
        blocks += [
            "## Failures",
            "Each cost the agent the game, or the single deal, it was in. Points and the first "
            "dealer's advantage are over pairs without one, which flatters an agent that fails "
            "where its cards are bad.",
            failures_list(results["failures"]),
        ]
    return "\n\n".join(blocks) + "\n"


def conditions(results: dict[str, Any]) -> str:
    """Return the conditions of the tournament, as a sentence."""
    played = [r["pairs"] for r in results["pairings"]]
    pairs = f"{played[0]:,}" if len(set(played)) == 1 else f"{min(played):,} to {max(played):,}"
    limit, seed = results["move_seconds"], results["seed"]
    seeds = f"seeds {', '.join(map(str, seed))}" if isinstance(seed, list) else f"seed {seed}"
    what, how = "pairs", "seats swapped"
    if (sides := results["sides"]) > 2:
        what, how = "sets", f"the first agent in each of {sides} seats"
    return (
        f"{pairs} duplicate {what} of {results['episode']}s a pairing (same cards, {how}), "
        f"and as many of single deals; rules {results['rules']}, {results['players']} players, "
        f"{seeds}, "
        + ("" if limit is None else f"{limit:g} s a decision, ")
        + ", ".join(f"{name} {number}" for name, number in results["versions"].items())
        + "."
    )


def ratings_table(results: dict[str, Any]) -> str:
    """Return the agents with their ratings as a Markdown table, the highest first."""
    rows = [
        [
            place, agent["name"], f"{agent['rating']:+.0f}",
            f"{agent['low']:+.0f} to {agent['high']:+.0f}", shown_percent(agent["won"]),
            agent["forfeits"],
        ]
        for place, agent in enumerate(ranked(results), start=1)
    ]  # fmt: skip
    return table(["", "agent", "Elo", "95 %", "games won", "forfeits"], rows)


def shares_won(results: dict[str, Any]) -> dict[tuple[str, str], str]:
    """Return the games in per cent that one agent won from another, as text."""
    won = {}
    for r in results["pairings"]:
        both = (r["first"], r["second"]), (r["second"], r["first"])
        for one, other in both if results["sides"] == 2 else both[:1]:
            won[one, other] = shown(won_by(r, one), 100, 1, "")
    return won


def cross_table(results: dict[str, Any]) -> str:
    """Return the games won by each agent from each other as a Markdown table."""
    names, won = [agent["name"] for agent in ranked(results)], shares_won(results)
    rows = [[row, *(won.get((row, name), "") for name in names)] for row in names]
    return table(["", *names], rows)


def _dealers_table(results: dict[str, Any]) -> str:
    unit = "points" if results["episode"] == "game" else "game points"
    rows = [
        [
            f"{r['first']}, {r['second']}", shown_percent(r["first_dealer_won"]),
            shown_plain(r["margin"]),
        ]
        for r in results["pairings"]
    ]  # fmt: skip
    return table(["agents", "won by the first dealer", f"{unit} more"], rows)


def draw(results: dict[str, Any], path: Path) -> bool:
    """Draw the ratings with their intervals; return False where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return False
    agents = ranked(results)[::-1]
    ratings = np.array([agent["rating"] for agent in agents])
    low = ratings - [agent["low"] for agent in agents]
    high = np.array([agent["high"] for agent in agents]) - ratings
    figure = Figure(figsize=(7, 1.2 + 0.4 * len(agents)), layout="constrained")
    axes = figure.subplots()
    # A percentile interval need not hold the estimate, and matplotlib wants no negative lengths.
    errors = np.maximum([low, high], 0)
    axes.errorbar(ratings, range(len(agents)), xerr=errors, fmt="o", capsize=4, color="tab:blue")
    axes.set_yticks(range(len(agents)), [agent["name"] for agent in agents])
    axes.set_ylim(-0.6, len(agents) - 0.4)
    axes.set_xlabel("Elo, 95 % interval over duplicate pairs")
    axes.set_title(f"{results['environment']}, {results['rules']}, seed {results['seed']}")
    axes.grid(axis="x", alpha=0.3)
    write_whole(path, as_png(figure))
    return True
