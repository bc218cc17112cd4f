"""Results as Markdown: two agents, a tournament, ratings, failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.data.tables import ROLES
from crib_agents.files import write_whole

from crib_training.evaluation.figures import NOTHING
from crib_training.outputs import as_png, per_second, table

UNADJUSTED: dict[str, Any] = {
    "won": NOTHING,
    "margin_per_deal": NOTHING,
    "times_fewer_pairs": {"won": None, "margin_per_deal": None},
}
REASONS = 3  # shown for each kind of an agent's failures


def comparison(r: dict[str, Any]) -> str:
    """Return the result of `evaluate` as Markdown."""
    plain = [phase_table(r)] if r["duplicate"] else []
    blocks = [comparison_table([r]), *plain, difference_table(r), agents_table(r)]
    if "language_models" in r:
        blocks.append(models_table(r["language_models"]))
    if r["failures"]:
        blocks.append(failures_list(r["failures"]))
    games, sides, notes = r["won"]["mean"] is not None, r["sides"], []
    more = (r if r["duplicate"] else r["adjusted"])["margin_per_deal"]
    if not games and more["mean"] is not None:  # None: every pair was forfeited
        notes.append(f"{r['first']} makes {shown(more, 1, 4, '', '+')} points per deal more than {r['second']}.")
    if sides > 2:
        notes.append(
            f"{r['first']} plays against {sides - 1} of {r['second']}, whose mean it is compared "
            f"with: level agents win {100 / sides:.1f} % of games."
        )
    played = "games and of deals" if games else "deals"
    notes.append(
        f"{r['environment']}: {r['pairs']} {'pairs' if sides == 2 else 'sets'} of {played}, "
        f"rules {r['rules']}, seed {r['seed']}, crib-env {r['versions']['crib-env']}"
    )
    return "\n\n".join([*blocks, "\n".join(notes)])


def comparison_table(results: list[dict[str, Any]]) -> str:
    """Return the results as a Markdown table, one row per comparison.

    Adjusted figures stand beside the plain ones if they exist; without duplicate deals they
    replace the plain ones.
    """
    alone = all(not r.get("duplicate", True) for r in results)
    luck = any(r["adjusted"] for r in results)
    rows = []
    for r in results:
        adjusted = r["adjusted"] or UNADJUSTED
        both = []
        for key, show in (("won", shown_percent), ("margin_per_deal", shown_plain)):
            fewer = adjusted["times_fewer_pairs"][key]
            without = show(adjusted[key]) + (f" ({fewer:.2f})" if fewer else "")
            both.append([show(r[key])] * (not luck or not alone) + [without] * luck)
        won, more = both
        skunks = f"{_share(r['skunks_for'])} / {_share(r['skunks_against'])} %"
        rows.append([r["first"], r["second"], *won, skunks, *more])
    label = "adjusted (times fewer pairs)"
    beside = [label] if luck and not alone else []
    instead = f", {label}" if luck and alone else ""
    head = [
        "agent",
        "against",
        f"games won{instead}",
        *beside,
        "skunks for / against",
        f"points per deal more{instead}",
        *beside,
    ]
    return table(head, rows)


def difference_table(r: dict[str, Any]) -> str:
    """Return the first agent's advantage in points per deal by role and phase, as Markdown."""
    kinds = {"plain": r["more_per_deal"], "adjusted": (r["adjusted"] or {}).get("more_per_deal")}
    if not r.get("duplicate", True):
        del kinds["plain"]
    rows = [
        [role, kind, *map(shown_plain, more[role].values())] for role in ROLES for kind, more in kinds.items() if more
    ]
    head = f"{r['first']} more than {r['second']} as"
    return table([head, "", *r["more_per_deal"][ROLES[0]]], rows)


def phase_table(r: dict[str, Any]) -> str:
    """Return one comparison's points per deal by role and phase as a Markdown table."""
    return points_table((role, name, points) for role in ROLES for name, points in r["points_per_deal"][role].items())


def points_table(points: Iterable[tuple[str, str, dict[str, Any]]]) -> str:
    """Return points per deal as Markdown, from rows of role, agent and points by phase."""
    given = list(points)
    rows = [[role, name, *map(shown_plain, phases.values())] for role, name, phases in given]
    return table(["role", "agent", *given[0][2]], rows)


def agents_table(r: dict[str, Any]) -> str:
    """Return each agent's forfeits and speed as a Markdown table."""
    speeds = r["decisions_per_second"]
    rows = [
        [name, forfeits, "–" if speeds[name] is None else per_second(speeds[name])]
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


def shown(value: dict[str, float | None], times: int, places: int, unit: str, sign: str = "") -> str:
    """Return a scaled mean with its interval, or a dash where there is none.

    ``sign`` is that of a format: "+" shows a plus too.
    """
    mean, half = value["mean"], value["ci95"]
    if mean is None:
        return "–"
    interval = "" if half is None else f" ± {times * half:.{places}f}"
    return f"{times * mean:{sign}z.{places}f}{interval}{unit}"


def failures_list(failures: list[dict[str, Any]]) -> str:
    """Return each agent's failures as Markdown, with the first few reasons."""
    kinds: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for failure in failures:
        kinds.setdefault((failure["agent"], failure["kind"]), []).append(failure)
    lines = []
    for (agent, kind), alike in kinds.items():
        lines.append(f"- {agent}, {kind}: {sum(f['times'] for f in alike)}")
        lines += [f"  - {f['why']} ({f['times']})" for f in alike[:REASONS]]
        if len(alike) > REASONS:
            lines.append(f"  - {len(alike) - REASONS} other reasons, in the JSON")
    return "\n".join(lines)


def models_table(models: Mapping[str, Any]) -> str:
    """Return the regret, replies and costs of language models as Markdown."""
    lines = []
    for name, found in models.items():
        rows = [
            [
                phase,
                f"{row['decisions']:,}",
                f"{100 * row['expert']:.2f} ± {100 * row['expert_ci95']:.2f} %",
                "" if row["equilibrium"] is None else f"{100 * row['equilibrium']:.2f} %",
            ]
            for phase, row in found["regret"].items()
        ]
        head = [f"{name}: regret per decision", "decisions", "against expert", "equilibrium"]
        lines += [table(head, rows), ""]
        lines.append(
            f"{name}: {found['decisions']:,} decisions by {found['replies']:,} replies; illegal "
            f"{100 * found['illegal_share']:.1f} %, unparsable "
            f"{100 * found['unparsable_share']:.1f} % of replies; {found['failed']} decisions "
            f"without a good reply, {found['random']} drawn at random, {found['errors']} errors of "
            f"the server; {found['tokens_per_decision']:.0f} tokens and "
            f"{found['seconds_per_decision']:.2f} s per decision"
        )
    return "\n".join(lines)


def won_by(r: dict[str, Any], name: str) -> dict[str, float | None]:
    """Return the share of a pairing's games that the agent of that name won."""
    won: dict[str, float | None] = r["won"]
    if name == r["first"] or won["mean"] is None:
        return won
    return {"mean": 1 - won["mean"], "ci95": won["ci95"]}


def ranked(agents: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the agents, the highest rating first."""
    return sorted(agents, key=lambda agent: -agent["rating"])


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
        ratings_table(
            results["agents"],
            {
                "games won": {a["name"]: shown_percent(a["won"]) for a in results["agents"]},
                "forfeits": {a["name"]: a["forfeits"] for a in results["agents"]},
            },
        ),
        f"No pairing's games won differ from what the ratings expect by more than "
        f"{100 * results['largest_misfit']:.1f} percentage points.",
        "## Games won",
        f"Percent of {results['episode']}s that the agent of the row won from {met} of the column{level}.",
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
            for agent in ranked(results["agents"])
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


def ratings_table(agents: Iterable[Mapping[str, Any]], more: Mapping[str, Mapping[str, object]]) -> str:
    """Return rated agents as a Markdown table, the highest first.

    ``more`` holds further columns by head, each with its cells by the name of the agent.
    """
    rows = [
        [
            place,
            agent["name"],
            f"{agent['rating']:+z.0f}",
            f"{agent['low']:+z.0f} to {agent['high']:+z.0f}",
            *(column.get(agent["name"], "") for column in more.values()),
        ]
        for place, agent in enumerate(ranked(agents), start=1)
    ]
    return table(["", "agent", "Elo", "95 %", *more], rows)


def shares_won(results: dict[str, Any]) -> dict[tuple[str, str], str]:
    """Return the games in per cent, as text, that an agent won from another, by both names."""
    won = {}
    for r in results["pairings"]:
        both = (r["first"], r["second"]), (r["second"], r["first"])
        for one, other in both if results["sides"] == 2 else both[:1]:
            won[one, other] = shown(won_by(r, one), 100, 1, "")
    return won


def cross_table(results: dict[str, Any]) -> str:
    """Return the games won by each agent from each other as a Markdown table."""
    names, won = [agent["name"] for agent in ranked(results["agents"])], shares_won(results)
    rows = [[row, *(won.get((row, name), "") for name in names)] for row in names]
    return table(["", *names], rows)


def _dealers_table(results: dict[str, Any]) -> str:
    unit = "points" if results["episode"] == "game" else "game points"
    rows = [
        [f"{r['first']}, {r['second']}", shown_percent(r["first_dealer_won"]), shown_plain(r["margin"])]
        for r in results["pairings"]
    ]
    return table(["agents", "won by the first dealer", f"{unit} more"], rows)


def draw(results: dict[str, Any], path: Path) -> bool:
    """Draw the ratings with their intervals; return False where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return False
    agents = ranked(results["agents"])[::-1]
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
