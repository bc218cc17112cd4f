"""The learned agent's value of each card of a two-hand game, for display."""

from __future__ import annotations

from crib_agents.learned.two_hand.act import UNLIKELY, card_values, pair_win_value
from crib_env.engine import stack
from crib_env.engine.jit import kernel
from crib_env.engine.two_hand.counting import dealt_card
from crib_env.engine.two_hand.records import DISCARD, HAND


@kernel
def write_values(v, table, weights, values):
    """Write the value of each card, float64[52]; others stay as they are.

    A discard has the value of the best pair with it, see `pair_win_value`; one to play as
    `card_values` says.
    """
    if v["phase"] == DISCARD:
        n = v["hand_n"] + v["discarded_n"]
        for i in range(v["hand_n"]):
            best = UNLIKELY
            for j in range(n):
                if i == j or (v["discarded_n"] == 1 and j < n - 1):
                    continue  # the card laid is the last of `dealt_card`, and must be of the pair
                low = min(dealt_card(v, i), dealt_card(v, j))
                high = max(dealt_card(v, i), dealt_card(v, j))
                best = max(best, pair_win_value(v, table, weights, low, high))
            values[v["hand"][i]] = best
        return
    now = stack.ints(HAND)
    found = stack.floats(HAND)
    card_values(v, weights, now, found)
    value = UNLIKELY
    for i in range(v["hand_n"] - 1, -1, -1):  # of a rank the last card has the value
        if found[i] != UNLIKELY:
            value = found[i]
        if v["legal"] >> i & 1:
            values[v["hand"][i]] = value
