"""Figures of two agents from duplicate games, ready for JSON, and tables of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_env.engine.family import find_family
from crib_env.rules import Rules
from crib_training.evaluation.duplicate import Estimate, Pairs, estimate
from crib_training.evaluation.markdown import table

ROLES = ("pone", "dealer")
NOTHING: dict[str, float | None] = {"mean": None, "ci95": None}
UNADJUSTED: dict[str, Any] = {
    "won": NOTHING,
    "margin_per_deal": NOTHING,
    "times_fewer_pairs": {"won": None, "margin_per_deal": None},
}


def figures(
    rules: Rules,
    names: tuple[str, str],
    games: Pairs,
    deals: Pairs,
    episode: str = "game",
) -> dict[str, Any]:
    """Return the figures of two agents from duplicate games and single deals, ready for JSON.

    A forfeited game counts as lost. Its pair does not count for points or for the first dealer's
    advantage. With AIVAT, ``adjusted`` has the corrected figures, and how many times fewer pairs
    they need for the same interval; otherwise it is None.
    """
    family = find_family(rules.family)
    whole_games, whole_deals = games.without_forfeits(), deals.without_forfeits()
    skunk = getattr(rules, "skunk_margin", None)
    skunks = games.margin[:0] if skunk is None or episode != "game" else games.margin
    skunk = skunk or 0
    return {
        "won": as_json(estimate(games.shares_won)),
        "won_as_first_dealer": as_json(_as_dealer(games)),
        "first_dealer_won": as_json(estimate(_dealers_share(whole_games))),
        "margin": as_json(estimate(whole_games.margin.mean(axis=1))),
        "skunks_for": as_json(estimate((skunks > skunk).mean(axis=1))),
        "skunks_against": as_json(estimate((skunks < -skunk).mean(axis=1))),
        "margin_per_deal": as_json(estimate(points_more(whole_deals).sum(axis=(1, 2)) / 2)),
        "points_per_deal": {
            **as_json(estimate(whole_deals.points[:, :, 0].sum(axis=2).mean(axis=1))),
            **{
                role: {
                    names[0]: _phases(family.phases, whole_deals, 0, role == "dealer"),
                    names[1]: _phases(family.phases, whole_deals, 1, role == "dealer"),
                }
                for role in ROLES
            },
        },
        "more_per_deal": _by_role(family.phases, points_more(whole_deals)),
        "adjusted": _adjusted(family.phases, games, whole_deals),
        "forfeits": {
            name: int(games.forfeits[:, :, player].sum() + deals.forfeits[:, :, player].sum())
            for player, name in enumerate(names)
        },
    }


def as_json(value: Estimate) -> dict[str, float | None]:
    """Return an estimate for JSON, which has no NaN."""
    return {
        "mean": None if math.isnan(value.mean) else value.mean,
        "ci95": None if math.isnan(value.half) else value.half,
    }


def adjusted_shares(games: Pairs) -> Array:
    """Return float64[pairs], `Pairs.shares_won` less their corrections."""
    assert games.won_correction is not None
    shares: Array = games.shares_won - games.won_correction.sum(axis=2).mean(axis=1)
    return shares


def _adjusted(phases: tuple[str, ...], games: Pairs, deals: Pairs) -> dict[str, Any] | None:
    """Return the corrected figures: games won, and points per deal more."""
    if games.won_correction is None or deals.points_correction is None:
        return None
    plain = points_more(deals)
    more = points_more(deals, deals.points - deals.points_correction.sum(axis=2))
    won = adjusted_shares(games)
    return {
        "won": as_json(estimate(won)),
        "margin_per_deal": as_json(estimate(more.sum(axis=(1, 2)) / 2)),
        "more_per_deal": _by_role(phases, more),
        "times_fewer_pairs": {
            "won": times_fewer(games.shares_won, won),
            "margin_per_deal": times_fewer(plain.sum(axis=(1, 2)), more.sum(axis=(1, 2))),
        },
    }


def times_fewer(plain: Array, adjusted: Array) -> float | None:
    """Return how many times fewer pairs give the interval that ``plain``, one value a pair, has.

    None where one of the two has no spread.
    """
    if len(plain) < 2 or not plain.var() or not adjusted.var():
        return None
    return float(plain.var() / adjusted.var())


def points_more(deals: Pairs, points: Array | None = None) -> Array:
    """Return float64[pairs, 2, 3], points of ``first`` more than of ``second`` by role and phase.

    Each has each role once in a pair, with the same cards if the deals are duplicates.
    """
    points = deals.points if points is None else points
    pairs = np.arange(len(points))
    as_dealer = np.where(deals.first_dealt[:, 0], 0, 1)  # the game in which first dealt
    roles = [
        points[pairs, as_pone_or_dealer, 0] - points[pairs, 1 - as_pone_or_dealer, 1]
        for as_pone_or_dealer in (1 - as_dealer, as_dealer)
    ]
    more: Array = np.stack(roles, axis=1)
    return more


def _by_role(phases: tuple[str, ...], more: Array) -> dict[str, Any]:
    return {
        role: {phase: as_json(estimate(more[:, i, j])) for j, phase in enumerate(phases)}
        for i, role in enumerate(ROLES)
    }


def _as_dealer(games: Pairs) -> Estimate:
    """Return how often ``first`` wins a game whose first deal is its own: one game of each pair."""
    return estimate((1 + games.returns[..., 0])[games.first_dealt] / 2)


def _dealers_share(games: Pairs) -> Array:
    """Return float64[pairs], the share of each pair's games that the first dealer won."""
    returns: Array = np.where(games.first_dealt, games.returns[..., 0], games.returns[..., 1])
    shares: Array = (1 + returns).mean(axis=1) / 2
    return shares


def _phases(phases: tuple[str, ...], deals: Pairs, player: int, dealer: bool) -> dict[str, Any]:
    """Return points per deal by phase: each player has each role once in a pair."""
    dealt = deals.first_dealt if player == 0 else ~deals.first_dealt
    points = deals.points[:, :, player][dealt == dealer]
    return {phase: as_json(estimate(points[:, i])) for i, phase in enumerate(phases)}


def comparison_table(results: list[dict[str, Any]]) -> str:
    """Return the results as a Markdown table, one row a comparison.

    Adjusted figures stand beside the plain ones if they exist; without duplicate deals they
    replace the plain ones.
    """
    alone = all(not r.get("duplicate", True) for r in results)
    luck = any(r["adjusted"] for r in results)
    rows = []
    for r in results:
        adjusted = r["adjusted"] or UNADJUSTED
        won, more = [shown_percent(r["won"])], [shown_plain(r["margin_per_deal"])]
        if luck:
            fewer = {
                k: f" ({v:.2f})" if v else "" for k, v in adjusted["times_fewer_pairs"].items()
            }
            without = shown_percent(adjusted["won"]) + fewer["won"]
            won = [*([] if alone else won), without]
            without = shown_plain(adjusted["margin_per_deal"]) + fewer["margin_per_deal"]
            more = [*([] if alone else more), without]
        skunks = f"{_share(r['skunks_for'])} / {_share(r['skunks_against'])} %"
        rows.append([r["first"], r["second"], *won, skunks, *more])
    label = "adjusted (times fewer pairs)"
    beside = [label] if luck and not alone else []
    instead = f", {label}" if luck and alone else ""
    head = [
        "agent", "against", f"games won{instead}", *beside, "skunks for / against",
        f"points per deal more{instead}", *beside,
    ]  # fmt: skip
    return table(head, rows)


def difference_table(r: dict[str, Any]) -> str:
    """Return the first agent's advantage in points per deal by role and phase, as Markdown."""
    kinds = {"plain": r["more_per_deal"], "adjusted": (r["adjusted"] or {}).get("more_per_deal")}
    if not r.get("duplicate", True):
        del kinds["plain"]
    rows = [
        [role, kind, *map(shown_plain, more[role].values())]
        for role in ROLES
        for kind, more in kinds.items()
        if more
    ]
    head = f"{r['first']} more than {r['second']} as"
    return table([head, "", *r["more_per_deal"][ROLES[0]]], rows)


def phase_table(r: dict[str, Any]) -> str:
    """Return one comparison's points per deal by role and phase as a Markdown table."""
    return points_table(
        (role, name, points)
        for role in ROLES
        for name, points in r["points_per_deal"][role].items()
    )


def points_table(points: Iterable[tuple[str, str, dict[str, Any]]]) -> str:
    """Return points per deal by phase, each given with the role and the agent, as Markdown."""
    given = list(points)
    rows = [[role, name, *map(shown_plain, phases.values())] for role, name, phases in given]
    return table(["role", "agent", *given[0][2]], rows)


def agents_table(r: dict[str, Any]) -> str:
    """Return each agent's forfeits and speed as a Markdown table."""
    speeds = r["decisions_per_second"]
    rows = [
        [name, forfeits, "–" if speeds[name] is None else f"{speeds[name]:,.0f}"]
        for name, forfeits in r["forfeits"].items()
    ]
    return table(["agent", "forfeits", "decisions/s"], rows)


def shown_percent(value: dict[str, float | None]) -> str:
    """Return a share with its interval in percent, or a dash where there is none."""
    return shown(value, 100, 1, " %")


def shown_plain(value: dict[str, float | None]) -> str:
    """Return a mean with its interval, or a dash where there is none."""
    return shown(value, 1, 2, "")


def _share(value: dict[str, float | None]) -> str:
    return "–" if value["mean"] is None else f"{100 * value['mean']:.1f}"


def shown(value: dict[str, float | None], times: int, places: int, unit: str) -> str:
    """Return a scaled mean with its interval, or a dash where there is none."""
    mean, half = value["mean"], value["ci95"]
    if mean is None:
        return "–"
    interval = "" if half is None else f" ± {times * half:.{places}f}"
    return f"{times * mean:.{places}f}{interval}{unit}"
