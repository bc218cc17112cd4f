"""What is discarded: the mean cribs of the opponents, and the discard rates that `expert` expects.

For each two-hand game the programs draw deals at random, in rounds that reach a fixed point.

`crib tables crib_tables` (about a minute on one core): both seats discard by the mean of the hand
over its starters, plus or minus the current table. The program scores every pair that a seat could
have discarded in the crib, with the other seat's discard and the starter. So rare pairs get samples
too. The means are the next table.

`crib tables discarded`: both seats discard as `expert` does, for the most points on average,
against the rates of the other role found so far. The program counts how often each role discards
each pair that it was dealt. These rates, by the two ranks and by whether the suits are equal, are
the next rates. It also averages, by the pair's ranks, the points that cribs make beyond the
expected ones. It needs ``hand_pegging.json`` and ``deal_outcomes.json``, and prints how far the
cribs of discarded pairs are from the expected ones.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from crib_agents.data.tables import CRIB_TABLES, DEALT, DISCARDED, RANKS, ROLES
from crib_agents.expert.discard import (
    COLUMNS,
    CRIB_MEAN,
    NEAR,
    PAIRS,
    SCRATCH,
    SCRATCH_T,
    fill_columns,
)
from crib_agents.expert.discard import best_pair as best_of_expert
from crib_agents.kernels.two_hand import CELLS, cell, sort_dealt
from crib_agents.knowledge.measured import MODEL_T, build_model, hand_pegging
from crib_agents.knowledge.winning import win_table
from numba import float64, int64, void

from crib_env.arrays import Array
from crib_env.engine.hands.records import DEAL
from crib_env.engine.jit import entry
from crib_env.engine.record import TABLE_T
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import VIEWS_T
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from crib_training.progress import steps
from crib_training.tables.dealing import (
    best_pair,
    both_games,
    crib_points,
    deal_hands,
    discard_views,
    draw,
    generator,
)
from crib_training.tables.maker import makes


@entry(
    void(
        VIEWS_T, TABLE_T, float64[::1], int64[::1], int64, float64[:, ::1], float64[:, ::1],
        int64[:, ::1], int64[:, :, ::1],
    )
)  # fmt: skip
def sample_cribs(views, table, weights, rng, deals, sums, squares, samples, kept):
    """Draw deals and add up the crib of every pair, by role and by cell of the chart.

    The views are the dealer's and pone's, their rules set. ``sums``, ``squares`` and ``samples``
    are [2, CELLS]; ``kept``, int64[2, RANKS, 2], counts cards of each rank dealt, and kept.
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
                    points = crib_points(
                        table, a, b, other >> 6, other & 63, starter, views[0]["crib_flush_size"]
                    )
                    at = cell(min(a, b), max(a, b))
                    sums[role, at] += points
                    squares[role, at] += points * points
                    samples[role, at] += 1


@dataclass
class CribRound:
    """What one round of sampling found."""

    crib: Array  # float64[2, CELLS], mean points of the crib by role and pair
    error: Array  # float64[2, CELLS], their standard errors
    samples: Array  # int64[2, CELLS], how many cribs they are the means of
    kept: Array  # float64[2, RANKS], the probability of keeping a card of a rank, by role


def crib_round(
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
    sample_cribs(discard_views(rules), show_table(), weights.ravel(), rng, deals, sums, squares,
                 samples, kept)  # fmt: skip
    # The views are the dealer's and pone's; the order of what was found is `ROLES`.
    sums, squares, samples, kept = sums[::-1], squares[::-1], samples[::-1], kept[::-1]
    n = np.maximum(samples, 1)
    means = sums / n
    error = np.sqrt((squares / n - means**2) / n)
    return CribRound(means, error, samples, kept[:, :, 1] / np.maximum(kept[:, :, 0], 1))


def chart(values: Array, digits: int) -> list[list[float]]:
    """Return what a file holds of float64[CELLS]."""
    rows: list[list[float]] = values.reshape(RANKS, RANKS).round(digits).tolist()
    return rows


@makes(CRIB_TABLES)
def crib_tables(deals: Count = 4_000_000, rounds: Count = 5, seed: Seed = 2024) -> dict[str, Any]:
    """Compute the crib tables that the opponents read.

    Args:
        deals: deals per round.
        rounds: rounds of each game.
    """
    games: dict[str, Any] = {}
    for rules, seed_seq in both_games(seed):
        started, changes = time.perf_counter(), []
        crib = np.zeros((len(ROLES), CELLS))
        for child in steps(seed_seq.spawn(rounds), f"{rules.name}, rounds"):
            found = crib_round(rules, crib, deals, child)
            changes.append(np.abs(found.crib - crib).mean())
            crib = found.crib
        games[rules.name] = {"dealt": rules.dealt, "deals_of_last_round": deals}
        for i, role in enumerate(ROLES):
            games[rules.name][role] = {
                "crib": chart(crib[i], 4),
                "samples": chart(found.samples[i], 0),
                "largest_standard_error": round(float(found.error[i].max()), 4),
                "kept": found.kept[i].round(4).tolist(),
            }
        print(f"{rules.name}: {time.perf_counter() - started:.0f} s, mean change by round "
              + " ".join(f"{change:.4f}" for change in changes)
              + f", largest standard error {found.error.max():.4f}")  # fmt: skip
    return games


@entry(
    void(
        VIEWS_T, float64[:, :, ::1], MODEL_T, TABLE_T, SCRATCH_T, float64[:, :, ::1], int64[::1],
        int64, int64[:, :, ::1], float64[:, :, ::1], float64[:, ::1],
    )
)  # fmt: skip
def sample_discards(
    views, win_table, model, table, scratch, columns, rng, deals, discarded, cribs, own
):
    """Draw deals and count, by role (pone, dealer) and cell, pairs dealt and discarded.

    ``cribs``, float64[2, CELLS, 5], adds up, of the pairs dealt, the crib with what the other
    discarded, how far it was beyond the crib expected, and its square; of the pairs discarded the
    crib and its square. ``own``, float64[2, 3], adds up, of the pairs discarded, the crib expected,
    how far the crib was beyond it, and the square of that.
    """
    n = views[0]["dealt"]
    for _ in range(deals):
        starter = draw(rng, deal_hands(views, rng))
        fill_columns(views[0], win_table, model[0], table, NEAR, scratch[0], columns[0])
        pone_pair = best_of_expert(views[0], scratch[0], columns[0])
        fill_columns(views[1], win_table, model[0], table, NEAR, scratch[0], columns[1])
        dealer_pair = best_of_expert(views[1], scratch[0], columns[1])
        for role in range(2):
            sort_dealt(views[role], scratch[0]["cards"])
            pair = dealer_pair if role else pone_pair
            other = pone_pair if role else dealer_pair
            k = 0
            for i in range(n):
                for j in range(i + 1, n):
                    low = scratch[0]["cards"][i]
                    high = scratch[0]["cards"][j]
                    expected = abs(columns[role, k, CRIB_MEAN])
                    k += 1
                    points = crib_points(
                        table, low, high, other >> 6, other & 63, starter,
                        views[0]["crib_flush_size"],
                    )  # fmt: skip
                    beyond = points - expected
                    at = cell(low, high)
                    discarded[role, at, 0] += 1
                    cribs[role, at, 0] += points
                    cribs[role, at, 1] += beyond
                    cribs[role, at, 2] += points * points
                    if pair == 64 * high + low:
                        discarded[role, at, 1] += 1
                        cribs[role, at, 3] += points
                        cribs[role, at, 4] += points * points
                        own[role, 0] += expected
                        own[role, 1] += beyond
                        own[role, 2] += beyond * beyond


@dataclass
class DiscardRound:
    """What one round of sampling found, by role (pone, dealer)."""

    discarded: Array  # float64[2, CELLS], how often a pair that was dealt was discarded
    error: Array  # float64[2, CELLS], the standard errors
    # float64[2, CELLS, 3], of the cribs of a pair whenever it was dealt their number, sum and sum
    # of squares
    cribs: Array
    discarded_cribs: Array  # float64[2, CELLS, 3], the same of the times it was discarded
    beyond: Array  # float64[2, CELLS], how far it was beyond the mean expected, by ranks alone
    # float64[2, 3], of the pairs discarded the mean crib expected, how far the cribs were beyond
    # it, and 1.96 standard errors of that
    own: Array


def discard_round(
    rules: TwoHandRules,
    discard_rate: Array,
    excess: Array,
    deals: int,
    seed: np.random.SeedSequence,
) -> DiscardRound:
    """Sample deals in which both seats use ``discard_rate`` and ``excess``, float64[2, CELLS]."""
    model = build_model(rules.dealt, discard_rate, excess, hand_pegging(rules.dealt))
    views = discard_views(rules)[::-1].copy()  # the dealer's is first there
    rng = generator(seed)
    discarded = np.zeros((2, CELLS, 2), dtype=np.int64)
    cribs = np.zeros((2, CELLS, 5))
    own = np.zeros((2, 3))
    sample_discards(views, win_table(rules.dealt, rules.target, DEAL), model, show_table(),
           np.zeros(1, dtype=SCRATCH), np.zeros((2, PAIRS, COLUMNS)), rng, deals, discarded, cribs,
           own)  # fmt: skip
    dealt = np.maximum(discarded[:, :, 0], 1)
    rate = discarded[:, :, 1] / dealt
    own /= deals
    own[:, 2] = 1.96 * np.sqrt((own[:, 2] - own[:, 1] ** 2) / deals)
    error = np.sqrt(rate * (1 - rate) / dealt)
    beyond = by_ranks(cribs[:, :, 1]) / by_ranks(dealt)
    every = np.stack([discarded[:, :, 0], cribs[:, :, 0], cribs[:, :, 2]], axis=2)
    chosen = np.stack([discarded[:, :, 1], cribs[:, :, 3], cribs[:, :, 4]], axis=2)
    return DiscardRound(rate, error, every, chosen, beyond, own)


def by_ranks(chart: Array) -> Array:
    """Return charts, [2, CELLS], with pairs of one suit and of two added up."""
    square = chart.reshape(2, RANKS, RANKS)
    both: Array = (square + square.transpose(0, 2, 1)).reshape(2, CELLS)
    return both


@makes(DISCARDED)
def discarded(deals: Count = 120_000, rounds: Count = 10, seed: Seed = 2028) -> dict[str, Any]:
    """Compute each role's discard rates, which the expert expects.

    Args:
        deals: deals per round.
        rounds: rounds of each game.
    """
    games: dict[str, Any] = {}
    for rules, seed_seq in both_games(seed):
        started, changes = time.perf_counter(), []
        # At first every pair is discarded equally often. Then each role answers the mean of what
        # the other did so far (fictitious play): answering the last round alone, the two go round
        # in circles that grow.
        rate, excess = np.ones((2, CELLS)), np.zeros((2, CELLS))
        for i, child in enumerate(steps(seed_seq.spawn(rounds), f"{rules.name}, rounds")):
            found = discard_round(rules, rate, excess, deals, child)
            changes.append(np.abs(found.discarded - rate).mean())
            # The first round, which answers no rates at all, is forgotten by the second.
            # Later rounds answer better rates, and weigh more.
            step = 2.0 / max(2, i + 1)
            rate += step * (found.discarded - rate)
            excess += step * found.beyond
        games[rules.name] = {"dealt": rules.dealt}
        print(f"{rules.name}: {time.perf_counter() - started:.0f} s, mean change by round "
              + " ".join(f"{change:.4f}" for change in changes)
              + f", mean standard error {found.error.mean():.4f}")  # fmt: skip
        for i, role in enumerate(ROLES):
            games[rules.name][role] = {
                "discarded": chart(rate[i], 5), "excess": chart(excess[i], 4)
            }  # fmt: skip
            print(f"{role}: crib expected of the pairs discarded {found.own[i, 0]:.3f}, made "
                  f"{found.own[i, 1]:+.3f} ± {found.own[i, 2]:.3f} beyond", flush=True)  # fmt: skip
    return games
