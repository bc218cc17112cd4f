"""Compiled self-play for three and four: choices by value and noise, and the network's inputs."""

from __future__ import annotations

from crib_agents.learned.many_hand import card_features, card_values
from crib_agents.learned.network import MOST_INPUTS, UNLIKELY
from numba import float32, float64, int64, void

from crib_env.engine import stack
from crib_env.engine.jit import entry
from crib_env.engine.many_hand import HAND, VIEWS_T
from crib_env.engine.record import NONE, TABLE_T, WEIGHTS_T


@entry(
    void(
        VIEWS_T, TABLE_T, WEIGHTS_T, float64[:, ::1], int64[::1], float64[::1], float32[:, ::1]
    ),
    "learn.many_hand",
)  # fmt: skip
def choose_cards(views, table, weights, noise, cards, certain, inputs):
    """Choose a card in each view.

    Shapes: noise float64[B, HAND]; cards int64[B]; certain float64[B]; inputs float32[B, inputs].
    """
    places = stack.ints(MOST_INPUTS)
    seen = stack.floats(MOST_INPUTS)
    now = stack.floats(HAND)
    values = stack.floats(HAND)
    for b in range(views.shape[0]):
        v = views[b]
        card_values(v, table, weights, now, values)
        best = NONE
        most = UNLIKELY
        for k in range(v["hand_n"]):
            if v["legal"] >> k & 1 and (best == NONE or values[k] + noise[b, k] > most):
                most = values[k] + noise[b, k]
                best = k
        cards[b] = v["hand"][best]
        certain[b] = now[best]
        n = card_features(v, best, now[best], places, seen)
        for i in range(inputs.shape[1]):
            inputs[b, i] = 0.0
        for i in range(n):
            inputs[b, places[i]] = seen[i]
