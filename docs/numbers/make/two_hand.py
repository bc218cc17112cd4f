"""The page of a two-hand game, by self-play: points per deal, games and skunks, cribs, winning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.data.tables import CRIB_TABLES, RANKS, load
from crib_agents.knowledge.measured import discard_rates
from crib_agents.knowledge.winning import WON, match_win_probabilities, probabilities
from crib_training.tables.discards import SCHELL, TEXT, DiscardRound, discard_round

from crib_env.arrays import Array
from crib_env.rules import TwoHandRules
from docs.numbers.make.episodes import Episodes, Run
from docs.pages import mean, number_table, percent, points, render

ROLES = ("pone", "dealer")
PONE, DEALER = 0, 1
OWNERS = ((DEALER, "own"), (PONE, "opponent"))
PRESETS = {"six_card": "hoyle", "five_card": "five_card"}
SIX = 6  # cards dealt in the game that has matches (H11), and of Schell's averages
PHASES = ("pegging", "hand", "crib")
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
COLOURS = {"pone": "tab:blue", "dealer": "tab:orange"}
CUT = 0.002  # of the deals, those of the most points, are left out of the pictures
APART = 0.25  # from Schell's averages: farther apart is listed
SHARE = 4  # of all the games of a run, one in so many is played from each of the other starts
PLACES = 6  # decimal places of what a page shows with two


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
            "played": mean(
                run.play(
                    rules, "game", run.games // SHARE, first_dealer=0, scores=(dealer, pone)
                ).winner
                == 0
            ),
        }
        for dealer, pone in starts(rules)
    }
    data |= {role: chance[i].round(4).tolist() for i, role in ((1, "dealer"), (0, "pone"))}
    if rules.dealt == SIX:  # the sources play matches of six-card games alone
        data["match_as_first_dealer"] = of_matches(rules).round(4).tolist()
    return data


def by_role(deals: Episodes) -> Array:
    """Return int64[E, 2, 3], the points of single deals by role (pone, dealer) and phase."""
    every = np.arange(len(deals.first_dealer))
    dealer = deals.first_dealer
    return np.stack([deals.points[every, 1 - dealer], deals.points[every, dealer]], axis=1)


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
    """Return the figures on what a pair discarded makes in the crib, and draw them."""
    found = discard_round(
        rules, *discard_rates(rules.dealt), run.cribs, np.random.SeedSequence(run.seed)
    )
    crib, half = by_rank_pairs(found.cribs)
    draw_cribs(crib, picture)
    data: dict[str, Any] = {
        "crib_deals": run.cribs,
        "own_crib": crib[DEALER].round(PLACES).tolist(),
        "opponents_crib": crib[PONE].round(PLACES).tolist(),
        "crib_half_intervals": half[::-1].round(PLACES).tolist(),
    }
    if rules.dealt == SIX:
        discarded, half = by_rank_pairs(found.discarded_cribs)
        apart = {
            f"{pair} {whose}": float(crib[role, *ranks_of(pair)] - SCHELL[pair][i])
            for pair in SCHELL
            for i, (role, whose) in enumerate(OWNERS)
        }
        data |= {
            "discarded": discarded_ranks(found).round(PLACES).tolist(),
            "discarded_cribs": discarded[::-1].round(PLACES).tolist(),
            "discarded_crib_half_intervals": half[::-1].round(PLACES).tolist(),
            "differences_from_schell": apart,
            "mean_absolute_difference": float(np.abs(list(apart.values())).mean()),
        }
    return data


def by_rank_pairs(cribs: Array) -> tuple[Array, Array]:
    """Return the means and half intervals of cribs by the ranks of the pair, whatever the suits.

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


def ranks_of(pair: str) -> tuple[int, int]:
    """Return the ranks of a pair such as ``"5T"``."""
    return TEXT.index(pair[0]), TEXT.index(pair[1])


def discarded_ranks(found: DiscardRound) -> Array:
    """Return how often a card dealt is discarded, by role and rank, float64[2, 13]."""
    pairs = found.discarded_cribs[:, :, 0].reshape(2, RANKS, RANKS)
    cards = pairs.sum(axis=1) + pairs.sum(axis=2)
    share: Array = cards / cards.sum(axis=1, keepdims=True) * RANKS * 2 / 6  # two of six cards
    return share


def winning(rules: TwoHandRules) -> Array:
    """Return float64[2, target, target], the chance of winning for the seat about to play a deal.

    By whether it deals, its score and the other's.
    """
    to_make = probabilities(rules.dealt, rules.target)[..., WON].sum(axis=-1)
    return np.flip(to_make[:, 1:, 1:], axis=(1, 2))


def of_matches(rules: TwoHandRules) -> Array:
    """Return the first dealer's chance of winning a match, by the game points of both."""
    left = range(rules.match_target, 0, -1)
    chance: Array = match_win_probabilities(rules.dealt, rules.target)[1][np.ix_(left, left)]
    return chance


def starts(rules: TwoHandRules) -> list[tuple[int, int]]:
    """Return the scores of dealer and pone at which the table is compared with games played."""
    target = rules.target
    near, middle, far = target // 12, target // 2, target - target // 5
    return [
        (0, 0), (middle, middle), (far, far), (target - near, far), (far, target - near),
        (target - near, target - near),
    ]  # fmt: skip


def draw_deals(made: Array, picture: Path) -> None:
    """Draw the share of deals by points as bars, for each role and phase; a rare tail is cut."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
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
    figure.savefig(picture, dpi=120)
    plt.close(figure)


def draw_cribs(means: Array, picture: Path) -> None:
    """Draw the mean crib of every pair of ranks, for both roles."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    for axis, role in zip(axes, (DEALER, PONE), strict=True):
        image = axis.imshow(means[role], cmap="viridis", vmin=2.5, vmax=9.5)
        for a in range(RANKS):
            for b in range(a + 1):
                shade = "black" if means[role, a, b] > 6 else "white"
                axis.text(b, a, f"{means[role, a, b]:.1f}", ha="center", va="center", fontsize=7,
                          color=shade)  # fmt: skip
                if a != b:
                    axis.text(a, b, f"{means[role, a, b]:.1f}", ha="center", va="center",
                              fontsize=7, color=shade)  # fmt: skip
        axis.set_xticks(range(RANKS), TEXT)
        axis.set_yticks(range(RANKS), TEXT)
        axis.set_title(CRIBS[role], fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.8, label="mean points of the crib")
    figure.savefig(picture, dpi=120)
    plt.close(figure)


def draw_winning(rules: TwoHandRules, picture: Path) -> None:
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
        axis.set_title(WINS[role], fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.8, label="chance of winning, per cent")
    figure.savefig(picture, dpi=120)
    plt.close(figure)


def page(name: str, data: dict[str, Any]) -> str:
    """Return the page of a game's figures."""
    rules = TwoHandRules.preset(PRESETS[name])
    of_games = ("won by the first dealer", "skunks and double skunks", "of them double skunks")
    facts = [[one, percent(data[one])] for one in of_games]
    facts += [[one, points(data[one])] for one in ("winner's margin", "deals per game")]
    checks = [
        [scores, f"{100 * one['solved']:.2f} %", percent(one["played"])]
        for scores, one in data["solved_and_played"].items()
    ]
    scores = range(0, rules.target, 10)
    return render(
        "two_hand", name=name, data=data, rules=rules,
        made=[[role, *map(points, data["points_per_deal"][role].values())] for role in ROLES],
        facts=facts,
        half_intervals=np.array(data["crib_half_intervals"]),
        nanmedian=np.nanmedian, nanmax=np.nanmax,
        cribs=[(CRIBS[role], by_ranks(data[f"{whose}_crib"]))
               for role, whose in ((DEALER, "own"), (PONE, "opponents"))],
        schell=beside_schell(data) if rules.dealt == SIX else None,
        checks=checks,
        chances=[by_points(winning(rules)[i][np.ix_(scores, scores)], scores) for i in (1, 0)],
        matches=by_points(of_matches(rules), range(rules.match_target))
        if rules.dealt == SIX else None,
    )  # fmt: skip


def by_ranks(cribs: list[list[float]]) -> str:
    """Return mean cribs as a table of ranks."""
    rows = [
        [f"**{rank}**", *(f"{made:.2f}" for made in row)]
        for rank, row in zip(TEXT, cribs, strict=True)
    ]
    return number_table(["", *TEXT], rows)


def by_points(chance: Array, scores: range) -> str:
    """Return chances in per cent as a table of the points of both."""
    rows = [
        [str(score), *(f"{100 * one:.1f}" for one in row)]
        for score, row in zip(scores, chance, strict=True)
    ]
    return number_table(["", *map(str, scores)], rows)


def beside_schell(data: dict[str, Any]) -> dict[str, Any]:
    """Return our means beside Schell's published averages."""
    cribs = data["own_crib"], data["opponents_crib"]
    rows, apart, discards_apart = [], [], []
    for pair, published in SCHELL.items():
        a, b = ranks_of(pair)
        for i, (_, whose) in enumerate(OWNERS):
            more = cribs[i][a][b] - published[i]
            apart.append(more)
            discarded = data["discarded_cribs"][i][a][b]
            discards_apart.append(discarded - published[i])
            mark = "**" if abs(more) > APART else ""
            half = data["discarded_crib_half_intervals"][i][a][b]
            never = np.isnan(discarded)  # nobody discarded it
            rows.append(
                [
                    f"{pair[0]}-{pair[1]} {whose}",
                    f"{cribs[i][a][b]:.2f} ± {data['crib_half_intervals'][i][a][b]:.2f}",
                    f"{published[i]:.2f}",
                    f"{mark}{more:+.2f}{mark}",
                    "–" if never else f"{discarded:.2f} ± {half:.2f}",
                    "–" if never else f"{discards_apart[-1]:+.2f}",
                ]
            )
    kept = load(CRIB_TABLES)["kept"][0]
    rates = [
        [f"{who}{how}", *(f"{100 * rate:.0f}" for rate in by_rank)]
        for who, role in (("the dealer", DEALER), ("pone", PONE))
        for how, by_rank in (("", data["discarded"][role]),
                             (", by hand and crib alone", 1 - kept[role]))
    ]  # fmt: skip
    head = ["pair, crib", "whenever dealt", "Schell", "difference", "when discarded", "difference"]
    return {
        "far": APART,
        "mean": float(np.mean(apart)),
        "absolute": float(np.abs(apart).mean()),
        "discards_mean": float(np.nanmean(discards_apart)),
        "discards_absolute": float(np.nanmean(np.abs(discards_apart))),
        "without_play": float(np.abs(without_play() - np.array(list(SCHELL.values()))).mean()),
        "rates": number_table(["", *TEXT], rates),
        "pairs": number_table(head, rows),
    }


def without_play() -> Array:
    """Return float64[18, 2]: of Schell's pairs the crib in `rule_based`'s charts, own and other's.

    Three pairs of cards in four are of two suits; of one rank all are.
    """
    six = load(CRIB_TABLES)["crib"][0, [DEALER, PONE]]
    means = []
    for pair in SCHELL:
        a, b = sorted(TEXT.index(rank) for rank in pair)
        suited = 0.0 if a == b else 0.25
        means.append((1 - suited) * six[:, a, b] + suited * six[:, b, a])
    return np.array(means)
