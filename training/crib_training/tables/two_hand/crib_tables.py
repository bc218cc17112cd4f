"""Compute the crib tables that the opponents read, ``agents/data/crib_tables.json``.

Run ``python -m crib_training.tables.two_hand.crib_tables`` (about a minute on one core). For each two-hand game
deals are drawn at random and both seats lay away by the mean of the hand over its starters, plus
or minus the table so far. Every pair each seat could have laid is then scored in the crib with
what the other seat did lay and the starter, so that rare pairs get samples too. The means are the
next table; a few rounds, each of fresh deals, reach a fixed point.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from crib_agents.data.crib_tables import CELLS, DEALT, PATH, RANKS, ROLES, VERSION, cell
from crib_agents.kernels.lay_away import best_pair
from crib_agents.rule_based import hand_and_crib
from numba import float64, int64, void

from crib_env.engine.jit import entry, kernel
from crib_env.engine.rng import WORDS, below, seed_words
from crib_env.engine.show import JACK, KEYS, score_flush_and_nob
from crib_env.engine.tables import show_table
from crib_env.engine.two_hand.records import HAND, NONE, TABLE_T, VIEW, VIEWS_T
from crib_env.rules import PRESETS, Rules

Array = npt.NDArray[Any]

GAMES = ("hoyle", "five_card")
TEXT = "A23456789TJQK"

# Crib averages of Schell's tables, own crib and opponent's crib, published for six-card cribbage.
SCHELL: dict[str, tuple[float, float]] = {
    "AA": (5.38, 6.02), "AK": (3.41, 4.30), "23": (7.00, 7.33), "45": (6.48, 7.26),
    "55": (8.79, 9.37), "56": (6.63, 7.47), "5T": (6.66, 7.41), "5J": (7.00, 7.76),
    "5K": (6.66, 7.25), "67": (4.98, 6.42), "78": (6.53, 7.63), "88": (5.45, 6.82),
    "9K": (3.06, 4.03), "TK": (2.84, 3.88), "JJ": (5.33, 6.42), "JQ": (4.81, 5.46),
    "QQ": (4.79, 5.79), "KK": (4.58, 5.65),
}  # fmt: skip


@kernel
def crib_points(table, a, b, c, d, starter, smallest):
    """Return the points of a crib of four cards with the starter (C2, C4, H8, F6)."""
    key = KEYS[a >> 2] + KEYS[b >> 2] + KEYS[c >> 2] + KEYS[d >> 2] + KEYS[starter >> 2]
    suits = (1 << (8 * (a & 3))) + (1 << (8 * (b & 3)))
    suits += (1 << (8 * (c & 3))) + (1 << (8 * (d & 3)))
    nob_card = 4 * JACK + (starter & 3)
    nob = 1 if a == nob_card or b == nob_card or c == nob_card or d == nob_card else 0
    return table[key] + score_flush_and_nob(suits, 4, starter, smallest, nob)


@kernel
def draw(rng, used):
    """Return a card drawn from those not in the mask ``used``."""
    card = below(rng, 52)
    while used >> card & 1:
        card = below(rng, 52)
    return card


@kernel
def deal_hands(views, rng):
    """Deal a hand to each of two views, and return the cards dealt as a mask."""
    n = views[0]["dealt"]
    used = 0
    for i in range(2 * n):
        card = draw(rng, used)
        used |= 1 << card
        views[i // n]["hand"][i % n] = card
    return used


@entry(
    void(
        VIEWS_T, TABLE_T, float64[::1], int64[::1], int64, float64[:, ::1], float64[:, ::1],
        int64[:, ::1], int64[:, :, ::1],
    )
)  # fmt: skip
def sample(views, table, weights, rng, deals, sums, squares, samples, kept):
    """Draw deals and add up the crib of every pair, by role and by cell of the chart.

    Args:
        views: two views, the dealer's and pone's; their rules must be set.
        rng: int64[4], the generator.
        sums, squares, samples: [2, CELLS], the cribs' points, their squares, their number.
        kept: int64[2, RANKS, 2], cards of each rank dealt, and kept.
    """
    n = views[0]["dealt"]
    for _ in range(deals):
        starter = draw(rng, deal_hands(views, rng))
        dealer_pair = best_pair(hand_and_crib, views[0], table, weights)
        pone_pair = best_pair(hand_and_crib, views[1], table, weights)
        for role in range(2):
            hand = views[role]["hand"]
            own = dealer_pair if role == 0 else pone_pair
            other = pone_pair if role == 0 else dealer_pair
            for i in range(n):
                a = hand[i]
                kept[role, a >> 2, 0] += 1
                if a != own >> 6 and a != own & 63:
                    kept[role, a >> 2, 1] += 1
                for j in range(i + 1, n):
                    b = hand[j]
                    points = crib_points(
                        table, a, b, other >> 6, other & 63, starter, views[0]["crib_flush_size"]
                    )
                    at = cell(min(a, b), max(a, b))
                    sums[role, at] += points
                    squares[role, at] += points * points
                    samples[role, at] += 1


@entry(void(int64[::1], int64[::1]))
def seed_generator(rng, words):
    """Start ``rng`` from three words."""
    seed_words(rng, words[0], words[1], words[2])


@dataclass
class Round:
    """What one round of sampling found.

    Attributes:
        crib: float64[2, CELLS], mean points of the crib by role and pair.
        error: float64[2, CELLS], their standard errors.
        samples: int64[2, CELLS], how many cribs they are the means of.
        kept: float64[2, RANKS], how often a card of a rank is kept, by role.
    """

    crib: Array
    error: Array
    samples: Array
    kept: Array


def laying_views(rules: Rules) -> npt.NDArray[np.void]:
    """Return the views of the dealer and of pone about to lay away; the cards are left open."""
    views = np.zeros(2, dtype=VIEW)
    views["hand"][:, rules.dealt : HAND] = NONE
    views["laid"] = NONE
    views["hand_n"] = rules.dealt
    views["starter"] = NONE
    views["is_dealer"] = (1, 0)
    for field in ("dealt", "target", "single_count", "flush_size", "crib_flush_size"):
        views[field] = getattr(rules, field)
    return views


def sample_round(rules: Rules, crib: Array, deals: int, seed: np.random.SeedSequence) -> Round:
    """Sample deals in which both seats lay away by the crib charts ``crib``, float64[2, CELLS]."""
    weights = np.zeros((len(DEALT), len(ROLES), CELLS))
    weights[DEALT.index(rules.dealt)] = crib
    rng = np.zeros(WORDS, dtype=np.int64)
    seed_generator(rng, seed.generate_state(3).astype(np.int64))
    sums = np.zeros((2, CELLS))
    squares = np.zeros((2, CELLS))
    samples = np.zeros((2, CELLS), dtype=np.int64)
    kept = np.zeros((2, RANKS, 2), dtype=np.int64)
    sample(laying_views(rules), show_table(), weights.ravel(), rng, deals, sums, squares, samples,
           kept)  # fmt: skip
    n = np.maximum(samples, 1)
    means = sums / n
    error = np.sqrt((squares / n - means**2) / n)
    return Round(means, error, samples, kept[:, :, 1] / np.maximum(kept[:, :, 0], 1))


def fixed_point(
    rules: Rules, deals: int, rounds: int, seed: np.random.SeedSequence
) -> tuple[Round, list[float]]:
    """Iterate from no table at all; return the last round and each round's mean change."""
    crib = np.zeros((len(ROLES), CELLS))
    changes = []
    for child in seed.spawn(rounds):
        found = sample_round(rules, crib, deals, child)
        changes.append(float(np.abs(found.crib - crib).mean()))
        crib = found.crib
    return found, changes


def as_json(found: Round, rules: Rules, deals: int) -> dict[str, Any]:
    """Return a game's entry of the data file."""
    roles = {
        role: {
            "crib": found.crib[i].reshape(RANKS, RANKS).round(4).tolist(),
            "samples": found.samples[i].reshape(RANKS, RANKS).tolist(),
            "largest_standard_error": round(float(found.error[i].max()), 4),
            "kept": found.kept[i].round(4).tolist(),
        }
        for i, role in enumerate(ROLES)
    }
    return {"dealt": rules.dealt, "deals_of_last_round": deals, **roles}


def compare_with_schell(crib: Array) -> str:
    """Return six-card charts, float64[2, CELLS], beside Schell's averages, as text."""
    lines = ["pair  own: ours  Schell   diff   opponent's: ours  Schell   diff"]
    differences = []
    for pair, published in SCHELL.items():
        a, b = sorted(TEXT.index(rank) for rank in pair)
        row = f"{pair:4}"
        for role, width in ((0, 11), (1, 18)):
            ours = crib[role].reshape(RANKS, RANKS)
            # Three pairs of cards in four are of two suits; of one rank all are.
            mean = ours[a, b] if a == b else 0.75 * ours[a, b] + 0.25 * ours[b, a]
            row += f"{mean:{width}.2f}{published[role]:8.2f}{mean - published[role]:+7.2f}"
            differences.append(mean - published[role])
        lines.append(row)
    ours_less = np.array(differences)
    lines.append(f"mean difference {ours_less.mean():+.3f}, mean absolute difference "
                 f"{np.abs(ours_less).mean():.3f}, root mean square "
                 f"{np.sqrt((ours_less**2).mean()):.3f}")  # fmt: skip
    return "\n".join(lines)


def write(path: Path, data: dict[str, Any]) -> None:
    """Write the data file, one row of a chart a line."""
    text = json.dumps(data, indent=1)
    text = re.sub(r"\[[^\[\]]+\]", lambda row: " ".join(row[0].split()), text)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text + "\n")


def main() -> None:
    """Compute both games' tables, print how they compare, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--deals", type=int, default=4_000_000, help="deals a round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each game")
    parser.add_argument("--seed", type=int, default=2024, help="seed of all rounds")
    parser.add_argument("--out", type=Path, default=PATH, help="the file to write")
    given = parser.parse_args()
    games: dict[str, Any] = {}
    for name, seed in zip(GAMES, np.random.SeedSequence(given.seed).spawn(len(GAMES)), strict=True):
        started = time.perf_counter()
        rules = PRESETS[name]
        found, changes = fixed_point(rules, given.deals, given.rounds, seed)
        games[name] = as_json(found, rules, given.deals)
        print(f"{name}: {time.perf_counter() - started:.0f} s, mean change by round "
              + " ".join(f"{change:.4f}" for change in changes)
              + f", largest standard error {found.error.max():.4f}")  # fmt: skip
        if name == "hoyle":
            print(compare_with_schell(found.crib))
    made_by = (f"python -m crib_training.tables.two_hand.crib_tables --deals {given.deals} --rounds {given.rounds} "
               f"--seed {given.seed}")  # fmt: skip
    write(given.out, {"version": VERSION, "made_by": made_by, "seed": given.seed,
                      "rounds": given.rounds, "games": games})  # fmt: skip


if __name__ == "__main__":
    main()
