"""The part of a two-hand game's page on what a pair discarded makes in the crib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from crib_agents.data.tables import CRIB_TABLES, RANKS, load
from crib_agents.knowledge.two_hand.measured import discard_rates
from crib_training.evaluation.markdown import table
from crib_training.tables.two_hand.discarded import DiscardRound, sample_round
from crib_training.tables.two_hand.schell import SCHELL, TEXT

from crib_env.rules import TwoHandRules

Array = npt.NDArray[Any]

PONE, DEALER = 0, 1
TITLES = {DEALER: "the dealer's own crib", PONE: "pone's pair in the dealer's crib"}
APART = 0.25  # from Schell's averages: farther apart is listed


def by_rank_pairs(cribs: Array) -> tuple[Array, Array]:
    """Return the means and half intervals of cribs by the ranks of the pair, whatever the suits.

    Shapes: cribs float64[2, 169, 3]; the result float64[2, 13, 13].
    """
    square = cribs.reshape(2, RANKS, RANKS, 3)
    both = square + square.transpose(0, 2, 1, 3)
    both[:, np.arange(RANKS), np.arange(RANKS)] /= 2
    n = both[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = both[..., 1] / n
        half = 1.96 * np.sqrt((both[..., 2] / n - mean**2) / n)
    return mean, half


def draw(mean: Array, picture: Path) -> None:
    """Draw the mean crib of every pair of ranks, for both roles."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    for axis, role in zip(axes, (DEALER, PONE), strict=True):
        image = axis.imshow(mean[role], cmap="viridis", vmin=2.5, vmax=9.5)
        for a in range(RANKS):
            for b in range(a + 1):
                shade = "black" if mean[role, a, b] > 6 else "white"
                axis.text(b, a, f"{mean[role, a, b]:.1f}", ha="center", va="center", fontsize=7,
                          color=shade)  # fmt: skip
                if a != b:
                    axis.text(a, b, f"{mean[role, a, b]:.1f}", ha="center", va="center",
                              fontsize=7, color=shade)  # fmt: skip
        axis.set_xticks(range(RANKS), TEXT)
        axis.set_yticks(range(RANKS), TEXT)
        axis.set_title(TITLES[role], fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.8, label="mean points of the crib")
    figure.savefig(picture, dpi=120)
    plt.close(figure)


def pair_tables(mean: Array) -> str:
    """Return the means of both roles as tables."""
    texts = []
    for role in (DEALER, PONE):
        rows = [
            [f"**{TEXT[a]}**", *(f"{mean[role, a, b]:.2f}" for b in range(RANKS))]
            for a in range(RANKS)
        ]
        texts.append(f"Mean points, {TITLES[role]}:\n\n{table(['', *TEXT], rows, numbers=True)}")
    return "\n\n".join(texts)


def beside_schell(found: DiscardRound) -> tuple[str, dict[str, Any]]:
    """Return our means beside Schell's published averages."""
    mean, half = by_rank_pairs(found.cribs)
    discarded, discarded_half = by_rank_pairs(found.discarded_cribs)
    rows = []
    differences = {}
    discards_apart = []
    for pair, published in SCHELL.items():
        a, b = (TEXT.index(rank) for rank in pair)
        for role, theirs in zip((DEALER, PONE), published, strict=True):
            difference = float(mean[role, a, b] - theirs)
            differences[f"{pair} {'own' if role else 'opponent'}"] = difference
            discards_apart.append(discarded[role, a, b] - theirs)
            mark = "**" if abs(difference) > APART else ""
            rows.append(
                [
                    f"{pair[0]}-{pair[1]} {'own' if role else 'opponent'}",
                    f"{mean[role, a, b]:.2f} ± {half[role, a, b]:.2f}",
                    f"{theirs:.2f}",
                    f"{mark}{difference:+.2f}{mark}",
                    *beside(discarded[role, a, b], discarded_half[role, a, b], theirs),
                ]
            )
    apart = np.array(list(differences.values()))
    plain = np.abs(without_play() - np.array(list(SCHELL.values()))).mean()
    head = ["pair, crib", "whenever dealt", "Schell", "difference", "when discarded", "difference"]
    text = f"""### Beside Schell's averages

"Whenever dealt" is the mean over every deal in which a seat was dealt the pair, whether or not it
would discard it, with the other seat's actual discard. "When discarded" is the mean over deals in
which `expert` discards the pair, so from hands with no better choice. The mean difference from
Schell's averages is {apart.mean():+.3f}, the mean absolute difference {np.abs(apart).mean():.3f}
(when discarded {np.nanmean(discards_apart):+.3f} and {np.nanmean(np.abs(discards_apart)):.3f}).
Differences above {APART} are in bold.

Crib tables computed in the same way for seats that weigh only hand and crib
(`crib tables crib_tables`) differ from Schell's by {plain:.3f} on average. So our difference comes
from pegging: both seats also keep cards for it. The dealer keeps low cards and discards tens and
court cards. This raises the crib of pone's tens and court cards and lowers that of the rest.

How often a dealt card is discarded, in per cent:

{table(["", *TEXT], discard_rows(found), numbers=True)}

{table(head, rows, numbers=True)}
"""
    return text, {"differences_from_schell": differences,
                  "mean_absolute_difference": float(np.abs(apart).mean())}  # fmt: skip


def discard_rows(found: DiscardRound) -> list[list[str]]:
    """Return how often a card is laid, by role and rank, here and by hand and crib alone."""
    pairs = found.discarded_cribs[:, :, 0].reshape(2, RANKS, RANKS)
    cards = pairs.sum(axis=1) + pairs.sum(axis=2)
    share = cards / cards.sum(axis=1, keepdims=True) * RANKS * 2 / 6  # two of six cards are laid
    held = load(CRIB_TABLES)["kept"]
    rows = []
    for name, role in (("the dealer", DEALER), ("pone", PONE)):
        for how, rates in (("", share[role]), (", by hand and crib alone", 1 - held[0, role])):
            rows.append([f"{name}{how}", *(f"{100 * rate:.0f}" for rate in rates)])
    return rows


def beside(mean: float, half: float, published: float) -> list[str]:
    """Return a mean and how far it is from the published one, as text; dashes if there is none."""
    if np.isnan(mean):
        return ["–", "–"]
    return [f"{mean:.2f} ± {half:.2f}", f"{mean - published:+.2f}"]


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


def section(
    rules: TwoHandRules, deals: int, seed: int, picture: Path
) -> tuple[str, dict[str, Any]]:
    """Return the text and the figures on cribs, and draw them."""
    discard_rate, excess = discard_rates(rules.dealt)
    found = sample_round(rules, discard_rate, excess, deals, np.random.SeedSequence(seed))
    mean, half = by_rank_pairs(found.cribs)
    draw(mean, picture)
    text = f"""## Cribs

The mean crib of each pair, over {deals:,} deals in which both seats discard as
`expert` does for points. The median interval is
± {np.nanmedian(half):.3f}, the widest ± {np.nanmax(half):.3f}.

{pair_tables(mean)}

![Mean points of the crib by discarded pair]({picture.name})
"""
    data: dict[str, Any] = {
        "crib_deals": deals,
        "own_crib": mean[DEALER].round(4).tolist(),
        "opponents_crib": mean[PONE].round(4).tolist(),
        "crib_half_intervals": half[::-1].round(4).tolist(),
    }
    if rules.dealt == 6:  # Schell's are of six-card cribbage
        more, about = beside_schell(found)
        return f"{text}\n{more}", {**data, **about}
    return text, data
