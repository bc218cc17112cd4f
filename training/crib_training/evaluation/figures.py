"""Figures of two agents from duplicate games, ready for JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from crib_agents.data.tables import ROLES

from crib_env.arrays import Array
from crib_env.engine.family import find_family
from crib_env.rules import LARGEST_TARGET, Rules
from crib_training.evaluation.aivat import Adjust
from crib_training.evaluation.duplicate import Estimate, Pairs, estimate

NOTHING: dict[str, float | None] = {"mean": None, "ci95": None}


def figures(
    rules: Rules, names: tuple[str, str], games: Pairs, deals: Pairs, episode: str = "game", adjust: Adjust = "always"
) -> dict[str, Any]:
    """Return the figures of two agents from duplicate games and single deals, ready for JSON.

    A forfeited game counts as lost; its pair does not count for points or the first dealer's
    advantage. With ``adjust`` "auto", a corrected figure with a wider interval than the plain one
    is left out. Among more than two sides there are no skunks.
    """
    phases = find_family(rules.family).phases
    finished_games, finished_deals = games.without_forfeits(), deals.without_forfeits()
    known = games.sides == 2 and episode == "game" and rules.skunks(LARGEST_TARGET)
    skunks = games.margin if known else games.margin[:0]
    dealers = np.take_along_axis(finished_games.won, finished_games.dealer[..., None], axis=2)
    return {
        "won": as_json(estimate(games.shares_won)),
        "won_as_first_dealer": as_json(estimate(games.won[..., 0][games.first_dealt])),
        "first_dealer_won": as_json(estimate(dealers.mean(axis=(1, 2)))),
        "margin": as_json(estimate(finished_games.margin.mean(axis=1))),
        "skunks_for": as_json(estimate((rules.skunks(skunks) > 0).mean(axis=1))),
        "skunks_against": as_json(estimate((rules.skunks(-skunks) > 0).mean(axis=1))),
        "margin_per_deal": as_json(estimate(finished_deals.points_ahead.mean(axis=1))),
        "points_per_deal": {
            **as_json(estimate(finished_deals.points[..., 0, :].sum(axis=2).mean(axis=1))),
            **{
                role: dict(zip(names, (_by_phase(phases, made) for made in both), strict=True))
                for role, both in zip(ROLES, by_role(finished_deals), strict=True)
            },
        },
        "more_per_deal": _more_by_role(phases, points_more(finished_deals)),
        "adjusted": _adjusted(phases, games, finished_deals, only_narrower=adjust == "auto"),
        "forfeits": {
            name: int(games.forfeits[..., player].sum() + deals.forfeits[..., player].sum())
            for player, name in enumerate(names)
        },
    }


def as_json(value: Estimate) -> dict[str, float | None]:
    """Return an estimate for JSON, with None for NaN."""
    return {
        "mean": None if math.isnan(value.mean) else value.mean,
        "ci95": None if math.isnan(value.ci95) else value.ci95,
    }


def adjusted_shares(games: Pairs) -> Array:
    """Return float64[pairs], `Pairs.shares_won` less their corrections."""
    assert games.won_correction is not None
    shares: Array = games.shares_won - games.won_correction.sum(axis=2).mean(axis=1)
    return shares


def _adjusted(phases: tuple[str, ...], games: Pairs, deals: Pairs, only_narrower: bool) -> dict[str, Any] | None:
    """Return the corrected figures: games won, and points per deal more; None without any."""
    if games.won_correction is None or deals.points_correction is None:
        return None
    plain = points_more(deals)
    more = points_more(deals, deals.points - deals.points_correction.sum(axis=2))
    won = adjusted_shares(games)
    fewer = {
        "won": times_fewer(games.shares_won, won),
        "margin_per_deal": times_fewer(plain.sum(axis=(1, 2)), more.sum(axis=(1, 2))),
    }
    found: dict[str, Any] = {
        "won": as_json(estimate(won)),
        "margin_per_deal": as_json(estimate(more.sum(axis=(1, 2)) / 2)),
        "more_per_deal": _more_by_role(phases, more),
        "times_fewer_pairs": fewer,
    }
    wider = [key for key, times in fewer.items() if only_narrower and times and times < 1]
    for key in wider:
        found[key], fewer[key] = NOTHING, None
    if "margin_per_deal" in wider:
        found["more_per_deal"] = None
    return None if len(wider) == len(fewer) else found


def times_fewer(plain: Array, adjusted: Array) -> float | None:
    """Return how many times fewer pairs give the same interval with ``adjusted`` values.

    Both arrays hold one value per pair. Returns None for fewer than two pairs or without spread.
    """
    if len(plain) < 2 or not plain.var() or not adjusted.var():
        return None
    return float(plain.var() / adjusted.var())


def by_role(deals: Pairs, points: Array | None = None) -> list[tuple[Array, Array]]:
    """Return each set's mean points of (first, second) as pone, then as dealer, by phase.

    In a pair each agent has each role once, with the same cards if the deals are duplicates.
    Shapes: each float64[sets, 3].
    """
    points = deals.points if points is None else points
    sides = np.arange(deals.sides)
    dealing = sides == deals.dealer[..., None]
    return [
        tuple(
            np.einsum("sgp,sgpf->sf", mine, points) / mine.sum(axis=(1, 2))[:, None]
            for mine in (in_role & (sides == 0), in_role & (sides != 0))
        )
        for in_role in (~dealing, dealing)
    ]


def points_more(deals: Pairs, points: Array | None = None) -> Array:
    """Return float64[sets, 2, 3], points of ``first`` more than of ``second`` by role and phase."""
    return np.stack([own - others for own, others in by_role(deals, points)], axis=1)


def _more_by_role(phases: tuple[str, ...], more: Array) -> dict[str, Any]:
    return {role: _by_phase(phases, more[:, i]) for i, role in enumerate(ROLES)}


def _by_phase(phases: tuple[str, ...], points: Array) -> dict[str, Any]:
    return {phase: as_json(estimate(points[:, i])) for i, phase in enumerate(phases)}
