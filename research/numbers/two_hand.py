"""The page of a two-hand game, by self-play: points per deal, games and skunks, cribs, winning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.data.tables import CRIB_TABLES, ROLES, load
from crib_agents.files import write_whole
from crib_agents.knowledge.deal_points import discard_rates
from crib_agents.knowledge.winning import WON, match_win_probabilities, probabilities
from crib_training.outputs import as_png
from matplotlib import colormaps
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from crib_env.arrays import Array
from crib_env.cards import RANKS as TEXT
from crib_env.engine.ranks import RANKS
from crib_env.rules import TwoHandRules
from docs.pages import mean, number_table, percent, points, render
from research.numbers.episodes import PHASES, Episodes, Run, from_dealer
from research.tables.discards import DiscardRound, by_card, discard_round

PONE, DEALER = 0, 1
PRESETS = {"six_card": "hoyle", "five_card": "five_card"}
SIX = 6  # cards dealt in the game that has matches (H11)
TITLES = {
    "pegging": "What a seat pegs in the play of a deal",
    "hand": "What its hand counts",
    "crib": "What the dealer's crib counts",
}
CRIBS = {DEALER: "the dealer's own crib", PONE: "pone's pair in the dealer's crib"}
WINS = {
    "dealer": "The dealer's chance of winning, before the deal",
    "pone": "Pone's chance of winning, before the deal",
}
FACTS = {  # of whole games, with their formats
    "won by the first dealer": percent,
    "skunks and double skunks": percent,
    "of them double skunks": percent,
    "winner's margin": points,
    "deals per game": points,
}
COLOURS = {"pone": "tab:blue", "dealer": "tab:orange"}
CUT = 0.002  # of the deals, those of the most points, are left out of the pictures
SHARE = 4  # 1 / SHARE of a run's games is played from each of the other starts
PLACES = 6  # decimal places of figures that a page shows with two


def measure(name: str, run: Run, folder: Path) -> dict[str, Any]:
    """Return the figures of a game, and draw its pictures."""
    rules = TwoHandRules.preset(PRESETS[name])
    made = by_role(run.play(rules, "deal", run.deals))
    draw_deals(made, folder / f"{name}_deals.png")
    data: dict[str, Any] = {
        "deals": len(made),
        "points_per_deal": {
            role: {
                **{phase: mean(made[:, i, k]) for k, phase in enumerate(PHASES)},
                "all": mean(made[:, i].sum(axis=1)),
            }
            for i, role in enumerate(ROLES)
        },
        "dealer_more": mean(made[:, 1].sum(axis=1) - made[:, 0].sum(axis=1)),
    }
    data |= games_played(rules, run.play(rules, "game", run.games))
    data |= cribs_made(rules, run, folder / f"{name}_cribs.png")
    chance = winning(rules)
    draw_winning(rules, folder / f"{name}_winning.png")
    data["solved_and_played"] = {
        f"{dealer}-{pone}": {
            "solved": float(chance[DEALER, dealer, pone]),
            "played": mean(run.play(rules, "game", run.games // SHARE, dealer=0, scores=(dealer, pone)).winner == 0),
        }
        for dealer, pone in starts(rules)
    }
    data |= {role: chance[i].round(4).tolist() for i, role in ((1, "dealer"), (0, "pone"))}
    if rules.dealt == SIX:  # the sources play matches of six-card games alone
        data["match_as_first_dealer"] = of_matches(rules).round(4).tolist()
    return data


def by_role(deals: Episodes) -> Array:
    """Return int64[E, 2, 3], the points of single deals by role (pone, dealer) and phase."""
    return from_dealer(deals.points, deals.first_dealer)[:, ::-1]


def games_played(rules: TwoHandRules, games: Episodes) -> dict[str, Any]:
    """Return the figures on whole games."""
    every, winner = np.arange(len(games.winner)), games.winner
    margin = games.scores[every, winner] - games.scores[every, 1 - winner]
    return {
        "games": len(every),
        "won by the first dealer": mean(winner == games.first_dealer),
        "skunks and double skunks": mean(margin > rules.skunk_margin),
        "of them double skunks": mean(margin > rules.double_skunk_margin),
        "winner's margin": mean(margin),
        "deals per game": mean(games.deals),
    }


def cribs_made(rules: TwoHandRules, run: Run, picture: Path) -> dict[str, Any]:
    """Return the points of the crib by the pair discarded, and draw them."""
    found = discard_round(rules, *discard_rates(rules.dealt), run.cribs, np.random.SeedSequence(run.seed))
    crib, half = by_rank_pairs(found.cribs)
    draw_cribs(crib, picture)
    data: dict[str, Any] = {
        "crib_deals": run.cribs,
        "own_crib": crib[DEALER].round(PLACES).tolist(),
        "opponents_crib": crib[PONE].round(PLACES).tolist(),
        "crib_half_intervals": half[::-1].round(PLACES).tolist(),
    }
    if rules.dealt == SIX:
        data["discarded"] = discarded_ranks(found).round(PLACES).tolist()
    return data


def by_rank_pairs(cribs: Array) -> tuple[Array, Array]:
    """Return the means and half intervals of cribs by the ranks of the pair, over all suits.

    Shapes: cribs float64[2, 169, 3]; the result float64[2, 13, 13].
    """
    square = cribs.reshape(2, RANKS, RANKS, 3)
    both = square + square.transpose(0, 2, 1, 3)
    both[:, np.arange(RANKS), np.arange(RANKS)] /= 2
    n = both[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = both[..., 1] / n
        half = 1.96 * np.sqrt((both[..., 2] / n - means**2) / n)
    return means, half


def discarded_ranks(found: DiscardRound) -> Array:
    """Return how often a card dealt is discarded, by role and rank, float64[2, 13]."""
    cards = by_card(found.discarded_cribs[:, :, 0])
    share: Array = cards / cards.sum(axis=1, keepdims=True) * RANKS * 2 / 6  # two of six cards
    return share


def winning(rules: TwoHandRules) -> Array:
    """Return float64[2, target, target], a seat's probability of winning before a deal.

    By whether it deals, its score and the other's.
    """
    to_make = probabilities(rules.dealt, rules.target)[..., WON].sum(axis=-1)
    return np.flip(to_make[:, 1:, 1:], axis=(1, 2))


def of_matches(rules: TwoHandRules) -> Array:
    """Return the first dealer's probability of winning a match, by the game points of both."""
    left = range(rules.match_target, 0, -1)
    chance: Array = match_win_probabilities(rules.dealt, rules.target)[1][np.ix_(left, left)]
    return chance


def starts(rules: TwoHandRules) -> list[tuple[int, int]]:
    """Return the scores of dealer and pone at which the table is compared with games played."""
    target = rules.target
    near, middle, far = target // 12, target // 2, target - target // 5
    return [
        (0, 0),
        (middle, middle),
        (far, far),
        (target - near, far),
        (far, target - near),
        (target - near, target - near),
        (target - 3, target - 3),
        (target - 1, target - 1),
    ]


def draw_deals(made: Array, picture: Path) -> None:
    """Draw the share of deals by points as bars, for each role and phase; a rare tail is cut."""
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for k, (axis, phase) in enumerate(zip(axes, PHASES, strict=True)):
        roles = ROLES[1:] if phase == "crib" else ROLES
        last = 0
        for i, role in enumerate(roles):
            scored = made[:, ROLES.index(role), k]
            share = 100 * np.bincount(scored) / len(made)
            width = 0.8 / len(roles)
            at = np.arange(len(share)) + width * (i - (len(roles) - 1) / 2)
            axis.bar(at, share, width, color=COLOURS[role], label=role)
            last = max(last, int(np.quantile(scored, 1 - CUT)))
        axis.set_xlim(-0.7, last + 0.7)
        axis.set_xticks(range(0, last + 1, 2))
        axis.set_xlabel("points")
        axis.set_title(TITLES[phase], fontsize=10)
        axis.grid(axis="y", alpha=0.3)
        axis.set_axisbelow(True)
    axes[0].set_ylabel("per cent of deals")
    axes[0].legend(frameon=False)
    write_whole(picture, as_png(figure))


def draw_cribs(means: Array, picture: Path) -> None:
    """Draw the mean crib of every pair of ranks, for both roles."""
    figure = Figure(figsize=(13, 6), layout="constrained")
    axes = figure.subplots(1, 2)
    for axis, role in zip(axes, (DEALER, PONE), strict=True):
        image = axis.imshow(means[role], cmap="viridis", vmin=2.5, vmax=9.5)
        for (a, b), made in np.ndenumerate(means[role]):
            axis.text(b, a, f"{made:.2f}", ha="center", va="center", fontsize=7, color="black" if made > 6 else "white")
        axis.set_xticks(range(RANKS), TEXT)
        axis.set_yticks(range(RANKS), TEXT)
        axis.set_title(CRIBS[role], fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.8, label="mean points of the crib")
    write_whole(picture, as_png(figure))


def draw_winning(rules: TwoHandRules, picture: Path) -> None:
    """Draw the probability of winning for the dealer and for pone at every score."""
    # Purple to orange, distinct for the colour-blind too, without the darkest ends.
    colours = ListedColormap(colormaps["PuOr_r"](np.linspace(0.15, 0.85, 256)))
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, deals, role in ((axes[0], 1, "dealer"), (axes[1], 0, "pone")):
        chance = 100 * winning(rules)[deals].T
        image = axis.imshow(chance, origin="lower", cmap=colours, vmin=0, vmax=100)
        lines = axis.contour(chance, levels=range(10, 100, 10), colors="black", linewidths=0.5)
        axis.clabel(lines, fmt="%d", fontsize=7)
        axis.set_xlabel(f"its own score, as {role}")
        axis.set_ylabel("the other's score")
        axis.set_title(WINS[role], fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.8, label="chance of winning, per cent")
    write_whole(picture, as_png(figure))


def page(name: str, data: dict[str, Any]) -> str:
    """Return the section of a game's figures."""
    rules = TwoHandRules.preset(PRESETS[name])
    scores = range(0, rules.target, 20 if rules.dealt == SIX else 10)
    six = rules.dealt == SIX
    return render(
        "two_hand",
        name=name,
        data=data,
        rules=rules,
        roles=ROLES,
        facts=FACTS,
        ranks=TEXT,
        half_intervals=np.array(data["crib_half_intervals"]),
        nanmedian=np.nanmedian,
        nanmax=np.nanmax,
        alone=(1 - load(CRIB_TABLES)["kept"][0]).tolist() if six else None,
        chances=by_points(winning(rules)[DEALER][np.ix_(scores, scores)], scores),
        matches=by_points(of_matches(rules), range(rules.match_target)) if six else None,
    )


def by_points(chance: Array, scores: range) -> str:
    """Return probabilities in per cent as a table by the points of both."""
    rows = [[str(score), *(f"{100 * one:.1f}" for one in row)] for score, row in zip(scores, chance, strict=True)]
    return number_table(["", *map(str, scores)], rows)
