"""Discards: the mean cribs of the opponents, and the discard rates that `expert` expects.

For each two-hand game the programs draw deals at random, in rounds that reach a fixed point.

`python -m research.tables crib_tables` (about a minute on one core): both seats discard by the mean
of the hand over its starters, plus or minus the current table. The program scores every pair that a
seat could have discarded in the crib, with the other seat's discard and the starter. So rare pairs
get samples too. The means are the next table.

`python -m research.tables discarded`: both seats discard as `expert` does, for the most points on
average, against the rates of the other role found so far. The program counts how often each role
discards each pair that it was dealt. These rates, by the two ranks and by whether the suits are
equal, are the next rates. It also averages, by the pair's ranks, the points that cribs make beyond
the expected ones. It needs ``hand_pegging.npz`` and ``deal_outcomes.npz``, and prints how far the
cribs of discarded pairs are from the expected ones.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from crib_agents.data.tables import CRIB_TABLES, DEALT, DISCARDED, ROLES
from crib_agents.expert.discard import COLUMNS, CRIB_MEAN, NEAR, PAIRS, SCRATCH, SCRATCH_T, fill_columns, read_before
from crib_agents.expert.discard import best_pair as best_of_expert
from crib_agents.kernels.two_hand import CELLS, cell, sort_dealt
from crib_agents.knowledge.deal_points import MODEL_T, build_model, hand_pegging
from crib_agents.knowledge.winning import win_table
from crib_training.progress import steps
from numba import float32, float64, int64, void

from crib_env.arrays import Array
from crib_env.engine.hands.records import DEAL
from crib_env.engine.jit import entry, kernel
from crib_env.engine.ranks import RANKS
from crib_env.engine.record import TABLE_T
from crib_env.engine.rng import draw_unused
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import VIEWS_T
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import best_pair, both_games, crib_points, deal_hands, discard_views, generator
from research.tables.maker import makes

COUNTED, CRIBS, CHART = int64[:, :, ::1], float64[:, :, ::1], float64[:, ::1]


@kernel
def add_cribs(v, cards, pair, other, starter, expected, table, counted, cribs, own):
    """Add up the cribs of every pair that a seat was dealt, with the discard ``other``.

    ``pair`` is the seat's own discard. By cell: ``counted``, int64[CELLS, 2], counts the pairs
    dealt and discarded; ``cribs``, float64[CELLS, 5], adds up, for the pairs dealt, the crib, its
    excess over ``expected`` and the crib's square, and for the pairs discarded, the crib and its
    square.
    ``own``, float64[3], adds up, for the pairs discarded, the crib expected, the excess over it and
    the square of the excess.
    """
    n = sort_dealt(v, cards)
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            points = crib_points(table, cards[i], cards[j], other >> 6, other & 63, starter, v["crib_flush_size"])
            at = cell(cards[i], cards[j])
            mean = abs(expected[k, CRIB_MEAN])
            beyond = points - mean
            k += 1
            counted[at, 0] += 1
            cribs[at, 0] += points
            cribs[at, 1] += beyond
            cribs[at, 2] += points * points
            if pair == 64 * cards[j] + cards[i]:
                counted[at, 1] += 1
                cribs[at, 3] += points
                cribs[at, 4] += points * points
                own[0] += mean
                own[1] += beyond
                own[2] += beyond * beyond


@entry(void(VIEWS_T, TABLE_T, float64[::1], CHART, int64[::1], int64[::1], int64, COUNTED, CRIBS, CHART))
def sample_cribs(views, table, weights, expected, cards, rng, deals, counted, cribs, own):
    """Draw deals in which two seats discard as `rule_based`, and add up their cribs by role."""
    for _ in range(deals):
        starter = draw_unused(rng, deal_hands(views, rng))
        pairs = best_pair(views[0], table, weights), best_pair(views[1], table, weights)
        for role in range(2):
            add_cribs(views[role], cards, pairs[role], pairs[1 - role], starter, expected, table,
                      counted[role], cribs[role], own[role])  # fmt: skip


def crib_round(
    rules: TwoHandRules, crib: Array, deals: int, seed: np.random.SeedSequence
) -> tuple[Array, Array, Array]:
    """Sample deals in which both seats discard by the crib charts ``crib``, float64[2, CELLS].

    Returns the mean cribs by role and pair and their standard errors, both float64[2, CELLS], and
    the probability of keeping a card of a rank, float64[2, RANKS].
    """
    weights = np.zeros((len(DEALT), len(ROLES), CELLS))
    weights[DEALT.index(rules.dealt)] = crib
    counted, cribs = np.zeros((2, CELLS, 2), dtype=np.int64), np.zeros((2, CELLS, 5))
    sample_cribs(discard_views(rules), show_table(), weights.ravel(), np.zeros((PAIRS, COLUMNS)),
                 np.zeros(rules.dealt, dtype=np.int64), generator(seed), deals, counted, cribs,
                 np.zeros((2, 3)))  # fmt: skip
    # The views are the dealer's and pone's; the results are in the order of `ROLES`.
    counted, cribs = counted[::-1], cribs[::-1]
    samples = counted[:, :, 0]
    n = np.maximum(samples, 1)
    means = cribs[:, :, 0] / n
    error = np.sqrt((cribs[:, :, 2] / n - means**2) / n)
    dealt = by_card(samples) // (rules.dealt - 1)  # each card is in a pair with each other card
    kept = (dealt - by_card(counted[:, :, 1])) / np.maximum(dealt, 1)
    return means, error, kept


def by_card(chart: Array) -> Array:
    """Return how many cards of each rank the pairs of charts have, [2, RANKS]."""
    square = chart.reshape(2, RANKS, RANKS)
    return np.asarray(square.sum(axis=1) + square.sum(axis=2))


@makes(CRIB_TABLES)
def crib_tables(deals: Count = 4_000_000, rounds: Count = 5, seed: Seed = 2024) -> dict[str, Any]:
    """Compute the crib tables that the opponents read.

    Args:
        deals: deals per round.
        rounds: rounds of each game.
    """
    cribs, kept = [], []
    for rules, seed_seq in both_games(seed):
        started, changes = time.perf_counter(), []
        crib = np.zeros((len(ROLES), CELLS))
        for child in steps(seed_seq.spawn(rounds), f"{rules.name}, rounds"):
            found, error, rates = crib_round(rules, crib, deals, child)
            changes.append(np.abs(found - crib).mean())
            crib = found
        cribs.append(crib.reshape(len(ROLES), RANKS, RANKS).round(4))
        kept.append(rates.round(4))
        print(
            f"{rules.name}: {time.perf_counter() - started:.0f} s, mean change by round "
            + " ".join(f"{change:.4f}" for change in changes)
            + f", largest standard error {error.max():.4f}"
        )
    return {"crib": np.stack(cribs), "kept": np.stack(kept)}


@entry(
    void(
        VIEWS_T, float64[:, :, ::1], MODEL_T, float32[:, ::1], float32[::1], TABLE_T, SCRATCH_T,
        float64[:, :, ::1], int64[::1], int64, int64[:, :, ::1], float64[:, :, ::1],
        float64[:, ::1],
    )
)  # fmt: skip
def sample_discards(views, win_table, model, before, share, table, scratch, columns, rng, deals, counted, cribs, own):
    """Draw deals in which pone and the dealer discard as `expert`, and add up their cribs."""
    s = scratch[0]
    for _ in range(deals):
        starter = draw_unused(rng, deal_hands(views, rng))
        fill_columns(views[0], win_table, model[0], before, share, table, NEAR, s, columns[0])
        pone_pair = best_of_expert(views[0], s, columns[0])
        fill_columns(views[1], win_table, model[0], before, share, table, NEAR, s, columns[1])
        pairs = pone_pair, best_of_expert(views[1], s, columns[1])
        for role in range(2):
            add_cribs(views[role], s["cards"], pairs[role], pairs[1 - role], starter,
                      columns[role], table, counted[role], cribs[role], own[role])  # fmt: skip


@dataclass
class DiscardRound:
    """The results of one round of sampling, by role (pone, dealer)."""

    discarded: Array  # float64[2, CELLS], how often a pair that was dealt was discarded
    error: Array  # float64[2, CELLS], the standard errors
    cribs: Array  # float64[2, CELLS, 3], number, sum and sum of squares of a dealt pair's cribs
    discarded_cribs: Array  # float64[2, CELLS, 3], the same for a discarded pair
    beyond: Array  # float64[2, CELLS], the cribs' mean excess over the expected, by ranks alone
    # float64[2, 3], for the pairs discarded the mean crib expected, the cribs' mean excess over it,
    # and 1.96 standard errors of the excess
    own: Array


def discard_round(
    rules: TwoHandRules, discard_rate: Array, excess: Array, deals: int, seed: np.random.SeedSequence
) -> DiscardRound:
    """Sample deals in which both seats use ``discard_rate`` and ``excess``, float64[2, CELLS]."""
    model = build_model(rules.dealt, discard_rate, excess, hand_pegging(rules.dealt))
    views = discard_views(rules)[::-1].copy()  # the dealer's is first there
    rng = generator(seed)
    discarded = np.zeros((2, CELLS, 2), dtype=np.int64)
    cribs = np.zeros((2, CELLS, 5))
    own = np.zeros((2, 3))
    sample_discards(views, win_table(rules.dealt, rules.target, DEAL), model, *read_before(),
           show_table(), np.zeros(1, dtype=SCRATCH), np.zeros((2, PAIRS, COLUMNS)), rng, deals,
           discarded, cribs, own)  # fmt: skip
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
    rates, beyond = [], []
    for rules, seed_seq in both_games(seed):
        started, changes = time.perf_counter(), []
        # At first every pair is discarded equally often. Then each role responds to the other's
        # mean so far (fictitious play). Responses to the last round alone go in growing circles.
        rate, excess = np.ones((2, CELLS)), np.zeros((2, CELLS))
        for i, child in enumerate(steps(seed_seq.spawn(rounds), f"{rules.name}, rounds")):
            found = discard_round(rules, rate, excess, deals, child)
            changes.append(np.abs(found.discarded - rate).mean())
            # The second round replaces the first, which responds to no measured rates.
            # Later rounds respond to better rates, and weigh more.
            step = 2.0 / max(2, i + 1)
            rate += step * (found.discarded - rate)
            excess += step * found.beyond
        rates.append(rate.reshape(len(ROLES), RANKS, RANKS).round(5))
        beyond.append(excess.reshape(len(ROLES), RANKS, RANKS).round(4))
        print(
            f"{rules.name}: {time.perf_counter() - started:.0f} s, mean change by round "
            + " ".join(f"{change:.4f}" for change in changes)
            + f", mean standard error {found.error.mean():.4f}"
        )
        for i, role in enumerate(ROLES):
            print(
                f"{role}: crib expected of the pairs discarded {found.own[i, 0]:.3f}, made "
                f"{found.own[i, 1]:+.3f} ± {found.own[i, 2]:.3f} beyond",
                flush=True,
            )
    return {"discarded": np.stack(rates), "excess": np.stack(beyond)}
