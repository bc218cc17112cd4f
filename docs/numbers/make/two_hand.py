"""The page of a two-hand game: points a deal, games and skunks, by self-play."""

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
PHASES = ("play", "hand", "crib")


def by_role(deals: Episodes) -> Array:
    """Return int64[E, 2, 3], the points of single deals by role (pone, dealer) and phase."""
    every = np.arange(len(deals.first_dealer))
    dealer = deals.first_dealer
    return np.stack([deals.points[every, 1 - dealer], deals.points[every, dealer]], axis=1)


def deals_section(deals: Episodes, picture: Path) -> tuple[str, dict[str, Any]]:
    """Return the text and the figures on single deals, and draw their distribution."""
    made = by_role(deals)
    data: dict[str, Any] = {"deals": len(made), "points_a_deal": {}}
    rows = []
    for i, role in enumerate(ROLES):
        shown = {phase: estimate(made[:, i, k]) for k, phase in enumerate(PHASES)}
        shown["all"] = estimate(made[:, i].sum(axis=1))
        data["points_a_deal"][role] = shown
        rows.append([role, *map(points, shown.values())])
    more = estimate(made[:, 1].sum(axis=1) - made[:, 0].sum(axis=1))
    data["dealer_more"] = more
    draw_deals(made, picture)
    text = f"""## Points a deal

{len(made):,} deals from 0-0, every one played to its end. The dealer's play has the two for his
heels in it. The dealer makes {points(more)} points a deal more than pone.

{table(["role", *PHASES, "all"], rows, numbers=True)}

![How many points a deal brings, by role and phase]({picture.name})
"""
    return text, data


def draw_deals(made: Array, picture: Path) -> None:
    """Draw the share of deals by points, for each role and phase."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True, layout="constrained")
    for k, (axis, phase) in enumerate(zip(axes, PHASES, strict=True)):
        for i, role in enumerate(ROLES):
            if phase == "crib" and role == "pone":
                continue
            share = np.bincount(made[:, i, k], minlength=25)[:25] / len(made)
            axis.plot(np.arange(25), 100 * share, f"C{i}.-", label=role)
        axis.set_xlabel(f"points in {phase}" if phase == "play" else f"points of the {phase}")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("per cent of deals")
    axes[0].legend(frameon=False)
    figure.savefig(picture, dpi=120)
    plt.close(figure)


def games_section(rules: TwoHandRules, games: Episodes) -> tuple[str, dict[str, Any]]:
    """Return the text and the figures on whole games."""
    every = np.arange(len(games.result))
    winner = np.where(games.result == 1, 0, 1)
    margin = games.scores[every, winner] - games.scores[every, 1 - winner]
    dealt = winner == games.first_dealer
    shown: dict[str, Estimate] = {
        "won by the first dealer": estimate(dealt),
        "skunks and double skunks": estimate(margin > rules.skunk_margin),
        "of them double skunks": estimate(margin > rules.double_skunk_margin),
    }
    plain = {
        "winner's margin": estimate(margin),
        "deals a game": estimate(games.deals),
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
    """Return the page and the figures of a game, and draw its pictures.

    Args:
        name: of the page, with which its pictures' names begin.
        preset: of the game's rules.
        run: how much is played.
        folder: of the pictures.
    """
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
