"""Every choice with three and four hands, by the values that `learned` gives to actions.

A value is the points that a card brings in the rest of the deal, less the mean of the other sides.
The probability of winning follows by a formula: the log of a side's odds against another is
`PER_POINT` times the points it is ahead, over the square root of the mean points that sides still
need, plus `ADDED`. Games of `rule_based` fit it (docs/agents.md).
"""

from __future__ import annotations

import numpy as np
from numba import float64, void

from crib_agents.kernels.many_hand import kept_value
from crib_agents.learned import MonteCarloAgent
from crib_agents.learned.many_hand import card_values, rules_key
from crib_agents.learned.network import offset_of_rules
from crib_agents.rule_based import default_weights
from crib_env.arrays import Array, Doubles
from crib_env.engine import stack
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.jit import entry
from crib_env.engine.many_hand import HAND, SEATS, VIEWS_T
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T
from crib_env.engine.show import show_table
from crib_env.policy import Views

PER_POINT = 0.95
ADDED = 2.0
# Columns of a card: what it makes for certain, that and the mean crib, its value, the win.
NOW, WITH_CRIB, VALUE, WIN = range(4)
COLUMNS = WIN + 1


@entry(
    void(VIEWS_T, TABLE_T, WEIGHTS_T, WEIGHTS_T, float64[:, :, ::1]),
    "analyze.many_hand.write_values",
    seconds=8,
)
def write_values(views, table, weights, nets, found):
    """Write all columns but the last, float64[B, HAND, COLUMNS], of cards that may be used.

    ``weights`` are `rule_based`'s, ``nets`` are `learned`'s. Rules without nets leave NaN.
    """
    now = stack.floats(HAND)
    values = stack.floats(HAND)
    for i in range(views.shape[0]):
        v = views[i]
        at = offset_of_rules(nets, rules_key(v))
        if at == NONE:
            continue
        card_values(v, table, nets[at:], now, values)
        for k in range(v["hand_n"]):
            if v["legal"] >> k & 1:
                found[i, k, NOW] = now[k]
                found[i, k, VALUE] = values[k]
                if v["phase"] == DISCARD:
                    found[i, k, WITH_CRIB] = kept_value(v, table, weights, v["hand"][k])


def columns(views: Views) -> Doubles:
    """Return the columns of each card held, float64[B, HAND, COLUMNS]; NaN where illegal.

    Raises:
        ValueError: rules that `learned` has no networks for.
    """
    learned = MonteCarloAgent()
    found = np.full((len(views), HAND, COLUMNS), np.nan)
    views = np.ascontiguousarray(views)
    write_values(views, show_table(), default_weights(), learned.weights, found)
    if np.isnan(found[..., VALUE]).all(axis=1).any():
        shown = {name: views[name][0].item() for name in ("players", "flush_size")}
        raise ValueError(f"{learned.name} has no networks for these rules ({shown}): "
                         "their choices have no values")  # fmt: skip
    need = views["target"] - views["scores"][:, 0]
    wins = (views["phase"] != DISCARD)[:, None] & (found[..., NOW] >= need[:, None])
    chances = chance_ahead(views, found[..., VALUE])
    found[..., WIN] = np.where(wins, 1.0, chances)
    return found


def chance_ahead(views: Views, points: Array) -> Doubles:
    """Return side 0's probability of winning the game if it makes ``points`` more than the others.

    Args:
        views: records [B].
        points: float64[B, K], less the mean of the other sides; NaN stays NaN.

    Returns:
        float64[B, K].
    """
    needs = np.maximum(views["target"][:, None] - views["scores"], 0)
    playing = np.arange(SEATS) < views["sides"][:, None]
    mean = (needs * playing).sum(axis=1) / views["sides"]
    ahead = (needs - needs[:, :1])[:, None] + points[..., None]  # of each side, by this one
    strengths = np.exp(-PER_POINT * ahead / np.sqrt(mean + ADDED)[:, None, None])
    others = (strengths * playing[:, None])[..., 1:].sum(axis=2)
    return np.asarray(1.0 / (1.0 + others))
