"""Compute the crib tables of the opponents, ``crib_tables.json``.

Run ``crib tables crib_tables`` (about a minute on one core). For each two-hand game the program
draws deals at random. Both seats discard by the mean of the hand over its starters, plus or minus
the current table. The program scores every pair that a seat could have discarded in the crib, with
the other seat's discard and the starter. So rare pairs get samples too. The means are the next
table; a few rounds, each of new deals, reach a fixed point.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from crib_agents.data.tables import CRIB_TABLES, DEALT, RANKS, ROLES
from crib_agents.kernels.two_hand import CELLS, cell
from numba import float64, int64, void

from crib_env.arrays import Array
from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import VIEWS_T
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, NewFile, Seed, checked_dataclass
from crib_training.progress import steps
from crib_training.tables.files import write
from crib_training.tables.two_hand.dealing import (
    best_pair,
    both_games,
    deal_hands,
    discard_views,
    draw,
    generator,
    set_points,
)


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
        dealer_pair = best_pair(views[0], table, weights)
        pone_pair = best_pair(views[1], table, weights)
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
                    points = set_points(
                        table, a, b, other >> 6, other & 63, 4, starter, views[0]["crib_flush_size"]
                    )
                    at = cell(min(a, b), max(a, b))
                    sums[role, at] += points
                    squares[role, at] += points * points
                    samples[role, at] += 1


@dataclass
class CribRound:
    """What one round of sampling found.

    Attributes:
        crib: float64[2, CELLS], mean points of the crib by role and pair.
        error: float64[2, CELLS], their standard errors.
        samples: int64[2, CELLS], how many cribs they are the means of.
        kept: float64[2, RANKS], the probability of keeping a card of a rank, by role.
    """

    crib: Array
    error: Array
    samples: Array
    kept: Array


def sample_round(
    rules: TwoHandRules, crib: Array, deals: int, seed: np.random.SeedSequence
) -> CribRound:
    """Sample deals in which both seats discard by the crib charts ``crib``, float64[2, CELLS]."""
    weights = np.zeros((len(DEALT), len(ROLES), CELLS))
    weights[DEALT.index(rules.dealt)] = crib
    rng = generator(seed)
    sums = np.zeros((2, CELLS))
    squares = np.zeros((2, CELLS))
    samples = np.zeros((2, CELLS), dtype=np.int64)
    kept = np.zeros((2, RANKS, 2), dtype=np.int64)
    sample(discard_views(rules), show_table(), weights.ravel(), rng, deals, sums, squares, samples,
           kept)  # fmt: skip
    # The views are the dealer's and pone's; the order of what was found is `ROLES`.
    sums, squares, samples, kept = sums[::-1], squares[::-1], samples[::-1], kept[::-1]
    n = np.maximum(samples, 1)
    means = sums / n
    error = np.sqrt((squares / n - means**2) / n)
    return CribRound(means, error, samples, kept[:, :, 1] / np.maximum(kept[:, :, 0], 1))


def fixed_point(
    rules: TwoHandRules, deals: int, rounds: int, seed: np.random.SeedSequence
) -> tuple[CribRound, list[float]]:
    """Iterate from no table at all; return the last round and each round's mean change."""
    crib = np.zeros((len(ROLES), CELLS))
    changes = []
    for child in steps(seed.spawn(rounds), f"{rules.name}, rounds"):
        found = sample_round(rules, crib, deals, child)
        changes.append(float(np.abs(found.crib - crib).mean()))
        crib = found.crib
    return found, changes


def as_json(found: CribRound, rules: TwoHandRules, deals: int) -> dict[str, Any]:
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


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Compute the crib tables that the opponents read.

    Attributes:
        deals: deals per round.
        rounds: rounds of each game.
        seed: fixes all random numbers.
        out: the file to write.
    """

    deals: Count = 4_000_000
    rounds: Count = 5
    seed: Seed = 2024
    out: NewFile = CRIB_TABLES.path


def run(settings: Settings) -> None:
    """Compute both games' tables, print how they compare, and write the file."""
    games: dict[str, Any] = {}
    for rules, seed in both_games(settings.seed):
        started = time.perf_counter()
        found, changes = fixed_point(rules, settings.deals, settings.rounds, seed)
        games[rules.name] = as_json(found, rules, settings.deals)
        print(f"{rules.name}: {time.perf_counter() - started:.0f} s, mean change by round "
              + " ".join(f"{change:.4f}" for change in changes)
              + f", largest standard error {found.error.max():.4f}")  # fmt: skip
    write(CRIB_TABLES, settings, games)
