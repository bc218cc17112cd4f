"""KL-regularised search: the expert's value plus the log of the equilibrium's probability.

The expert's search gives each choice a value, and the equilibrium gives it a probability. `master`
takes the choice with the highest

    value + lam * log(probability)

Early in a game values are nearly equal and the probabilities decide. Near the end one point can
decide the game, values differ widely, and they decide. (Jacob et al., *Modeling Strong and
Human-Like Gameplay with KL-Regularized Search*, 2022, where the policy is people's.)
"""

from __future__ import annotations

import math

from numba import float64, int64, void

from crib_agents.data.tables import RANKS
from crib_agents.equilibrium.act import pegging_probabilities, split_cards
from crib_agents.equilibrium.classes import canonical, find_class
from crib_agents.equilibrium.packed import CLASSES, CODES, SPLITS
from crib_agents.expert.two_hand import pegging
from crib_agents.expert.two_hand.discard import (
    PAIRS,
    SCRATCH_T,
    WIN_VALUE,
    best_pair,
    fill_columns,
)
from crib_agents.expert.two_hand.pegging import WIN_VALUE as CARD_VALUE
from crib_agents.kernels.discard import card_of
from crib_agents.knowledge.two_hand.measured import MODEL_T
from crib_agents.knowledge.two_hand.pegging import POSITIONS_T
from crib_env.engine import stack
from crib_env.engine.jit import entry, kernel
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.two_hand import HAND, VIEWS_T

LEAST = 1 / 255  # the least probability: the resolution of a strategy's


@kernel
def drawn(chance, lam):
    """Return the term that a probability adds to a value."""
    return lam * math.log(max(chance, LEAST))


@kernel
def pair_probabilities(cards, n, is_dealer, strategy, probabilities):
    """Write the equilibrium probability of each pair, float64[PAIRS], by `fill_columns`."""
    order = stack.ints(HAND)
    classes = int(strategy[CLASSES])
    at = find_class(strategy, int(strategy[CODES]), classes, canonical(cards, n, order))
    packed = int(strategy[int(strategy[SPLITS]) + classes * is_dealer + at])
    for k in range(n * (n - 1) // 2):
        probabilities[k] = 0.0
    for which in range(2):
        likely = packed >> 8 if which == 0 else 255 - (packed >> 8)
        first, second = split_cards(n, packed >> (4 * which) & 15)
        low = min(order[first], order[second])
        high = max(order[first], order[second])
        probabilities[low * (2 * n - low - 1) // 2 + high - low - 1] += likely / 255.0


@entry(
    void(
        VIEWS_T, float64[:, :, ::1], MODEL_T, TABLE_T, int64, SCRATCH_T, float64[:, ::1],
        WEIGHTS_T, float64, int64[::1],
    )
)  # fmt: skip
def discard_views(views, win_table, model, table, near, scratch, columns, strategy, lam, actions):
    """Choose a card to discard for each view, all judged by one table and under the same rules.

    Args:
        win_table, model, table, near, scratch: see `fill_columns`.
        columns: float64[PAIRS, COLUMNS], no matter what is in them.
        strategy: see `equilibrium.packed`. lam: in parts of a win, or of what ``win_table``
            counts.
        actions: int64[B], written.
    """
    probabilities = stack.floats(PAIRS)
    s = scratch[0]
    for i in range(views.shape[0]):
        v = views[i]
        pairs = fill_columns(v, win_table, model[0], table, near, s, columns)
        n = v["hand_n"] + v["discarded_n"]
        pair_probabilities(s["cards"], n, 1 - v["dealer"], strategy, probabilities)
        for k in range(pairs):
            columns[k, WIN_VALUE] += drawn(probabilities[k], lam)
        actions[i] = card_of(v, best_pair(v, s, columns))


@entry(
    void(
        VIEWS_T, int64[:, ::1], float64[::1], float64[:, ::1], float64[::1], MODEL_T,
        float64[:, :, ::1], TABLE_T, POSITIONS_T, pegging.SCRATCH_T, float64[:, ::1], WEIGHTS_T,
        float64, int64[::1],
    )
)  # fmt: skip
def pegging_views(
    views, hands, weights, keeping_rates, suited, model, win_table, table, positions, scratch,
    found, strategy, lam, actions,
):  # fmt: skip
    """Choose a card to play for each view, of equal value the higher; as `discard_views`.

    Args:
        hands, weights, keeping_rates, suited, positions, scratch: see `pegging.pegging_views`.
        found: float64[RANKS, FINDINGS], no matter what is in them.
    """
    probabilities = stack.floats(HAND)
    of_rank = stack.floats(RANKS)
    for i in range(views.shape[0]):
        v = views[i]
        open_choice = pegging.only_rank(v) == NONE
        if open_choice:
            pegging.find(
                v, hands, weights, keeping_rates, suited, model[0], win_table, table, positions,
                scratch[0], found,
            )  # fmt: skip
            pegging_probabilities(v, strategy, probabilities)
            for r in range(RANKS):
                of_rank[r] = 0.0
            for k in range(v["hand_n"]):
                of_rank[v["hand"][k] >> 2] += probabilities[k]
        card = NONE
        most = 0.0
        for k in range(v["hand_n"]):
            if v["legal"] >> k & 1:
                c = v["hand"][k]
                value = 0.0
                if open_choice:
                    value = found[c >> 2, CARD_VALUE] + drawn(of_rank[c >> 2], lam)
                if card == NONE or value > most or (value == most and c > card):
                    card = c
                    most = value
        actions[i] = card
