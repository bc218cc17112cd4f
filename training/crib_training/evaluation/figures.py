"""What duplicate games say of two agents: figures ready for JSON, and tables made from them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from crib_env.engine.family import find_family
from crib_env.rules import Rules
from crib_training.evaluation.duplicate import Array, Estimate, Pairs, estimate
from crib_training.evaluation.markdown import table

ROLES = ("pone", "dealer")


def figures(
    rules: Rules,
    names: tuple[str, str],
    games: Pairs,
    deals: Pairs,
    episode: str = "game",
) -> dict[str, Any]:
    """Return what duplicate games and single deals say of two agents, ready for JSON.

    A game forfeited is a game lost and says nothing of points or of the first dealer's advantage:
    those are over the other pairs.

    Args:
        rules: the rules.
        names: what the two are called, each by a name of its own.
        games: whole games.
        deals: single deals from 0-0.
        episode: what ``games`` are: games, or matches. Matches know no skunks, nor does Table Top.
    """
    family = find_family(rules.family)
    whole_games, whole_deals = games.whole(), deals.whole()
    known = episode == "game" and "games" in (family.state.names or ())  # the points they count
    skunk = getattr(rules, "skunk_margin", 0)
    skunks = games.margin if known else games.margin[:0]
    return {
        "won": _shown(estimate(shares_won(games))),
        "won_as_first_dealer": _shown(_as_dealer(games)),
        "first_dealer_won": _shown(estimate(_dealers_share(whole_games))),
        "margin": _shown(estimate(whole_games.margin.mean(axis=1))),
        "skunks_for": _shown(estimate((skunks > skunk).mean(axis=1))),
        "skunks_against": _shown(estimate((skunks < -skunk).mean(axis=1))),
        "margin_a_deal": _shown(estimate(_made(whole_deals).mean(axis=1))),
        "points_a_deal": {
            role: {
                names[0]: _phases(family.phases, whole_deals, 0, role == "dealer"),
                names[1]: _phases(family.phases, whole_deals, 1, role == "dealer"),
            }
            for role in ROLES
        },
        "forfeits": {
            name: int(games.forfeits[:, :, player].sum() + deals.forfeits[:, :, player].sum())
            for player, name in enumerate(names)
        },
    }


def shares_won(games: Pairs) -> Array:
    """Return float64[pairs], the share of each pair's games that ``first`` won, draws as half."""
    shares: Array = (1 + games.result).mean(axis=1) / 2
    return shares


def _shown(value: Estimate) -> dict[str, float | None]:
    """Return an estimate for JSON, which has no NaN."""
    return {
        "mean": None if math.isnan(value.mean) else value.mean,
        "half_interval": None if math.isnan(value.half) else value.half,
    }


def _made(deals: Pairs) -> Array:
    totals: Array = deals.points.sum(axis=3)
    return totals[:, :, 0] - totals[:, :, 1]


def _as_dealer(games: Pairs) -> Estimate:
    """Return how often ``first`` wins a game whose first deal is its own: one game of each pair."""
    return estimate((1 + games.result)[games.first_dealt] / 2)


def _dealers_share(games: Pairs) -> Array:
    """Return float64[pairs], the share of each pair's games that the first dealer won."""
    result: Array = np.where(games.first_dealt, games.result, -games.result)
    shares: Array = (1 + result).mean(axis=1) / 2
    return shares


def _phases(phases: tuple[str, ...], deals: Pairs, player: int, dealer: bool) -> dict[str, Any]:
    """Return points a deal by phase: each player has each role once in a pair."""
    dealt = deals.first_dealt if player == 0 else ~deals.first_dealt
    points = deals.points[:, :, player][dealt == dealer]
    return {phase: _shown(estimate(points[:, i])) for i, phase in enumerate(phases)}


def comparison_table(results: list[dict[str, Any]]) -> str:
    """Return the results as a Markdown table, one row a comparison."""
    rows = [
        [
            r["first"], r["second"], shown_percent(r["won"]),
            f"{_share(r['skunks_for'])} / {_share(r['skunks_against'])} %",
            shown_plain(r["margin_a_deal"]),
        ]
        for r in results
    ]  # fmt: skip
    head = ["agent", "against", "games won", "skunks for / against", "points a deal more"]
    return table(head, rows)


def phase_table(r: dict[str, Any]) -> str:
    """Return one comparison's points a deal by role and phase as a Markdown table."""
    return points_table(
        (role, name, points)
        for role, players in r["points_a_deal"].items()
        for name, points in players.items()
    )


def points_table(points: Iterable[tuple[str, str, dict[str, Any]]]) -> str:
    """Return points a deal by phase, each given with the role and the agent, as Markdown."""
    given = list(points)
    rows = [[role, name, *map(shown_plain, phases.values())] for role, name, phases in given]
    return table(["role", "agent", *given[0][2]], rows)


def shown_percent(value: dict[str, float | None]) -> str:
    """Return a share with its interval in percent, or a dash where there is none."""
    return _with_interval(value, 100, 1, " %")


def shown_plain(value: dict[str, float | None]) -> str:
    """Return a mean with its interval, or a dash where there is none."""
    return _with_interval(value, 1, 2, "")


def _share(value: dict[str, float | None]) -> str:
    return "–" if value["mean"] is None else f"{100 * value['mean']:.1f}"


def _with_interval(value: dict[str, float | None], times: int, places: int, unit: str) -> str:
    mean, half = value["mean"], value["half_interval"]
    if mean is None:
        return "–"
    interval = "" if half is None else f" ± {times * half:.{places}f}"
    return f"{times * mean:.{places}f}{interval}{unit}"
