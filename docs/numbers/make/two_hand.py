"""The page of a two-hand game: points per deal, games and skunks, by self-play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from crib_training.evaluation.duplicate import Estimate, estimate
from crib_training.evaluation.markdown import table

from crib_env.rules import TwoHandRules
from docs.numbers.make import cribs, winning
from docs.numbers.make.episodes import Episodes
from docs.numbers.make.pages import percent, points
from docs.numbers.make.run import Run

Array = npt.NDArray[Any]

ROLES = ("pone", "dealer")
SIX = 6  # cards dealt in the game that has matches (H11)
PHASES = ("pegging", "hand", "crib")
TITLES = {
    "pegging": "What a seat pegs in the play of a deal",
    "hand": "What its hand counts",
    "crib": "What the dealer's crib counts",
}
COLOURS = {"pone": "tab:blue", "dealer": "tab:orange"}
CUT = 0.002  # of the deals, those of the most points, are left out of the pictures


def by_role(deals: Episodes) -> Array:
    """Return int64[E, 2, 3], the points of single deals by role (pone, dealer) and phase."""
    every = np.arange(len(deals.first_dealer))
    dealer = deals.first_dealer
    return np.stack([deals.points[every, 1 - dealer], deals.points[every, dealer]], axis=1)


def deals_section(deals: Episodes, picture: Path) -> tuple[str, dict[str, Any]]:
    """Return the text and the figures on single deals, and draw their distribution."""
    made = by_role(deals)
    data: dict[str, Any] = {"deals": len(made), "points_per_deal": {}}
    rows = []
    for i, role in enumerate(ROLES):
        shown = {phase: estimate(made[:, i, k]) for k, phase in enumerate(PHASES)}
        shown["all"] = estimate(made[:, i].sum(axis=1))
        data["points_per_deal"][role] = shown
        rows.append([role, *map(points, shown.values())])
    more = estimate(made[:, 1].sum(axis=1) - made[:, 0].sum(axis=1))
    data["dealer_more"] = more
    draw_deals(made, picture)
    text = f"""## Points per deal

{len(made):,} deals from 0-0, each played to its end. The dealer's pegging includes the two for his
heels. The dealer makes {points(more)} points per deal more than pone.

{table(["role", *PHASES, "all"], rows, numbers=True)}

![Points per deal, by role and phase]({picture.name})
"""
    return text, data


def draw_deals(made: Array, picture: Path) -> None:
    """Draw the share of deals by points as bars, for each role and phase; a rare tail is cut."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
    for k, (axis, phase) in enumerate(zip(axes, PHASES, strict=True)):
        roles = ROLES[1:] if phase == "crib" else ROLES
        last = 0
        for i, role in enumerate(roles):
            points = made[:, ROLES.index(role), k]
            share = 100 * np.bincount(points) / len(made)
            width = 0.8 / len(roles)
            at = np.arange(len(share)) + width * (i - (len(roles) - 1) / 2)
            axis.bar(at, share, width, color=COLOURS[role], label=role)
            last = max(last, int(np.quantile(points, 1 - CUT)))
        axis.set_xlim(-0.7, last + 0.7)
        axis.set_xticks(range(0, last + 1, 2))
        axis.set_xlabel("points")
        axis.set_title(TITLES[phase], fontsize=10)
        axis.grid(axis="y", alpha=0.3)
        axis.set_axisbelow(True)
    axes[0].set_ylabel("per cent of deals")
    axes[0].legend(frameon=False)
    figure.savefig(picture, dpi=120)
    plt.close(figure)


def games_section(rules: TwoHandRules, games: Episodes) -> tuple[str, dict[str, Any]]:
    """Return the text and the figures on whole games."""
    every = np.arange(len(games.winner))
    winner = games.winner
    margin = games.scores[every, winner] - games.scores[every, 1 - winner]
    dealt = winner == games.first_dealer
    shown: dict[str, Estimate] = {
        "won by the first dealer": estimate(dealt),
        "skunks and double skunks": estimate(margin > rules.skunk_margin),
        "of them double skunks": estimate(margin > rules.double_skunk_margin),
    }
    plain = {
        "winner's margin": estimate(margin),
        "deals per game": estimate(games.deals),
    }
    rows = [[name, percent(value)] for name, value in shown.items()]
    rows += [[name, points(value)] for name, value in plain.items()]
    text = f"""## Games

{len(every):,} games to {rules.target}. A skunk is a game won by more than {rules.skunk_margin}
points, a double skunk by more than {rules.double_skunk_margin}.

{table(["", "mean"], rows, numbers=True)}
"""
    return text, {"games": len(every), **shown, **plain}


def page(name: str, preset: str, run: Run, folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the page and the figures of a game, and draw its pictures."""
    rules = TwoHandRules.preset(preset)
    sections = [
        deals_section(run.play(rules, "deal", run.deals), folder / f"{name}_deals.png"),
        games_section(rules, run.play(rules, "game", run.games)),
        cribs.section(rules, run.cribs, run.seed, folder / f"{name}_cribs.png"),
        winning.section(rules, run, folder / f"{name}_winning.png"),
    ]
    if rules.dealt == SIX:  # the sources play matches of six-card games alone
        sections.append(winning.matches_section(rules))
    text = "\n".join(text for text, _ in sections)
    return text, {key: value for _, data in sections for key, value in data.items()}
