"""Measure deals of `rule_based`, ``reference_deals.npz``, for AIVAT.

    python -m research.tables reference_deals

The agent discards and pegs in both seats without seeing the starter. Each deal counts with every
possible starter. The command prints the mean points by role, and how often the first dealer wins.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from crib_agents.data.tables import REFERENCE_DEALS
from crib_agents.rule_based import RuleBasedAgent
from crib_training.evaluation.aivat import (
    DEALER_CRIB,
    DEALER_HAND,
    DEALER_PLAY,
    FAMILY,
    KINDS,
    PLAYOUT,
    PLAYOUTS_T,
    PONE,
    PONE_HAND,
    ReferenceOutcomes,
    playout_kernels,
    win_table,
)
from crib_training.progress import Progress
from numba import float64, int64, void

from crib_env.engine.family import find_family
from crib_env.engine.jit import Entry, entry
from crib_env.engine.record import DECKS_T, LOG_SIZE, LOG_T, NO_DECKS, TABLE_T, WEIGHTS_T
from crib_env.engine.rng import draw_unused
from crib_env.engine.show import show_table
from crib_env.engine.two_hand import HAND
from crib_env.policy import Act, CompiledAgent
from crib_env.rules import LARGEST_TARGET, TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import both_games, generator
from research.tables.maker import makes

AT_ONCE = 10_000
_, MOST_PONE, MOST_DEALER = REFERENCE_DEALS.shapes["ends"]


@cache
def deals_entry(act: Act, name: str) -> Entry:
    """Return the entry that counts deals of the reference with this ``act``."""
    states_t, rules_t, views_t = find_family(FAMILY).types
    discard, follow = playout_kernels(act)

    @entry(
        void(
            states_t, rules_t, views_t, DECKS_T, LOG_T, int64[::1], TABLE_T, WEIGHTS_T, int64,
            PLAYOUTS_T, float64[::1], float64[::1], float64[:, ::1], float64[:, ::1],
        ),
        f"reference_deals.{name}",
    )  # fmt: skip
    def count_deals(
        states, rules, views, decks, log, rng, table, weights, deals, playouts, counted, points, ends, reached
    ):
        """Play deals and count each with every starter, as `ReferenceOutcomes` names the arrays."""
        s, playout = states[0], playouts[0]
        game = (s, rules[0], views[0], rng, table, weights, log, decks)
        for _ in range(deals):
            used = 0
            for i in range(2 * rules[0]["dealt"]):
                card = draw_unused(rng, used)
                used |= 1 << card
                s["dealt"][HAND * (i & 1) + (i >> 1)] = card
            pone, dealer = discard(game)
            follow(game, pone, dealer, playout)
            for k in range(playout["starters"]):
                made = playout["made"]
                at = KINDS * k
                for kind in range(KINDS):
                    points[kind] += made[at + kind]
                p = 0
                d = made[at + DEALER_PLAY]
                for i in range(playout["cards"]):
                    if playout["pegger"][i] != PONE:
                        d -= playout["pegged"][i]
                for i in range(playout["cards"] + 1):  # after heels: the pegging, pone's hand
                    if i == playout["cards"]:
                        more = made[at + PONE_HAND]
                    elif playout["pegger"][i] == PONE:
                        more = playout["pegged"][i]
                    else:
                        d += playout["pegged"][i]
                        continue
                    for _ in range(more):
                        p = min(p + 1, ends.shape[0] - 1)
                        reached[p, min(d, ends.shape[1] - 1)] += 1.0
                d += made[at + DEALER_HAND] + made[at + DEALER_CRIB]
                ends[p, min(d, ends.shape[1] - 1)] += 1.0
            counted[0] += playout["starters"]

    return count_deals


def measure(
    rules: TwoHandRules, agent: CompiledAgent, deals: int, seed_seq: np.random.SeedSequence
) -> ReferenceOutcomes:
    """Return the points of deals in which a compiled agent plays both seats."""
    family = find_family(FAMILY)
    record = family.rules_record(rules, "pegging", 2)
    record["target"] = LARGEST_TARGET
    counted, points = np.zeros(1), np.zeros(KINDS)
    ends, reached = np.zeros((MOST_PONE, MOST_DEALER)), np.zeros((MOST_PONE, MOST_DEALER))
    act = agent.acts[FAMILY]
    count = deals_entry(act, f"{act.__module__}.{act.__name__}")
    rng = generator(seed_seq)
    state, view = np.zeros(1, dtype=family.state), np.zeros(1, dtype=family.view)
    log, playout = np.zeros(LOG_SIZE, dtype=np.int64), np.zeros(1, dtype=PLAYOUT)
    with Progress(f"{rules.name}, deals of {agent.name}", deals) as progress:
        for done in range(0, deals, AT_ONCE):
            n = min(AT_ONCE, deals - done)
            count(state, record, view, NO_DECKS, log, rng, show_table(), agent.weights, n, playout,
                  counted, points, ends, reached)  # fmt: skip
            progress.advance(n)
    return ReferenceOutcomes(float(counted[0]), points / counted[0], ends, reached)


@makes(REFERENCE_DEALS)
def reference_deals(deals: Count = 4_000_000, seed: Seed = 2032) -> dict[str, Any]:
    """Measure deals of the reference policy, for AIVAT.

    Args:
        deals: deals of each game.
    """
    found = []
    for rules, seed_seq in both_games(seed):
        outcomes = measure(rules, RuleBasedAgent(), deals, seed_seq)
        found.append(outcomes)
        pone, dealer = outcomes.points.reshape(2, -1)
        won = 1 - win_table(outcomes, rules.target)[rules.target - rules.for_last, rules.target]
        print(
            f"{rules.name}: pegging, hand and crib of pone "
            f"{', '.join(f'{x:.3f}' for x in pone)}, of the dealer "
            f"{', '.join(f'{x:.3f}' for x in dealer)}; the first dealer wins "
            f"{100 * won:.2f} %"
        )
    return {
        "deals": [one.deals for one in found],
        "points": np.stack([one.points * one.deals for one in found]).astype(np.int64),
        "ends": np.stack([one.ends for one in found]).astype(np.int64),
        "reached": np.stack([one.reached for one in found]).astype(np.int64),
    }
