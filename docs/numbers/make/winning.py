"""The part of a two-hand game's page on the chance of winning, by score and dealer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from crib_agents.knowledge.two_hand.winning import WON, match_win_probabilities, probabilities
from crib_training.evaluation.duplicate import estimate
from crib_training.evaluation.markdown import table

from crib_env.rules import TwoHandRules
from docs.numbers.make.pages import percent
from docs.numbers.make.run import Run

Array = npt.NDArray[Any]

SEAT_0 = 0
TITLES = {
    "dealer": "The dealer's chance of winning, before the deal",
    "pone": "Pone's chance of winning, before the deal",
}
SHARE = 4  # of all the games of a run, one in so many is played from each of the other starts


def winning(rules: TwoHandRules) -> Array:
    """Return float64[2, target, target], the chance of winning for the seat about to play a deal.

    By whether it deals, its score and the other's.
    """
    to_make = probabilities(rules.dealt, rules.target)[..., WON].sum(axis=-1)
    return np.flip(to_make[:, 1:, 1:], axis=(1, 2))


def starts(rules: TwoHandRules) -> list[tuple[int, int]]:
    """Return the scores of dealer and pone at which the table is compared with games played."""
    target = rules.target
    near, middle, far = target // 12, target // 2, target - target // 5
    return [
        (0, 0), (middle, middle), (far, far), (target - near, far), (far, target - near),
        (target - near, target - near),
    ]  # fmt: skip


def checked(rules: TwoHandRules, run: Run) -> tuple[str, dict[str, Any]]:
    """Return a table of chances solved beside games played from the same scores."""
    chance = winning(rules)[1]
    rows = []
    data = {}
    for dealer, pone in starts(rules):
        games = run.play(
            rules, "game", run.games // SHARE, first_dealer=SEAT_0, scores=(dealer, pone)
        )
        won = estimate(games.winner == SEAT_0)
        solved = float(chance[dealer, pone])
        rows.append([f"{dealer}-{pone}", f"{100 * solved:.2f} %", percent(won)])
        data[f"{dealer}-{pone}"] = {"solved": solved, "played": won}
    return table(["dealer-pone", "solved", "played"], rows, numbers=True), data


def draw(rules: TwoHandRules, picture: Path) -> None:
    """Draw the chance of winning for the dealer and for pone at every score."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    # Purple to orange, as people of all kinds of sight can tell apart, without the darkest ends.
    colours = ListedColormap(plt.get_cmap("PuOr_r")(np.linspace(0.15, 0.85, 256)))
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True, layout="constrained")
    for axis, deals, role in ((axes[0], 1, "dealer"), (axes[1], 0, "pone")):
        chance = 100 * winning(rules)[deals].T
        image = axis.imshow(chance, origin="lower", cmap=colours, vmin=0, vmax=100)
        lines = axis.contour(chance, levels=range(10, 100, 10), colors="black", linewidths=0.5)
        axis.clabel(lines, fmt="%d", fontsize=7)
        axis.set_xlabel(f"its own score, as {role}")
        axis.set_ylabel("the other's score")
        axis.set_title(TITLES[role], fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.8, label="chance of winning, per cent")
    figure.savefig(picture, dpi=120)
    plt.close(figure)


def matches_section(rules: TwoHandRules) -> tuple[str, dict[str, Any]]:
    """Return the text and the figures on matches (H11)."""
    chance = match_win_probabilities(rules.dealt, rules.target)[1]
    left = range(rules.match_target, 0, -1)
    won = [str(rules.match_target - n) for n in left]
    rows = [
        [own, *(f"{100 * chance[mine, theirs]:.1f}" for theirs in left)]
        for own, mine in zip(won, left, strict=True)
    ]
    text = f"""## Matches

The first dealer's probability, in per cent, of winning a match to {rules.match_target} game points,
by its own game points (rows) and the other's (columns), at the start of a game:

{table(["", *won], rows, numbers=True)}
"""
    return text, {"match_as_first_dealer": chance[np.ix_(left, left)].round(4).tolist()}


def section(rules: TwoHandRules, run: Run, picture: Path) -> tuple[str, dict[str, Any]]:
    """Return the text and the figures on the chance of winning, and draw them."""
    chance = winning(rules)
    scores = list(range(0, rules.target, 10))
    pair_tables = []
    for deals in (1, 0):
        rows = [
            [str(mine), *(f"{100 * chance[deals, mine, theirs]:.1f}" for theirs in scores)]
            for mine in scores
        ]
        pair_tables.append(table(["", *map(str, scores)], rows, numbers=True))
    compared, check = checked(rules, run)
    draw(rules, picture)
    text = f"""## Winning, by score and dealer

*Solved* is the probability of winning at the start of a deal, solved backwards from the target with
the distribution of a deal's points (`crib tables deal_outcomes`). *Played* is the share of games
won from the same scores. There the agent plays to the score, whereas *solved* takes average deals:

{compared}

The dealer's probability of winning in per cent, by its own score (rows) and pone's (columns):

{pair_tables[0]}

Pone's probability of winning in per cent, by its own score (rows) and the dealer's (columns):

{pair_tables[1]}

![The probability of winning at every score]({picture.name})
"""
    data = {
        "solved_and_played": check,
        "dealer": chance[1].round(4).tolist(),
        "pone": chance[0].round(4).tolist(),
    }
    return text, data
